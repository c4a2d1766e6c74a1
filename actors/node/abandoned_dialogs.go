package node

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/sip"
)

const (
	// abandonedDialogLimit is how long a dialog of an ended process keeps its permit and trunk slot if its BYE is not answered
	// (64 times T1).
	abandonedDialogLimit = 32 * time.Second
	// abandonedBatch is how many rows one commit holds.
	abandonedBatch = 500
	// abandonedRetry is the pause after a failed deletion of rows.
	abandonedRetry = 5 * time.Second
)

// newAttemptLeg is a campaign's call as its opening keeps it.
func (n *Node) newAttemptLeg(callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg {
	return leg.FirstRow(n.cfg.SIP, callID, slot, to, from)
}

// storeAbandonedDialogs returns the calls of earlier processes whose dialogs may still exist: those of attempts that the last process
// left open, and those whose dialogs it had not ended. All of them are stored when it returns, so the attempts can be closed.
func (st *actorRows) storeAbandonedDialogs(ctx context.Context, ws string, attempts []*domain.Attempt) ([]*domain.Orphan, error) {
	var fresh []*domain.Orphan
	known := make(map[string]bool)
	for _, a := range attempts {
		o := domain.OrphanOf(a)
		if o == nil {
			continue
		}
		c := &domain.Call{Meta: domain.Meta{ID: a.CallID, WorkspaceID: a.WorkspaceID}}
		if _, err := st.store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, err
		}
		o.Number = c.To
		if c.Direction == domain.Inbound {
			o.Number = c.From
		}
		known[o.CallID] = true
		fresh = append(fresh, o)
	}
	var left []*domain.Orphan
	err := commit.Each(ctx, st.store, "orphan", ws, "left", func(o *domain.Orphan) {
		if !known[o.CallID] {
			left = append(left, o)
		}
	})
	if err != nil {
		return nil, err
	}
	if st.quarantined { // the dialogs may be live ones of the service that was backed up
		ids := make([]string, len(left))
		for i, o := range left {
			ids[i] = o.CallID
		}
		return nil, st.deleteAbandonedDialogs(ctx, ws, ids)
	}
	for at := 0; at < len(fresh); at += abandonedBatch {
		change := commit.Change{Workspace: ws}
		for _, o := range fresh[at:min(at+abandonedBatch, len(fresh))] {
			change.Puts = append(change.Puts, o)
		}
		if _, err := st.store.Apply(ctx, change); err != nil {
			return nil, err
		}
	}
	return append(left, fresh...), nil
}

// deleteEndedDialogRows removes the row of each call soon after the last of its dialogs
// is over, whatever is with the others: who has no dialog any more need not
// answer the BYE of the next process. What a full or absent store keeps is removed
// once it is well again.
func (n *Node) deleteEndedDialogRows(ctx context.Context, ws string, o *abandonedDialogs) {
	var over []string
	for left := 1; left > 0 || len(over) > 0; {
		var again <-chan time.Time
		if len(over) > 0 {
			again = time.After(abandonedRetry)
		}
		select {
		case <-o.endedSignal:
		case <-again:
		case <-ctx.Done():
			return
		}
		var more []string
		more, left = o.takeEnded()
		over = append(over, more...)
		if err := n.rows.deleteAbandonedDialogs(ctx, ws, over); err != nil {
			n.cfg.Log.Warn("rows of interrupted calls that are over stay behind", slog.Any("error", err))
			continue
		}
		over = nil
	}
}

// deleteAbandonedDialogs deletes the rows of abandoned dialogs. It may be repeated.
func (st *actorRows) deleteAbandonedDialogs(ctx context.Context, ws string, calls []string) error {
	for some := range slices.Chunk(calls, abandonedBatch) {
		change := commit.Change{Workspace: ws}
		for _, id := range some {
			change.Deletes = append(change.Deletes, (&domain.Orphan{WorkspaceID: ws, CallID: id}).Key())
		}
		if _, err := st.store.Apply(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// abandonedDialogs are the numbers that may ring or talk yet because of an earlier
// process: nobody else may be on the line with them. An owner of the numbers
// that is restarted finds them here, as does a campaign.
type abandonedDialogs struct {
	mu          sync.Mutex
	live        map[string]*abandonedCall // by call
	ended       []string                  // calls whose rows are there yet
	endedSignal chan struct{}             // one is over, and maybe more
}

type abandonedCall struct {
	numbers.Live
	campaign string
	legs     int
}

func (o *abandonedDialogs) set(all []*domain.Orphan, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live, o.endedSignal = make(map[string]*abandonedCall, len(all)), make(chan struct{}, 1)
	for _, a := range all {
		o.live[a.CallID] = &abandonedCall{
			numbers.Live{CallID: a.CallID, Number: a.Number, Environment: a.Environment, Until: until}, a.CampaignID, len(a.Legs),
		}
	}
}

// liveNumbers are those that are left.
func (o *abandonedDialogs) liveNumbers() []numbers.Live {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]numbers.Live, 0, len(o.live))
	for _, h := range o.live {
		out = append(out, h.Live)
	}
	return out
}

// campaignCalls are the calls of a campaign that are left, and until when.
func (o *abandonedDialogs) campaignCalls(campaignID string) map[string]time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make(map[string]time.Time)
	for id, h := range o.live {
		if h.campaign == campaignID {
			out[id] = h.Until
		}
	}
	return out
}

// gone: a leg has ended. last says that its call has none any more.
func (o *abandonedDialogs) endLeg(callID string) (last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.live[callID]
	if h == nil {
		return true
	}
	if h.legs--; h.legs > 0 {
		return false
	}
	delete(o.live, callID)
	o.ended = append(o.ended, callID)
	select {
	case o.endedSignal <- struct{}{}:
	default:
	}
	return true
}

// takeEnded are the calls that are over since it was asked last, and how many
// are not.
func (o *abandonedDialogs) takeEnded() (over []string, left int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	over, o.ended = o.ended, nil
	return over, len(o.live)
}

// endAbandonedDialogs ends the dialogs of earlier processes; until that is done they
// keep their lines, channels and numbers.
func (n *Node) endAbandonedDialogs(t *workspaceTree, all []*domain.Orphan) {
	for _, o := range all {
		linesPID := t.outboundLines(o.Environment)
		if o.Direction == domain.Inbound {
			linesPID = t.inbound
		}
		for _, leg := range o.Legs {
			state := sip.DialogState{CallID: leg.SIPCallID, Inbound: o.Direction == domain.Inbound}
			if len(leg.Dialog) > 0 {
				state.Inbound = false // it says so itself; a transfer leg is one of ours
				if err := domain.ReadRow(leg.Dialog, &state); err != nil {
					n.cfg.Log.Warn("the dialog of an interrupted call cannot be read", slog.String("call_id", o.CallID), slog.Any("error", err))
				}
			}
			state.Environment = o.Environment
			until := time.Now().Add(abandonedDialogLimit)
			n.sys.Root.Send(linesPID, lines.HoldPermit{CallID: o.CallID, Until: until})
			n.sys.Root.Send(t.trunks, trunk.HoldChannel{CallID: o.CallID, TrunkID: leg.TrunkID, Until: until})
			n.cfg.SIP.EndAbandoned(state, func(bool) {
				if !t.dialogs.endLeg(o.CallID) {
					return // the line is taken by another leg yet
				}
				n.sys.Root.Send(t.numbers, numbers.Over{CallID: o.CallID})
				n.sys.Root.Send(linesPID, lines.ReleaseCall{CallID: o.CallID})
				n.sys.Root.Send(t.trunks, trunk.ReleaseCall{CallID: o.CallID})
				if pid := n.CampaignPID(o.WorkspaceID, o.CampaignID); o.CampaignID != "" && pid != nil {
					n.sys.Root.Send(pid, campaign.DialogEnded{CallID: o.CallID})
				}
			})
		}
	}
}
