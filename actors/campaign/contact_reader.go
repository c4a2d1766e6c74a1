package campaign

import (
	"context"
	"fmt"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
)

// contacts reads chunks of contacts and checks their numbers. It runs in a background task, because it would block the
// actor for too long.
func (r snapshotReader) contacts(ctx context.Context, indexes []int, e eligibilityRules) (map[int]*chunk, error) {
	read := make(map[int]*chunk, len(indexes))
	for _, i := range indexes {
		row := domain.ContactChunk{WorkspaceID: r.workspace, CampaignID: r.id, Index: i}
		if _, err := r.store.Get(ctx, &row); err != nil {
			return nil, fmt.Errorf("campaign: read contacts: %w", err)
		}
		if r.edited {
			if err := r.applyEdits(ctx, &row); err != nil {
				return nil, err
			}
		}
		c := e.assess(row.Contacts)
		var err error
		if c.dncMatches, err = r.findListed(ctx, e, row.Contacts); err != nil {
			return nil, fmt.Errorf("campaign: check do-not-call lists: %w", err)
		}
		read[i] = c
	}
	return read, nil
}

// applyEdits replaces those contacts of a chunk that were edited after the upload.
func (r snapshotReader) applyEdits(ctx context.Context, chunk *domain.ContactChunk) error {
	first := chunk.Index * domain.ChunkSize
	after := ""
	if first > 0 {
		after = (&domain.ContactEdit{CampaignID: r.id, Ordinal: first - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "edit", Workspace: r.workspace, ID: r.id + "/"}
	err := r.store.Under(ctx, prefix, after, len(chunk.Contacts),
		func() domain.Record { return &domain.ContactEdit{} },
		func(row domain.Record) error {
			e, ok := row.(*domain.ContactEdit)
			if !ok {
				return fmt.Errorf("campaign: row of type %T", row)
			}
			if i := e.Ordinal - first; i < len(chunk.Contacts) {
				chunk.Contacts[i] = e.Contact
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("campaign: read edits: %w", err)
	}
	return nil
}

// findListed returns the contacts whose numbers are on a do-not-call list, by their index in the chunk.
func (r snapshotReader) findListed(ctx context.Context, e eligibilityRules, contacts []domain.Contact) (map[int]*dnc.Match, error) {
	if e.lists == nil {
		return nil, nil
	}
	var hits map[int]*dnc.Match
	for i, contact := range contacts {
		n, err := lists.PackNumber(contact.Phone)
		if err != nil || !e.lists.MayBeListed(r.workspace, e.scrub, n) {
			continue
		}
		hit, err := e.lists.FindMatch(ctx, r.workspace, e.scrub, n)
		if err != nil {
			return nil, err
		}
		if hit != nil {
			if hits == nil {
				hits = make(map[int]*dnc.Match)
			}
			hits[i] = hit
		}
	}
	return hits, nil
}
