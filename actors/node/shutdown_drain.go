package node

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/workspace"
)

const (
	hangUpLimit   = 8 * time.Second        // time for calls to end after the node hangs them up
	movablePoll   = 50 * time.Millisecond  // interval at which the node checks whether calls can be handed over
	idleWaitLimit = 2 * time.Second        // how long a handover waits for a moment at which no call is busy
	prepareLimit  = 2 * time.Second        // time for all calls to pause
	handoverLimit = 5 * time.Second        // time for all calls to store their state
	prepareRetry  = 500 * time.Millisecond // interval between two attempts to pause all calls
)

// Drain accepts no new calls, waits for live calls until ctx ends, and hangs up the calls that remain. Meanwhile the
// API refuses writes.
func (n *Node) Drain(ctx context.Context) {
	n.RefuseWrites()
	n.drainAll(ctx)
}

// drainAll ends the calls of all workspaces as Drain does, and waits until no outbound SMS message is being sent.
func (n *Node) drainAll(ctx context.Context) {
	live := n.stopTakingCalls()
	var wait sync.WaitGroup
	for _, t := range live.trees {
		wait.Go(func() { live.drain(ctx, t) })
	}
	wait.Go(func() { n.services.Messages.FinishDeliveries(ctx) })
	wait.Wait()
}

// stopTakingCalls refuses new calls and makes the campaigns stop dialling. It returns the live calls.
func (n *Node) stopTakingCalls() liveCalls {
	n.drain.stop()
	live := n.liveCalls()
	for _, t := range live.trees {
		n.sys.Root.Send(t.campaigns, workspace.Broadcast{Message: campaign.Drain{}})
	}
	return live
}

// liveCalls gives access to the live calls of all workspaces of a node.
type liveCalls struct {
	sys   *actor.ActorSystem
	trees []*workspaceTree
	log   *slog.Logger
}

// liveCalls returns a liveCalls for the workspaces that currently run on this node.
func (n *Node) liveCalls() liveCalls {
	return liveCalls{sys: n.sys, trees: n.allTrees(), log: n.cfg.Log}
}

// drain waits until the calls of a workspace have ended, and hangs up those that are live when ctx ends.
func (l liveCalls) drain(ctx context.Context, t *workspaceTree) {
	if _, err := mailbox.Ask[call.CallsDrained](ctx, l.sys, t.calls, call.DrainCalls{}); err == nil {
		return
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpLimit)
	defer cancel()
	if l.hangUp(bound, t, false) == nil {
		_, _ = mailbox.Ask[call.CallsDrained](bound, l.sys, t.calls, call.DrainCalls{}) // the next start ends the remaining calls as interrupted
	}
}

// hangUp hangs up the live calls of a workspace. With onlyUnmovable it hangs up only those that no other node can resume.
func (l liveCalls) hangUp(ctx context.Context, t *workspaceTree, onlyUnmovable bool) error {
	live, err := mailbox.Ask[call.LiveCalls](ctx, l.sys, t.calls, call.GetLiveCalls{})
	if err != nil {
		return err
	}
	count := 0
	for _, c := range live.Calls {
		if !onlyUnmovable || !c.CanMove {
			count++
			l.sys.Root.Send(t.calls, call.HangUp{CallID: c.CallID})
		}
	}
	if count > 0 {
		l.log.Warn("the drain limit has passed: live calls are hung up", slog.Int("calls", count))
	}
	return nil
}

// DrainForHandover prepares the shutdown of a node whose shard another node takes over. It accepts no new calls,
// waits for calls that cannot be handed over, and hangs them up at the deadline of ctx. hasSuccessor reports whether
// a node is available that resumes calls. DrainForHandover returns true if the caller must hand over the remaining
// live calls with HandOverCalls. The API accepts writes meanwhile, so the caller calls RefuseWrites afterwards.
//
// A cancelled ctx means that another node already owns the shard: DrainForHandover returns at once. With the cause
// context.DeadlineExceeded a cancelled ctx counts as an early deadline.
func (n *Node) DrainForHandover(ctx context.Context, hasSuccessor func() bool) bool {
	if !n.cfg.SurviveCalls {
		n.drainAll(ctx)
		return false
	}
	live := n.stopTakingCalls()
	for _, t := range live.trees {
		n.sys.Root.Send(t.calls, call.DrainCalls{})
	}
	messagesDone := make(chan struct{})
	go func() { n.services.Messages.FinishDeliveries(ctx); close(messagesDone) }()
	tick := time.NewTicker(movablePoll)
	defer tick.Stop()
	var idleSince time.Time // since then the handover only waits until no call is busy
	for {
		now, err := live.countMovable(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil || now.Movable < now.Open || now.RecordingsActive:
			idleSince = time.Time{}
		case now.Open == 0:
			<-messagesDone
			return false
		case !isClosed(messagesDone): // countMovable read the calls before the messages were done, so its result may be outdated
			idleSince = time.Time{}
		case hasSuccessor():
			if idleSince.IsZero() {
				idleSince = time.Now()
			}
			if now.Busy == 0 || time.Since(idleSince) > idleWaitLimit {
				return true
			}
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		if errors.Is(context.Cause(ctx), context.Canceled) {
			return false
		}
		return live.hangUpRemaining(hasSuccessor())
	}
}

// isClosed reports whether a channel is closed.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// CountMovableCalls returns how many calls are live and how many of them another node could resume.
func (n *Node) CountMovableCalls(ctx context.Context) (call.LiveCalls, error) {
	return n.liveCalls().countMovable(ctx)
}

// countMovable adds up the counts of live and movable calls of all workspaces.
func (l liveCalls) countMovable(ctx context.Context) (sum call.LiveCalls, err error) {
	bound, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	for _, t := range l.trees {
		now, err := mailbox.Ask[call.LiveCalls](bound, l.sys, t.calls, call.GetLiveCalls{})
		if err != nil {
			return sum, err
		}
		sum.Open, sum.Movable, sum.Busy, sum.RecordingsActive = sum.Open+now.Open, sum.Movable+now.Movable, sum.Busy+now.Busy, sum.RecordingsActive || now.RecordingsActive
	}
	return sum, nil
}

// hangUpRemaining hangs up all live calls. With hasSuccessor it hangs up only those that no other node can resume. It
// reports whether calls remain that must be handed over.
func (l liveCalls) hangUpRemaining(hasSuccessor bool) bool {
	bound, cancel := context.WithTimeout(context.Background(), hangUpLimit)
	defer cancel()
	for _, t := range l.trees {
		_ = l.hangUp(bound, t, hasSuccessor)
	}
	tick := time.NewTicker(movablePoll)
	defer tick.Stop()
	for {
		now, err := l.countMovable(bound)
		if err == nil && now.Open == now.Movable && (hasSuccessor || now.Open == 0) {
			return hasSuccessor && now.Open > 0
		}
		select {
		case <-bound.Done():
			return hasSuccessor
		case <-tick.C:
		}
	}
}

// HandOverCalls stores the state of the live calls and releases them without a BYE, so that another node resumes
// them. It first pauses all calls, so that their silent time is short. If a call cannot pause, it tries again until
// ctx ends. Afterwards the caller can only stop the node.
func (n *Node) HandOverCalls(ctx context.Context) {
	live := n.liveCalls()
	all, err := live.prepareHandover(ctx)
	for err != nil || all.Left > 0 {
		for _, t := range live.trees {
			n.sys.Root.Send(t.calls, call.CancelHandover{})
		}
		if ctx.Err() != nil { // calls that no other node can resume end, and their end is stored
			live.hangUpRemaining(true)
			all, _ = live.prepareHandover(ctx)
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(prepareRetry):
		}
		all, err = live.prepareHandover(ctx)
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), handoverLimit)
	defer cancel()
	var wait sync.WaitGroup
	for _, t := range live.trees {
		wait.Go(func() { _, _ = mailbox.Ask[call.HandedOver](bound, n.sys, t.calls, call.HandOver{}) })
	}
	wait.Wait()
	if all.Ready > 0 {
		n.cfg.Log.Info("live calls are handed over to another node", slog.Int("calls", all.Ready))
	}
}

// prepareHandover pauses all calls. They stay paused until the handover is cancelled or the calls are handed over.
func (l liveCalls) prepareHandover(ctx context.Context) (all call.HandoverPrepared, failed error) {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), prepareLimit)
	defer cancel()
	for _, t := range l.trees {
		p, err := mailbox.Ask[call.HandoverPrepared](bound, l.sys, t.calls, call.PrepareHandover{})
		all.Ready, all.Left, failed = all.Ready+p.Ready, all.Left+p.Left, errors.Join(failed, err)
	}
	return all, failed
}
