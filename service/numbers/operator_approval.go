package numbers

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// initialStatus returns the status of a new number. If several workspaces share the installation, the status is pending
// until an operator approves the number. Numbers of operators and of the test environment, which reaches no carrier, are
// live at once.
func (s *Service) initialStatus(p domain.Principal) domain.NumberStatus {
	if p.Operator || p.Environment == domain.Test || !s.node.HasSeveralWorkspaces() {
		return domain.NumberLive
	}
	return domain.NumberPending
}

// ListNumbersByStatus returns a page of the numbers in the live environment of a workspace that have this status. If
// status is empty, it returns numbers of every status.
func (s *Service) ListNumbersByStatus(ctx context.Context, workspaceID string, status domain.NumberStatus, q record.PageQuery) (record.Page[*domain.PhoneNumber], error) {
	return record.List(ctx, s.store, workspaceID, record.EnvironmentIndex(domain.Principal{Environment: domain.Live}), domain.PrefixNumber, q, func(n *domain.PhoneNumber) bool {
		return status == "" || n.Status == status
	})
}

// ApproveNumber sets the status of a pending number of any workspace to live. It does not change a live number.
func (s *Service) ApproveNumber(ctx context.Context, workspaceID, id string) (*domain.PhoneNumber, error) {
	p := domain.Principal{WorkspaceID: workspaceID, Environment: domain.Live}
	n, err := record.Update(ctx, s.store, p, domain.PrefixNumber, id, nil, func(_ *commit.Change, n *domain.PhoneNumber) error {
		if n.Status == domain.NumberLive {
			return record.ErrUnchanged
		}
		n.Status = domain.NumberLive
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("number approved", slog.String("workspace_id", workspaceID), slog.String("number_id", n.ID))
	return n, s.node.ReloadTrunks(ctx, workspaceID)
}
