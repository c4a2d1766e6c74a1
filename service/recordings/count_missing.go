package recordings

import (
	"context"
	"errors"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// CountMissing counts the calls of a store that have a recording, and how many of these recordings are missing in
// the blob store.
func CountMissing(ctx context.Context, store commit.Store, hasBlob func(workspace, name string) bool) (recorded, missing int, err error) {
	all, err := record.AllWorkspaces(ctx, store)
	for _, w := range all {
		err = errors.Join(err, commit.ForEachRow(ctx, store, "call", w.ID, "recorded", func(c *domain.Call) {
			if recorded++; !hasBlob(w.ID, recording.BlobName(c.ID)) {
				missing++
			}
		}))
	}
	return recorded, missing, err
}
