package trunk

import (
	"context"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// LiveNumbers returns the active phone numbers of a workspace and environment, without the catch-all number "*".
func LiveNumbers(ctx context.Context, store commit.Store, workspaceID string, env domain.Environment) ([]*domain.PhoneNumber, error) {
	var out []*domain.PhoneNumber
	err := commit.ForEachRow(ctx, store, "number", workspaceID, "env="+string(env), func(n *domain.PhoneNumber) {
		if n.Number != "*" && n.Status == domain.NumberLive {
			out = append(out, n)
		}
	})
	return out, err
}

// CallerIDs returns the numbers that calls over a trunk may show as caller ID. The trunk's caller_ids come first, then
// the workspace's numbers with this trunk, then its numbers without a trunk.
func CallerIDs(t *domain.Trunk, numbers []*domain.PhoneNumber) []string {
	out := slices.Clip(t.CallerIDs)
	for _, trunkID := range []string{t.ID, ""} {
		for _, n := range numbers {
			if n.TrunkID == trunkID {
				out = append(out, n.Number)
			}
		}
	}
	return out
}
