package bulk

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Bulk returns one job. Errors: not_found.
func (s *Service) Bulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error) {
	b, _, err := record.Get[domain.Bulk](ctx, s.store, p, domain.PrefixBulk, id)
	if err == nil {
		err = s.readErrors(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	return s.withWaiting(b), nil
}

// ListBulks returns a page of jobs.
func (s *Service) ListBulks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Bulk], error) {
	l, err := record.List[domain.Bulk](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixBulk, q, nil)
	for _, b := range l.Data {
		if err == nil {
			err = s.readErrors(ctx, b)
		}
		s.withWaiting(b)
	}
	return l, err
}

// readErrors sets b.Errors to the stored errors of the job's items.
func (s *Service) readErrors(ctx context.Context, b *domain.Bulk) error {
	row := &domain.BulkErrors{BulkID: b.ID, WorkspaceID: b.WorkspaceID}
	if b.Rejected+b.Failed > 0 {
		_, err := s.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return commit.StoreError(err)
		}
	}
	if len(row.Errors) > 0 {
		b.Errors = row.Errors
	}
	if b.Errors == nil {
		b.Errors = []domain.BulkError{}
	}
	return nil
}

// withWaiting returns the job, for a running job with the reason for which it waits now.
func (s *Service) withWaiting(b *domain.Bulk) *domain.Bulk {
	if state := s.waitStateOf(b.ID); state != nil && !b.Final() {
		b.Waiting, b.WaitingUntil = state.current()
	}
	return b
}
