package recovery

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// OpenAttempts reads the call attempts of a workspace that have not ended. Right after a start, an earlier process has
// left these attempts.
func OpenAttempts(ctx context.Context, store commit.Store, workspaceID string) ([]*domain.Attempt, error) {
	var out []*domain.Attempt
	for _, kind := range []domain.Prefix{domain.PrefixCall, domain.PrefixCampaign} {
		prefix := domain.Key{Kind: "attempt", Workspace: workspaceID, ID: string(kind) + "_"}
		for after, before := "", -1; len(out) != before; {
			before = len(out)
			err := store.Under(ctx, prefix, after, 1000, func() domain.Record { return &domain.Attempt{} }, func(r domain.Record) error {
				if a, ok := r.(*domain.Attempt); ok {
					out = append(out, a)
					after = a.ID
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
