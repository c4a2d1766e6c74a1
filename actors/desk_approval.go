package actors

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// numberStands is the state of a number that somebody creates: where several
// workspaces share the install, whoever is no operator may claim a number and
// waits for an operator to say that it is theirs. The test environment reaches
// no carrier.
func (d *Desk) numberStands(p domain.Principal) domain.NumberStatus {
	if p.Operator || p.Environment == domain.Test || !d.node.several() {
		return domain.NumberLive
	}
	return domain.NumberPending
}

// several says whether the install has more than one workspace.
func (n *Node) several() bool {
	if _, known := n.others(); !known { // there may be
		return true
	}
	living := 0
	return n.AnyWorkspace(func(*domain.Workspace) bool {
		living++
		return living > 1
	})
}

// NumbersOf reads a page of the live numbers of any workspace, in a state; "":
// in any.
func (d *Desk) NumbersOf(ctx context.Context, workspaceID string, status domain.NumberStatus, q ask.Page) (ask.List[*domain.PhoneNumber], error) {
	return record.List(ctx, d.store, workspaceID, record.EnvironmentIndex(domain.Principal{Environment: domain.Live}), domain.PrefixNumber, q, func(n *domain.PhoneNumber) bool {
		return status == "" || n.Status == status
	})
}

// ApproveNumber lets a number of any workspace go live; one that is live stays
// as it is.
func (d *Desk) ApproveNumber(ctx context.Context, workspaceID, id string) (*domain.PhoneNumber, error) {
	p := domain.Principal{WorkspaceID: workspaceID, Environment: domain.Live}
	n, err := record.Update(ctx, d.store, p, domain.PrefixNumber, id, nil, func(_ *commit.Change, n *domain.PhoneNumber) error {
		if n.Status == domain.NumberLive {
			return record.ErrUnchanged
		}
		n.Status = domain.NumberLive
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.log.Info("number approved", slog.String("workspace_id", workspaceID), slog.String("number_id", n.ID))
	return n, d.node.ReloadTrunks(ctx, workspaceID)
}
