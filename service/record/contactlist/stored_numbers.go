package contactlist

import (
	"context"
	"fmt"
	"iter"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// DeletedOrdinals returns the positions of the contacts that were deleted from a campaign. A later upload may add their
// phone numbers again.
func (r *Reader) DeletedOrdinals(ctx context.Context, c *domain.Campaign, progress *domain.Progress) (map[int]bool, error) {
	if progress.Outcomes[domain.OutcomeCancelled] == 0 {
		return nil, nil
	}
	deleted := make(map[int]bool)
	for one, err := range r.All(ctx, c, StatesShownAs(c.Status, domain.ContactCancelled.String())) {
		if err != nil {
			return nil, err
		}
		if one.Result != nil && one.Result.Reason == domain.ReasonRemoved {
			deleted[one.Ordinal] = true
		}
	}
	return deleted, nil
}

// NumberOrError is one element of Numbers.
type NumberOrError struct {
	Number string
	Err    error
}

// Numbers yields the positions and the uploaded phone numbers of a campaign's first total contacts. Later changes of the
// numbers are not included. After an error it yields the position -1 with the error, and ends.
func (r *Reader) Numbers(ctx context.Context, c *domain.Campaign, total int) iter.Seq2[int, NumberOrError] {
	const atOnce = 8
	return func(yield func(int, NumberOrError) bool) {
		after := ""
		for at := 0; at < total; {
			var batch []*domain.ContactNumbers
			prefix := domain.Key{Kind: "chunk", Workspace: c.WorkspaceID, ID: c.ID + "/"}
			err := r.store.Under(ctx, prefix, after, atOnce, func() domain.Record { return &domain.ContactNumbers{} }, func(rec domain.Record) error {
				if chunk, ok := rec.(*domain.ContactNumbers); ok {
					batch = append(batch, chunk)
				}
				return nil
			})
			if err == nil && len(batch) == 0 {
				err = fmt.Errorf("contactlist: campaign %s has %d contacts but no chunk at %d", c.ID, total, at)
			}
			if err != nil {
				yield(-1, NumberOrError{Err: commit.StoreError(err)})
				return
			}
			for _, chunk := range batch {
				after = chunk.Key().ID
				for _, one := range chunk.Contacts[:min(len(chunk.Contacts), total-at)] {
					if !yield(at, NumberOrError{Number: one.Phone}) {
						return
					}
					at++
				}
			}
		}
	}
}

// Screened yields the first total screened rows of a campaign. These are uploaded rows that did not become contacts.
func (r *Reader) Screened(ctx context.Context, c *domain.Campaign, total int) iter.Seq2[domain.ScreenedContact, error] {
	return func(yield func(domain.ScreenedContact, error) bool) {
		for at := 0; at < total; at += domain.ChunkSize {
			chunk := &domain.ScreenedChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: at / domain.ChunkSize}
			if _, err := r.store.Get(ctx, chunk); err != nil {
				yield(domain.ScreenedContact{}, commit.StoreError(err))
				return
			}
			for _, row := range chunk.Contacts[:min(len(chunk.Contacts), total-at)] {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}
