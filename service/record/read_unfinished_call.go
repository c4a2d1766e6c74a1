package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// LiveCall reads a call that has not ended. Errors: not_found, invalid_state.
func LiveCall(ctx context.Context, store commit.Store, p domain.Principal, id string) (*domain.Call, error) {
	c, _, err := Get[domain.Call](ctx, store, p, domain.PrefixCall, id)
	if err == nil && c.Final() {
		err = domain.Errorf(domain.CodeInvalidState, "the call is over").With("current_status", c.Status)
	}
	return c, err
}

// NotAvailableError returns the error for a transcript or recording that a call does not have. object is "transcript" or
// "recording". The error is processing if the call may still get one, otherwise not_found.
func NotAvailableError(c *domain.Call, object string) error {
	if !c.Final() || c.Processing {
		return domain.Errorf(domain.CodeProcessing, "the %s is not ready yet", object)
	}
	return domain.Errorf(domain.CodeNotFound, "this call has no %s", object)
}
