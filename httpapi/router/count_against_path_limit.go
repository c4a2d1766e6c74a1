package router

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
)

// withPathLimit wraps the handler of a route so that requests count against the rate limit of its path, if it has one.
// Requests that the handler refuses with 4xx do not count.
func withPathLimit[I, O any](handle func(context.Context, domain.Principal, *I) (*O, error)) func(context.Context, domain.Principal, *I) (*O, error) {
	return func(ctx context.Context, p domain.Principal, in *I) (*O, error) {
		count := RequestOf(ctx).CountPathRequest
		if count == nil {
			return handle(ctx, p, in)
		}
		refund, err := count()
		if err != nil {
			return nil, err
		}
		out, err := handle(ctx, p, in)
		if err == nil {
			return out, nil
		}
		if status := StatusOfError(err); status >= http.StatusBadRequest && status < http.StatusInternalServerError {
			refund()
		}
		return nil, err
	}
}
