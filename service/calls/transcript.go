package calls

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Call returns one call. Errors: not_found.
func (s *Service) Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error) {
	c, _, err := record.Get[domain.Call](ctx, s.store, p, domain.PrefixCall, id)
	return c, err
}

// Transcript returns the transcript of a call. Errors: not_found; processing while the transcript is not stored
// yet.
func (s *Service) Transcript(ctx context.Context, p domain.Principal, callID string) (*domain.Transcript, error) {
	c, err := s.Call(ctx, p, callID)
	if err != nil {
		return nil, err
	}
	if !c.TranscriptAvailable {
		return nil, record.NotAvailableError(c, "transcript")
	}
	t := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := s.store.Get(ctx, t); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, domain.NotFound("transcript")
		}
		return nil, commit.StoreError(err)
	}
	return t, nil
}
