package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// BlankBulkChunks returns the item chunks of a finished bulk job without the personal data of the items. The caller
// adds the chunks to the commit that finishes the job.
func BlankBulkChunks(ctx context.Context, store commit.Store, b *domain.Bulk) ([]domain.Record, error) {
	var rows []domain.Record
	for i := 0; i*domain.BulkChunkSize < b.Total; i++ {
		chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: i}
		if _, err := store.Get(ctx, chunk); err != nil {
			return nil, err
		}
		chunk.ClearOrders()
		rows = append(rows, chunk)
	}
	return rows, nil
}
