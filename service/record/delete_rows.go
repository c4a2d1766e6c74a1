package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// BatchRows is how many rows one read or one commit of a long walk takes.
const BatchRows = 250

// DeleteUnder deletes the rows whose keys begin with a prefix, in batches. empty
// returns an empty record of their kind.
func DeleteUnder(ctx context.Context, store commit.Store, prefix domain.Key, empty func() domain.Record) error {
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
		after = change.Deletes[len(change.Deletes)-1].ID // deleted rows are not read again
	}
}
