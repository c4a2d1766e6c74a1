package location

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// ReadWorkspaceClaim reads which workspace owns a phone (kind 'p') or a phone number (any other kind). It returns "" if
// none does or if the number waits for an operator's approval.
func ReadWorkspaceClaim(ctx context.Context, store interface {
	Get(ctx context.Context, into domain.Record) (uint64, error)
}, kind byte, of string,
) (workspace string, err error) {
	if kind == 'p' {
		claim := &domain.UsernameClaim{Username: of}
		_, err = store.Get(ctx, claim)
		workspace = claim.WorkspaceID
	} else {
		claim := &domain.NumberClaim{Number: of}
		if _, err = store.Get(ctx, claim); err == nil {
			workspace = claim.WorkspaceID
			number := &domain.PhoneNumber{Meta: domain.Meta{ID: claim.NumberID, WorkspaceID: workspace}}
			if _, err = store.Get(ctx, number); err == nil && number.Status != domain.NumberLive {
				workspace = ""
			}
		}
	}
	if errors.Is(err, domain.ErrNotFound) || errors.Is(err, persistence.ErrMalformed) {
		return "", nil
	}
	return workspace, err
}
