package contactlist

import (
	"context"

	"github.com/callboard/callboard/domain"
)

// ScreenedRows are the uploaded rows of a campaign that did not become contacts because a check refused their number or
// variables. They are stored in chunks, with one row for each phone number.
type ScreenedRows struct {
	Numbers       map[uint64]struct{}
	chunk         []domain.ScreenedContact // the last chunk, which is not full
	Before, Total int                      // number of rows before this upload, and now
}

// Load reads the screened rows of earlier uploads to the campaign. total is their number.
func (s *ScreenedRows) Load(ctx context.Context, r *Reader, c *domain.Campaign, total int) error {
	s.Before, s.Total, s.Numbers = total, total, make(map[uint64]struct{}, total)
	for row, err := range r.Screened(ctx, c, total) {
		if err != nil {
			return err
		}
		s.Numbers[NumberKey(row.Phone)] = struct{}{}
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

// addScreened adds an uploaded row that does not become a contact to the current chunk of screened rows. It ignores the
// row if its number has a screened row already, or if the campaign has MaxContacts screened rows.
func (in *Import) addScreened(row domain.ScreenedContact) {
	s, key := &in.Screened, NumberKey(row.Phone)
	if _, twice := s.Numbers[key]; twice || s.Total == MaxContacts {
		return
	}
	s.Numbers[key] = struct{}{}
	s.chunk = append(s.chunk, row)
	if s.Total++; len(s.chunk) == domain.ChunkSize {
		in.packScreened()
	}
}

// packScreened turns the current chunk of screened rows, which may not be full, into a record to be stored.
func (in *Import) packScreened() {
	s := &in.Screened
	if len(s.chunk) == 0 || s.Total == s.Before {
		return
	}
	chunk := &domain.ScreenedChunk{
		CampaignID: in.campaign.ID, WorkspaceID: in.campaign.WorkspaceID, Index: (s.Total - 1) / domain.ChunkSize, Contacts: s.chunk,
	}
	if chunk.Index*domain.ChunkSize < s.Before {
		in.Tails = append(in.Tails, chunk)
	} else {
		in.ready = append(in.ready, chunk)
	}
	s.chunk = nil
}
