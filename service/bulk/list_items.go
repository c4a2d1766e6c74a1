package bulk

import (
	"context"
	"strconv"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// BulkItems returns a page of a job's items in the order of the job. Errors: not_found, invalid_cursor.
func (s *Service) BulkItems(ctx context.Context, p domain.Principal, id string, q ItemQuery) (record.Page[*domain.BulkItem], error) {
	out := record.Page[*domain.BulkItem]{Data: []*domain.BulkItem{}}
	b, err := s.Bulk(ctx, p, id)
	if err != nil {
		return out, err
	}
	at := 0
	if q.Cursor != "" {
		if at, err = strconv.Atoi(q.Cursor); err != nil || at < 0 || at > b.Total {
			return out, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not a cursor of this list")
		}
	}
	if !q.Created.Contains(b.CreatedAt) {
		return out, nil
	}
	for i := at / domain.BulkChunkSize; i*domain.BulkChunkSize < b.Total; i++ {
		items, err := s.readItems(ctx, b, i)
		if err != nil {
			return out, err
		}
		for _, item := range items {
			if item.Index < at || q.Status != "" && item.Status != q.Status {
				continue
			}
			if len(out.Data) == q.Limit {
				out.Next = strconv.Itoa(item.Index)
				return out, nil
			}
			item.CreatedAt = b.CreatedAt
			out.Data = append(out.Data, item)
		}
	}
	return out, nil
}

// readItems returns the items of the job's chunk with this index, together with their results.
func (s *Service) readItems(ctx context.Context, b *domain.Bulk, index int) ([]*domain.BulkItem, error) {
	chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: index}
	if _, err := s.store.Get(ctx, chunk); err != nil {
		return nil, commit.StoreError(err)
	}
	start := index * domain.BulkChunkSize
	defaultStatus, wait := domain.ItemPending, s.waitStateOf(b.ID)
	switch b.Status {
	case domain.BulkCompleted: // for contacts and numbers only failed items have a result row
		defaultStatus = domain.ItemDone
	case domain.BulkCancelled:
		defaultStatus = domain.ItemCancelled
	case domain.BulkQueued, domain.BulkRunning:
	}
	items := make([]*domain.BulkItem, len(chunk.Entries))
	for i, e := range chunk.Entries {
		items[i] = &domain.BulkItem{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: start + i, Status: defaultStatus}
		if e.Error != nil {
			items[i].Status, items[i].Code, items[i].Message, items[i].Param = domain.ItemRejected, e.Error.Code, e.Error.Message, e.Error.Param
		} else if defaultStatus == domain.ItemPending && wait != nil {
			if until, waits := wait.until(start + i); waits {
				items[i].Status, items[i].Until = domain.ItemWaiting, &until
			}
		}
	}
	after := ""
	if start > 0 {
		after = (&domain.BulkItem{BulkID: b.ID, Index: start - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "bulk_item", Workspace: b.WorkspaceID, ID: b.ID + "/"}
	err := s.store.Under(ctx, prefix, after, len(items), func() domain.Record { return &domain.BulkItem{} }, func(r domain.Record) error {
		if item, ok := r.(*domain.BulkItem); ok && item.Index-start < len(items) {
			items[item.Index-start] = item
		}
		return nil
	})
	return items, commit.StoreError(err)
}
