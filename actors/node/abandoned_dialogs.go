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
	// abandonedDialogLimit is how long a dialog of an earlier process keeps its permit and trunk slot if its BYE is not
	// answered. It is 64 times T1 (RFC 3261 §17.1.2.2).
	abandonedDialogLimit = 32 * time.Second
	// abandonedBatch is the maximum number of stored records that one commit deletes.
	abandonedBatch = 500
	// abandonedRetry is the pause before a failed deletion of stored records is repeated.
	abandonedRetry = 5 * time.Second
)

// newAttemptLeg returns the record of the first leg of a campaign call. The commit before the INVITE stores it.
func (n *Node) newAttemptLeg(callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg {
	return leg.FirstRow(n.cfg.SIP, callID, slot, to, from)
}

// storeAbandonedDialogs returns the calls of earlier processes whose SIP dialogs may still exist. These are the calls of
// open attempts and the calls whose dialogs the last process did not end. When the function returns, all of them are stored
// as abandoned, so the caller may close the attempts.
func (st *actorRows) storeAbandonedDialogs(ctx context.Context, ws string, attempts []*domain.Attempt) ([]*domain.AbandonedCall, error) {
	var found []*domain.AbandonedCall
	known := make(map[string]bool)
	for _, a := range attempts {
		o := domain.AbandonedCallOf(a)
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
		found = append(found, o)
	}
	var stored []*domain.AbandonedCall
	err := commit.ForEachRow(ctx, st.store, "orphan", ws, "left", func(o *domain.AbandonedCall) {
		if !known[o.CallID] {
			stored = append(stored, o)
		}
	})
	if err != nil {
		return nil, err
	}
	if st.quarantined { // the service that was backed up may still use these dialogs
		ids := make([]string, len(stored))
		for i, o := range stored {
			ids[i] = o.CallID
		}
		return nil, st.deleteAbandonedDialogs(ctx, ws, ids)
	}
	for at := 0; at < len(found); at += abandonedBatch {
		change := commit.Change{Workspace: ws}
		for _, o := range found[at:min(at+abandonedBatch, len(found))] {
			change.Puts = append(change.Puts, o)
		}
		if _, err := st.store.Apply(ctx, change); err != nil {
			return nil, err
		}
	}
	return append(stored, found...), nil
}

// deleteEndedDialogRows deletes the stored record of each abandoned call soon after its last dialog has ended. The next
// process then sends no second BYE. A failed deletion is retried until the store is available.
func (n *Node) deleteEndedDialogRows(ctx context.Context, ws string, o *abandonedDialogs) {
	var ended []string
	for live := 1; live > 0 || len(ended) > 0; {
		var retry <-chan time.Time
		if len(ended) > 0 {
			retry = time.After(abandonedRetry)
		}
		select {
		case <-o.endedSignal:
		case <-retry:
		case <-ctx.Done():
			return
		}
		var newlyEnded []string
		newlyEnded, live = o.takeEnded()
		ended = append(ended, newlyEnded...)
		if err := n.rows.deleteAbandonedDialogs(ctx, ws, ended); err != nil {
			n.cfg.Log.Warn("the rows of ended calls cannot be deleted: trying again", slog.Any("error", err))
			continue
		}
		ended = nil
	}
}

// deleteAbandonedDialogs deletes the stored records of abandoned calls. Repeating the deletion does no harm.
func (st *actorRows) deleteAbandonedDialogs(ctx context.Context, ws string, calls []string) error {
	for batch := range slices.Chunk(calls, abandonedBatch) {
		change := commit.Change{Workspace: ws}
		for _, id := range batch {
			change.Deletes = append(change.Deletes, (&domain.AbandonedCall{WorkspaceID: ws, CallID: id}).Key())
		}
		if _, err := st.store.Apply(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// abandonedDialogs holds the calls that may still ring or talk because an earlier process did not end them. Until such a call
// has ended, no other call to its number starts. The numbers actor and the campaign actors read abandonedDialogs when they
// start or restart.
type abandonedDialogs struct {
	mu          sync.Mutex
	live        map[string]*abandonedCall // by call id
	ended       []string                  // ids of ended calls whose rows are not deleted yet
	endedSignal chan struct{}             // has an entry after at least one call has ended
}

// abandonedCall is a call of an earlier process. legs counts its SIP dialogs that have not ended.
type abandonedCall struct {
	numbers.LiveCall
	campaign string
	legs     int
}

// set replaces all abandoned calls. until is the time at which every call counts as ended if no BYE was answered by then.
func (o *abandonedDialogs) set(all []*domain.AbandonedCall, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live, o.endedSignal = make(map[string]*abandonedCall, len(all)), make(chan struct{}, 1)
	for _, a := range all {
		o.live[a.CallID] = &abandonedCall{
			numbers.LiveCall{CallID: a.CallID, Number: a.Number, Environment: a.Environment, Until: until}, a.CampaignID, len(a.Legs),
		}
	}
}

// liveNumbers returns the abandoned calls that have not ended, with their phone numbers.
func (o *abandonedDialogs) liveNumbers() []numbers.LiveCall {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]numbers.LiveCall, 0, len(o.live))
	for _, h := range o.live {
		out = append(out, h.LiveCall)
	}
	return out
}

// campaignCalls returns the abandoned calls of a campaign that have not ended, by call ID. Each value is the time at which
// the call counts as ended.
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

// endLeg records the end of one leg of an abandoned call. last is true if no leg of the call remains.
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

// takeEnded returns the abandoned calls that ended since the last takeEnded, and the number of those that have not ended.
func (o *abandonedDialogs) takeEnded() (ended []string, live int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ended, o.ended = o.ended, nil
	return ended, len(o.live)
}

// endAbandonedDialogs sends a BYE in each dialog that earlier processes left open. Until a dialog has ended, its call keeps
// its permit, its trunk slot and its number.
func (n *Node) endAbandonedDialogs(t *workspaceTree, all []*domain.AbandonedCall) {
	for _, o := range all {
		linesPID := t.outboundLines(o.Environment)
		if o.Direction == domain.Inbound {
			linesPID = t.inbound
		}
		for _, leg := range o.Legs {
			state := sip.DialogState{CallID: leg.SIPCallID, Inbound: o.Direction == domain.Inbound}
			if len(leg.Dialog) > 0 {
				state.Inbound = false // the stored dialog has its own direction; the leg of a transfer is outbound
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
					return // another leg still holds the permit
				}
				n.sys.Root.Send(t.numbers, numbers.CallEnded{CallID: o.CallID})
				n.sys.Root.Send(linesPID, lines.ReleaseCall{CallID: o.CallID})
				n.sys.Root.Send(t.trunks, trunk.ReleaseCall{CallID: o.CallID})
				if pid := n.CampaignPID(o.WorkspaceID, o.CampaignID); o.CampaignID != "" && pid != nil {
					n.sys.Root.Send(pid, campaign.DialogEnded{CallID: o.CallID})
				}
			})
		}
	}
}
