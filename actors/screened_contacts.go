package actors

import (
	"context"
	"iter"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/service/record"
)

// screened are the rows of uploads to a campaign that did not become contacts, as an
// upload goes on with them. Each number has one row.
type screened struct {
	numbers     map[uint64]struct{}
	chunk       []domain.ScreenedContact // the unfinished chunk
	base, total int                      // rows that there were before, and are now
}

// load reads the rows that a campaign has.
func (s *screened) load(ctx context.Context, d *Desk, c *domain.Campaign, total int) error {
	s.base, s.total, s.numbers = total, total, make(map[uint64]struct{}, total)
	for row, err := range d.screened(ctx, c, total) {
		if err != nil {
			return err
		}
		s.numbers[digitsKey(row.Phone)] = struct{}{}
		if len(s.chunk) == domain.ChunkSize {
			s.chunk = s.chunk[:0]
		}
		s.chunk = append(s.chunk, row)
	}
	if len(s.chunk) == domain.ChunkSize {
		s.chunk = nil
	}
	return nil
}

// screened walks the first rows of a campaign's uploads that did not become
// contacts, up to total.
func (d *Desk) screened(ctx context.Context, c *domain.Campaign, total int) iter.Seq2[domain.ScreenedContact, error] {
	return func(yield func(domain.ScreenedContact, error) bool) {
		for at := 0; at < total; at += domain.ChunkSize {
			chunk := &domain.ScreenedChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: at / domain.ChunkSize}
			if _, err := d.store.Get(ctx, chunk); err != nil {
				yield(domain.ScreenedContact{}, record.StoreError(err))
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

// screen keeps a row that does not become a contact. A campaign keeps as many of
// them as of contacts.
func (in *intake) screen(row domain.ScreenedContact) {
	s, key := &in.screened, digitsKey(row.Phone)
	if _, twice := s.numbers[key]; twice || s.total == maxContacts {
		return
	}
	s.numbers[key] = struct{}{}
	s.chunk = append(s.chunk, row)
	if s.total++; len(s.chunk) == domain.ChunkSize {
		in.packScreened()
	}
}

// packScreened makes a record of the unfinished chunk of screened rows.
func (in *intake) packScreened() {
	s := &in.screened
	if len(s.chunk) == 0 || s.total == s.base {
		return
	}
	chunk := &domain.ScreenedChunk{
		CampaignID: in.campaign.ID, WorkspaceID: in.campaign.WorkspaceID, Index: (s.total - 1) / domain.ChunkSize, Contacts: s.chunk,
	}
	if chunk.Index*domain.ChunkSize < s.base {
		in.tails = append(in.tails, chunk)
	} else {
		in.ready = append(in.ready, chunk)
	}
	s.chunk = nil
}

// screenedRows are the rows of a campaign's results for the numbers that its uploads
// screened.
func (d *Desk) screenedRows(ctx context.Context, c *domain.Campaign, s *screened) iter.Seq2[ask.ResultRow, error] {
	return func(yield func(ask.ResultRow, error) bool) {
		for row, err := range d.screened(ctx, c, s.total) {
			if _, wanted := s.numbers[digitsKey(row.Phone)]; (!wanted || row.Phone == "") && err == nil {
				continue // it became a contact, or was erased
			}
			at := row.At
			shown := ask.ResultRow{Phone: row.Phone, Name: row.Name, Outcome: domain.ContactSkipped.String(), Reason: row.Reason, CompletedAt: &at}
			if !yield(shown, err) || err != nil {
				return
			}
		}
	}
}
