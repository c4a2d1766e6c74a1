package commit

import (
	"context"

	"github.com/callboard/callboard/domain"
)

// recordPointer is a pointer to T that implements domain.Record.
type recordPointer[T any] interface {
	*T
	domain.Record
}

// ForEachRow calls do for every record of an index, oldest first.
func ForEachRow[T any, R recordPointer[T]](ctx context.Context, store Store, kind, workspace, index string, do func(R)) error {
	q := Query{Kind: kind, Workspace: workspace, Index: index, Oldest: true, Limit: 1000}
	for {
		next, err := store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(rec domain.Record) error {
			if r, ok := rec.(R); ok {
				do(r)
			}
			return nil
		})
		if err != nil || next == "" {
			return err
		}
		q.Cursor = next
	}
}
