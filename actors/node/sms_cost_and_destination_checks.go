package node

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
)

// Time limits of requests to the trunk actor of a workspace.
const (
	checkWait  = 5 * time.Second // check of a destination or of the spend cap
	flushLimit = 2 * time.Second // storing the trunk health when the node stops
)

// workspaceTrunks sends requests to the trunk actors of workspaces. A trunk actor also enforces the spend cap.
type workspaceTrunks struct {
	workspaces *workspaceTable
	sys        *actor.ActorSystem
}

// SettleSMS settles the reserved cost of an SMS message after its result is stored. found means that the result was
// already stored, because the reply to an earlier commit was lost or a delivery report came first.
func (w *workspaceTrunks) SettleSMS(m *domain.Message, sent, found bool) {
	t := w.workspaces.tree(m.WorkspaceID)
	if t == nil || m.Environment != domain.Live {
		return
	}
	p := trunk.SettleSMS{Message: m.ID, AlreadyStored: found}
	if sent {
		p.Micros = smsCost(t.record.Load(), m.Segments)
	}
	w.sys.Root.Send(t.trunks, p)
}

// ReserveSMS reserves the cost of an SMS message, even beyond the spend cap, because the carrier may already have
// the message.
func (w *workspaceTrunks) ReserveSMS(m *domain.Message) {
	if t := w.workspaces.tree(m.WorkspaceID); t != nil && m.Environment == domain.Live {
		w.sys.Root.Send(t.trunks, trunk.ReserveSMS{Message: m.ID, Micros: smsCost(t.record.Load(), m.Segments)})
	}
}

// smsCost returns the current price of an SMS message with the given number of segments.
func smsCost(w *domain.Workspace, segments int) domain.Amount {
	return billing.CurrentTariff(w).Segment.Times(segments)
}

// ReserveWithinCap reserves the cost of an SMS message. The reservation lasts until SettleSMS. Errors:
// destination_not_allowed, spend_cap_reached.
func (w *workspaceTrunks) ReserveWithinCap(ctx context.Context, ws *domain.Workspace, env domain.Environment, id, to string, segments int) error {
	_, err := w.check(ctx, ws.ID, trunk.CheckDestination{To: to, Environment: env, Message: id, Micros: smsCost(ws, segments)})
	return err
}

// checkDestination checks that a workspace may call to and returns the number in E.164. It serves transfers and REFER.
// A new call needs no such check, because its request for a trunk slot includes the check. Errors:
// destination_not_allowed, spend_cap_reached.
func (w *workspaceTrunks) checkDestination(ctx context.Context, p domain.Principal, to string) (e164 string, err error) {
	return w.check(ctx, p.WorkspaceID, trunk.CheckDestination{To: to, Environment: p.Environment})
}

// check sends a destination check to the trunk actor of a workspace and returns the number in E.164.
func (w *workspaceTrunks) check(ctx context.Context, workspaceID string, check trunk.CheckDestination) (e164 string, err error) {
	t := w.workspaces.tree(workspaceID)
	if t == nil {
		return "", w.workspaces.WorkspaceNotFound()
	}
	bound, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	got, err := mailbox.Ask[trunk.DestinationChecked](bound, w.sys, t.trunks, check)
	if err != nil {
		return "", err
	}
	if got.Err != nil {
		return "", got.Err
	}
	return got.To, nil
}

// TrunkHealth returns the health of a workspace's trunks, and statistics about the quality of their calls.
func (w *workspaceTrunks) TrunkHealth(ctx context.Context, workspaceID string) (trunk.Health, error) {
	t, err := w.workspaces.workspaceActors(workspaceID)
	if err != nil {
		return trunk.Health{}, err
	}
	return mailbox.Ask[trunk.Health](ctx, w.sys, t.trunks, trunk.GetHealth{})
}

// flush makes the trunk actor of a workspace store changed trunk health at once, and waits for it.
func (w *workspaceTrunks) flush(t *workspaceTree) error {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	_, err := mailbox.Ask[trunk.StatesFlushed](ctx, w.sys, t.trunks, trunk.FlushStates{})
	return err
}
