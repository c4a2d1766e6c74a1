package node

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
)

// checkWait bounds how long a check of a destination or of the spend cap may take.
const checkWait = 5 * time.Second

// tariff returns the number of the tariff under which a workspace opens attempts.
func (n *Node) tariff(workspaceID string) int {
	if w := n.Workspace(workspaceID); w != nil {
		return w.Tariff
	}
	return 0
}

// SettleSMS settles the reservation of an SMS message. The process that has stored the
// result of the message calls it. found says that the message was found ended: the
// answer to the commit was lost, or a delivery report was faster.
func (n *Node) SettleSMS(m *domain.Message, sent, found bool) {
	t := n.tree(m.WorkspaceID)
	if t == nil || m.Environment != domain.Live {
		return
	}
	p := trunk.SettleSMS{Message: m.ID, Found: found}
	if sent {
		p.Micros = smsCost(t.record.Load(), m.Segments)
	}
	n.sys.Root.Send(t.trunks, p)
}

// ReserveSMS reserves the cost of a message even beyond the cap: a carrier may have it.
func (n *Node) ReserveSMS(m *domain.Message) {
	if t := n.tree(m.WorkspaceID); t != nil && m.Environment == domain.Live {
		n.sys.Root.Send(t.trunks, trunk.ReserveSMS{Message: m.ID, Micros: smsCost(t.record.Load(), m.Segments)})
	}
}

// smsCost is the current price of an SMS message.
func smsCost(w *domain.Workspace, segments int) domain.Amount {
	return billing.TariffOf(w).Segment.Times(segments)
}

// ReserveWithinCap reserves the cost of a message until SettleSMS. Errors:
// destination_not_allowed, spend_cap_reached.
func (n *Node) ReserveWithinCap(ctx context.Context, w *domain.Workspace, env domain.Environment, id, to string, segments int) error {
	_, err := n.askTrunks(ctx, w.ID, trunk.Check{To: to, Environment: env, Message: id, Micros: smsCost(w, segments)})
	return err
}

// checkDestination says whether a number, as a person or a far end writes it, may be
// called by the rules of a workspace: destination_not_allowed or
// spend_cap_reached otherwise. Transfers and REFER ask it; what asks the trunks
// for a slot is asked there besides.
func (n *Node) checkDestination(ctx context.Context, p domain.Principal, to string) (e164 string, err error) {
	return n.askTrunks(ctx, p.WorkspaceID, trunk.Check{To: to, Environment: p.Environment})
}

func (n *Node) askTrunks(ctx context.Context, workspaceID string, check trunk.Check) (e164 string, err error) {
	t := n.tree(workspaceID)
	if t == nil {
		return "", n.WorkspaceNotFound()
	}
	bound, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	got, err := mailbox.Ask[trunk.Checked](bound, n.sys, t.trunks, check)
	if err != nil {
		return "", err
	}
	if got.Err != nil {
		return "", got.Err
	}
	return got.To, nil
}
