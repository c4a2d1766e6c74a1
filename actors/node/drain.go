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
	hangUpLimit   = 8 * time.Second        // that calls may take to say goodbye once they are hung up
	movablePoll   = 50 * time.Millisecond  // it is looked whether calls can go on elsewhere
	idleWaitLimit = 2 * time.Second        // a good moment of all calls is waited for, once nothing else is
	prepareLimit  = 2 * time.Second        // for calls to hold still
	handoverLimit = 5 * time.Second        // for what they were to be stored
	prepareRetry  = 500 * time.Millisecond // between two tries to have them all hold still
)

// Drain takes no new calls, lets live ones end until ctx does, and hangs up
// the rest. The API refuses what would begin something meanwhile.
func (n *Node) Drain(ctx context.Context) {
	n.RefuseWrites()
	n.drainAll(ctx)
}

func (n *Node) drainAll(ctx context.Context) {
	live := n.stopTakingCalls()
	var wait sync.WaitGroup
	for _, t := range live.trees {
		wait.Go(func() { live.drain(ctx, t) })
	}
	wait.Go(func() { n.services.Messages.FinishDeliveries(ctx) })
	wait.Wait()
}

// stopTakingCalls ends the taking of calls.
func (n *Node) stopTakingCalls() liveCalls {
	n.drain.stop()
	live := n.liveCalls()
	for _, t := range live.trees {
		n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Drain{}})
	}
	return live
}

// liveCalls are the live calls of all workspaces of a node.
type liveCalls struct {
	sys   *actor.ActorSystem
	trees []*workspaceTree
	log   *slog.Logger
}

func (n *Node) liveCalls() liveCalls {
	return liveCalls{sys: n.sys, trees: n.allTrees(), log: n.cfg.Log}
}

// drain waits until the calls of a workspace have ended, and hangs up those that live when ctx ends.
func (l liveCalls) drain(ctx context.Context, t *workspaceTree) {
	if _, err := mailbox.Ask[call.CallsDrained](ctx, l.sys, t.calls, call.DrainCalls{}); err == nil {
		return
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpLimit)
	defer cancel()
	if l.hangUp(bound, t, false) == nil {
		_, _ = mailbox.Ask[call.CallsDrained](bound, l.sys, t.calls, call.DrainCalls{}) // what is left is interrupted at the next start
	}
}

// hangUp says goodbye to the live calls, or to those of them that nobody else
// could go on with.
func (l liveCalls) hangUp(ctx context.Context, t *workspaceTree, stuck bool) error {
	live, err := mailbox.Ask[call.LiveCalls](ctx, l.sys, t.calls, call.GetLiveCalls{})
	if err != nil {
		return err
	}
	calls := 0
	for _, c := range live.Calls {
		if !stuck || !c.CanMove {
			calls++
			l.sys.Root.Send(t.calls, call.HangUp{CallID: c.CallID})
		}
	}
	if calls > 0 {
		l.log.Warn("live calls are hung up: the time to end has passed", slog.Int("calls", calls))
	}
	return nil
}

// DrainForHandover is Drain of a node whose work another one takes up: it waits only for
// what that one cannot go on with, and hangs that up when the deadline of ctx has
// come. true: calls live that are to be handed over, by HandOver. heirs says
// whether anybody is there to take them up. The API takes writes meanwhile: call
// RefuseWrites afterwards. Where ctx is cancelled the work is
// another's already, and nothing is waited for, unless context.DeadlineExceeded is
// the cause: then the deadline has come sooner.
func (n *Node) DrainForHandover(ctx context.Context, heirs func() bool) bool {
	if !n.cfg.SurviveCalls {
		n.drainAll(ctx)
		return false
	}
	live := n.stopTakingCalls()
	for _, t := range live.trees {
		n.sys.Root.Send(t.calls, call.DrainCalls{})
	}
	texts := make(chan struct{})
	go func() { n.services.Messages.FinishDeliveries(ctx); close(texts) }()
	tick := time.NewTicker(movablePoll)
	defer tick.Stop()
	var still time.Time // since when nothing else is waited for
	for {
		now, err := live.countMovable(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil || now.Movable < now.Open || now.RecordingsActive:
			still = time.Time{}
		case now.Open == 0:
			<-texts
			return false
		case !isClosed(texts): // what was seen of the calls would be old by then
			still = time.Time{}
		case heirs():
			if still.IsZero() {
				still = time.Now()
			}
			if now.Busy == 0 || time.Since(still) > idleWaitLimit {
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
		return live.hangUpRemaining(heirs())
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// CountMovableCalls is how many calls live, and how many of them another node could go on
// with.
func (n *Node) CountMovableCalls(ctx context.Context) (call.LiveCalls, error) {
	return n.liveCalls().countMovable(ctx)
}

// countMovable adds up what all workspaces say of their calls.
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

// hangUpRemaining hangs up what may not live longer: all, or what cannot go on at a heir.
func (l liveCalls) hangUpRemaining(heirs bool) bool {
	bound, cancel := context.WithTimeout(context.Background(), hangUpLimit)
	defer cancel()
	for _, t := range l.trees {
		_ = l.hangUp(bound, t, heirs)
	}
	tick := time.NewTicker(movablePoll)
	defer tick.Stop()
	for {
		now, err := l.countMovable(bound)
		if err == nil && now.Open == now.Movable && (heirs || now.Open == 0) {
			return heirs && now.Open > 0
		}
		select {
		case <-bound.Done():
			return heirs
		case <-tick.C:
		}
	}
}

// HandOverCalls lets go of the calls that live, for another node to go on with them:
// what they were is stored, and their far ends hear of no end. All calls first
// hold still, so that none waits in silence for another one: where that cannot be,
// because one was just handed on, it is tried again until ctx ends. After it there
// is nothing to do but to stop.
func (n *Node) HandOverCalls(ctx context.Context) {
	live := n.liveCalls()
	all, err := live.prepareHandover(ctx)
	for err != nil || all.Left > 0 {
		for _, t := range live.trees {
			n.sys.Root.Send(t.calls, call.CancelHandover{})
		}
		if ctx.Err() != nil { // what cannot go on elsewhere ends, and its end is stored
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
		n.cfg.Log.Info("live calls are handed over: another node goes on with them", slog.Int("calls", all.Ready))
	}
}

// prepareHandover asks all calls to, until they go on or are let go of.
func (l liveCalls) prepareHandover(ctx context.Context) (all call.HandoverPrepared, failed error) {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), prepareLimit)
	defer cancel()
	for _, t := range l.trees {
		p, err := mailbox.Ask[call.HandoverPrepared](bound, l.sys, t.calls, call.PrepareHandover{})
		all.Ready, all.Left, failed = all.Ready+p.Ready, all.Left+p.Left, errors.Join(failed, err)
	}
	return all, failed
}
