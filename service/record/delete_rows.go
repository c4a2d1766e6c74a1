package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// BatchRows is how many database rows a long scan reads or commits at a time.
const BatchRows = 250

// SweepRows is how many expired database rows a retention task reads and deletes at a time.
const SweepRows = 200

// maxDeletedBefore is the maximum number of database rows that one call of DeleteBefore deletes.
const maxDeletedBefore = 1000

// DeleteByPrefix deletes the database rows whose keys begin with a prefix, in batches. empty must return an empty record
// of the kind of these rows.
func DeleteByPrefix(ctx context.Context, store commit.Store, prefix domain.Key, empty func() domain.Record) error {
	for after := ""; ; {
		change := commit.Change{Workspace: prefix.Workspace}
		err := store.Under(ctx, prefix, after, BatchRows, empty, func(r domain.Record) error {
			change.Deletes = append(change.Deletes, r.Key())
			return nil
		})
		if err != nil || len(change.Deletes) == 0 {
			return err
		}
		if _, err = store.Apply(ctx, change); err != nil {
			return err
		}
		after = change.Deletes[len(change.Deletes)-1].ID // continuing behind the deleted rows avoids reading their tombstones
	}
}

// DeleteBefore deletes up to 1,000 database rows of a kind in a workspace, the oldest first, and returns their keys. It
// deletes only rows whose sort value is below before.
func DeleteBefore[T any, R Pointer[T]](ctx context.Context, store commit.Store, workspace, kind, before string) ([]domain.Key, error) {
	var old []domain.Key
	q := commit.Query{Kind: kind, Workspace: workspace, Index: "all", Oldest: true, Limit: maxDeletedBefore, To: before}
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
