package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// SweepRows is how many expired rows one visit of retention deletes.
const SweepRows = 200

// maxSweep is how many rows DeleteBefore deletes at most.
const maxSweep = 1000

// DeleteBefore deletes up to 1,000 rows of a kind in a workspace that sort before a
// value, oldest first, and returns their keys.
func DeleteBefore[T any, R Row[T]](ctx context.Context, store commit.Store, workspace, kind, before string) ([]domain.Key, error) {
	var old []domain.Key
	q := commit.Query{Kind: kind, Workspace: workspace, Index: "all", Oldest: true, Limit: maxSweep, To: before}
	_, err := store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(r domain.Record) error {
		old = append(old, r.Key())
		return nil
	})
	if err != nil || len(old) == 0 {
		return nil, err
	}
	_, err = store.Apply(ctx, commit.Change{Workspace: workspace, Deletes: old})
	return old, err
}
