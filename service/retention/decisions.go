package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// sweepDecisions deletes expired rows from the beginning of each decision log. A DecisionLogStart row stores the
// new beginning, so that the log can still be verified.
func (s *Service) sweepDecisions(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil || w.Retention.DecisionDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.DecisionDays)
	campaigns, err := s.campaignIDs(ctx, workspaceID)
	if err != nil {
		return err
	}
	for _, id := range campaigns {
		for more := true; more && ctx.Err() == nil; {
			if more, err = s.trimDecisions(ctx, workspaceID, id, before); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) campaignIDs(ctx context.Context, workspaceID string) (ids []string, err error) {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		err = errors.Join(err, commit.ForEachRow(ctx, s.store, "campaign", workspaceID, "env="+string(env), func(c *domain.Campaign) { ids = append(ids, c.ID) }))
	}
	return ids, err
}

// trimDecisions deletes one batch of expired rows of a decision log. more reports that further expired rows may
// follow.
func (s *Service) trimDecisions(ctx context.Context, workspaceID, campaignID string, before time.Time) (more bool, err error) {
	start := &domain.DecisionLogStart{WorkspaceID: workspaceID, CampaignID: campaignID}
	if _, err = s.store.Get(ctx, start); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return false, err
	}
	change := commit.Change{Workspace: workspaceID}
	prefix := domain.Key{Kind: "decision", Workspace: workspaceID, ID: campaignID + "/"}
	err = s.store.Under(ctx, prefix, "", domain.DecisionRowsPerRead, func() domain.Record { return &domain.DecisionPage{} }, func(r domain.Record) error {
		page, ok := r.(*domain.DecisionPage)
		if n := len(page.Decisions); !ok || n == 0 || !page.Decisions[n-1].At.Before(before) {
			return errRetained
		}
		start.Seq, start.Hash = page.Seq, page.Hash
		change.Deletes = append(change.Deletes, page.Key())
		return nil
	})
	if err != nil && !errors.Is(err, errRetained) {
		return false, err
	}
	if len(change.Deletes) == 0 {
		return false, nil
	}
	start.Sign(s.decisionKey(workspaceID))
	change.Puts = append(change.Puts, start)
	_, err = s.store.Apply(ctx, change)
	return len(change.Deletes) == domain.DecisionRowsPerRead, err
}
