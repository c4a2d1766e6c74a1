package bulk

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// CancelBulk cancels a job. Results so far stay, and no item starts after CancelBulk has returned. Errors:
// not_found, invalid_state.
func (s *Service) CancelBulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error) {
	b, err := s.Bulk(ctx, p, id)
	if err != nil {
		return nil, err
	}
	name := b.WorkspaceID + "/" + b.ID
	if b.Type == domain.BulkDNC { // DNC numbers are committed separately from the job's row, so a cancellation does not stop them
		s.cfg.Jobs.StopAndWait(name)
	}
	c, err := s.cancel(ctx, p, b.ID)
	if err != nil {
		s.RunBulk(b)
		return nil, err
	}
	s.cfg.Jobs.Stop(name)
	return c, s.readErrors(ctx, c)
}

func (s *Service) cancel(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error) {
	return record.Update(ctx, s.store, p, domain.PrefixBulk, id, func(b *domain.Bulk) error {
		switch b.Status {
		case domain.BulkCompleted:
			return domain.Errorf(domain.CodeInvalidState, "the job has ended").With("current_status", b.Status).
				With("allowed_from", []domain.BulkStatus{domain.BulkQueued, domain.BulkRunning})
		case domain.BulkQueued, domain.BulkRunning:
			b.Cancel(record.Now())
		case domain.BulkCancelled:
		}
		return nil
	}, func(c *commit.Change, b *domain.Bulk) error {
		blank, err := record.BlankBulkChunks(ctx, s.store, b)
		c.Puts = append(c.Puts, blank...)
		return commit.StoreError(err)
	})
}
