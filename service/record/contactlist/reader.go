// Package contactlist reads and writes the contacts of campaigns. Contacts are stored in chunks, in the order of
// upload. The ordinal of a contact is its position in this order, beginning at 0.
package contactlist

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/lifecycle"
	"github.com/callboard/callboard/service/record"
)

const (
	// maxPagesPerFind is the maximum number of state pages that findStates reads for one page of a filtered list. If that is
	// not enough for a full page, the cursor of the page continues the search.
	maxPagesPerFind = 1000
	// maxSingleReads is the maximum number of contact results that are read one by one. For more results of a chunk, one
	// scan reads all results between the first and the last.
	maxSingleReads = 8
)

// Reader reads the contacts of campaigns.
type Reader struct{ store commit.Store }

// New returns a Reader of a store.
func New(store commit.Store) Reader { return Reader{store} }

// Entry is a contact with its state and its result.
type Entry struct {
	Ordinal int
	Contact domain.Contact
	AddedAt time.Time
	State   domain.ContactState
	Result  *domain.ContactResult // nil: no attempt yet
}

// StateSet is a set of contact states, indexed by domain.ContactState. A nil set contains all states.
type StateSet []bool

// StatesShownAs returns the set of stored states that the API shows as word for a campaign with this status. If word is
// empty, the set contains all states.
func StatesShownAs(status domain.CampaignStatus, word string) StateSet {
	if word == "" {
		return nil
	}
	wanted := make(StateSet, domain.ContactInCall+1)
	for s := range wanted {
		wanted[s] = lifecycle.ShownContactState(status, domain.ContactState(s)).String() == word
	}
	return wanted
}

// Has reports whether the set contains a state.
func (w StateSet) Has(s domain.ContactState) bool { return w == nil || int(s) < len(w) && w[s] }

// ordinalsOf returns the positions of the contacts whose state is in the set. states[0] belongs to position start.
func (w StateSet) ordinalsOf(states []domain.ContactState, start int) []int {
	var ordinals []int
	for i, s := range states {
		if w.Has(s) {
			ordinals = append(ordinals, start+i)
		}
	}
	return ordinals
}

// Progress reads the stored counters of a campaign. If none are stored, it returns counters that are zero.
func (r *Reader) Progress(ctx context.Context, c *domain.Campaign) (*domain.Progress, error) {
	progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := r.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, commit.StoreError(err)
	}
	return progress, nil
}

// All yields a campaign's contacts in the order of upload, with their states and results. It does not read chunks in
// which no contact is in a wanted state.
func (r *Reader) All(ctx context.Context, c *domain.Campaign, wanted StateSet) iter.Seq2[Entry, error] {
	return record.Flatten(r.readChunks(ctx, c, wanted))
}

// AllReadAhead yields the same contacts as All, and reads the next chunk while the caller uses the current one. It is
// for callers that read all contacts.
func (r *Reader) AllReadAhead(ctx context.Context, c *domain.Campaign, wanted StateSet) iter.Seq2[Entry, error] {
	return record.Flatten(record.ReadAhead(ctx, func(ctx context.Context) iter.Seq2[[]Entry, error] { return r.readChunks(ctx, c, wanted) }))
}

func (r *Reader) readChunks(ctx context.Context, c *domain.Campaign, wanted StateSet) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		progress, err := r.Progress(ctx, c)
		if err != nil {
			yield(nil, err)
			return
		}
		calls := answeredCalls{store: r.store, campaign: c}
		for start := 0; start < progress.Total; start += domain.ChunkSize {
			n := min(domain.ChunkSize, progress.Total-start)
			states, err := r.states(ctx, &calls, start, n)
			if err != nil {
				yield(nil, err)
				return
			}
			ordinals := wanted.ordinalsOf(states, start)
			if len(ordinals) == 0 {
				continue
			}
			entries, err := r.readChunk(ctx, c, progress, start, states, ordinals)
			if !yield(entries, err) || err != nil {
				return
			}
		}
	}
}

// readChunk reads the contacts at the positions in ordinals, which are in the chunk that begins at position start.
// states are the states of the chunk's contacts.
func (r *Reader) readChunk(
	ctx context.Context, c *domain.Campaign, progress *domain.Progress, start int, states []domain.ContactState, ordinals []int,
) ([]Entry, error) {
	chunk := &domain.ContactChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: start / domain.ChunkSize}
	if _, err := r.store.Get(ctx, chunk); err != nil {
		return nil, commit.StoreError(err)
	}
	if progress.Edits > 0 {
		for e, err := range r.editsFrom(ctx, c, start, len(chunk.Contacts)) {
			if err != nil {
				return nil, err
			}
			chunk.Contacts[e.Ordinal-start] = e.Contact
		}
	}
	results, err := r.readResults(ctx, c, ordinals)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(ordinals))
	for _, o := range ordinals {
		if o-start < len(chunk.Contacts) {
			entries = append(entries, Entry{Ordinal: o, Contact: chunk.Contacts[o-start], AddedAt: domain.ContactAddedAt(chunk.Added, o-start, c.CreatedAt), State: states[o-start], Result: results[o]})
		}
	}
	return entries, nil
}

// states returns the states of n contacts, beginning at position start, as the API shows them.
func (r *Reader) states(ctx context.Context, calls *answeredCalls, start, n int) ([]domain.ContactState, error) {
	out := make([]domain.ContactState, n) // contacts without a state page are pending
	first := start / domain.PageSize
	err := r.readStatePages(ctx, calls.campaign, first, (start+n-1)/domain.PageSize-first+1, func(row *domain.ContactPage) bool {
		for i, s := range row.States {
			if at := row.Index*domain.PageSize + i - start; at >= 0 && at < n {
				out[at] = domain.ContactState(s)
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, calls.showAnsweredCalls(ctx, out, start)
}

// errStop stops a scan of the store early. It is not returned to callers of this package.
var errStop = errors.New("scan stopped early")

// readStatePages calls f for up to n state pages of a campaign, beginning at page number first. It skips pages that are
// not stored. If f returns false, it stops.
func (r *Reader) readStatePages(ctx context.Context, c *domain.Campaign, first, n int, f func(*domain.ContactPage) bool) error {
	after := ""
	if first > 0 {
		after = (&domain.ContactPage{CampaignID: c.ID, Index: first - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "page", Workspace: c.WorkspaceID, ID: c.ID + "/"}
	err := r.store.Under(ctx, prefix, after, n, func() domain.Record { return &domain.ContactPage{} }, func(rec domain.Record) error {
		if row, ok := rec.(*domain.ContactPage); ok && (row.Index >= first+n || !f(row)) {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return commit.StoreError(err)
}

// readResults returns the results of the contacts at some positions of one chunk, as a map from position to result.
func (r *Reader) readResults(ctx context.Context, c *domain.Campaign, ordinals []int) (map[int]*domain.ContactResult, error) {
	out := make(map[int]*domain.ContactResult, len(ordinals))
	if len(ordinals) <= maxSingleReads {
		for _, o := range ordinals {
			result := &domain.ContactResult{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Ordinal: o}
			switch _, err := r.store.Get(ctx, result); {
			case err == nil:
				out[o] = result
			case !errors.Is(err, domain.ErrNotFound):
				return nil, commit.StoreError(err)
			}
		}
		return out, nil
	}
	first, last := ordinals[0], ordinals[len(ordinals)-1]
	prefix := domain.Key{Kind: "result", Workspace: c.WorkspaceID, ID: c.ID + "/"}
	after := ""
	if first > 0 {
		after = (&domain.ContactResult{CampaignID: c.ID, Ordinal: first - 1}).Key().ID
	}
	err := r.store.Under(ctx, prefix, after, last-first+1, func() domain.Record { return &domain.ContactResult{} }, func(rec domain.Record) error {
		res, ok := rec.(*domain.ContactResult)
		if ok && res.Ordinal > last {
			return errStop
		}
		if ok {
			out[res.Ordinal] = res
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return out, commit.StoreError(err)
}

// Edits yields the current version of each contact that was changed after its upload.
func (r *Reader) Edits(ctx context.Context, c *domain.Campaign, progress *domain.Progress) iter.Seq2[*domain.ContactEdit, error] {
	if progress.Edits == 0 {
		return func(func(*domain.ContactEdit, error) bool) {}
	}
	return r.editsFrom(ctx, c, 0, progress.Total)
}

// editsFrom yields the changed contacts among the n contacts that begin at position start.
func (r *Reader) editsFrom(ctx context.Context, c *domain.Campaign, start, n int) iter.Seq2[*domain.ContactEdit, error] {
	const atOnce = 256
	return func(yield func(*domain.ContactEdit, error) bool) {
		after := ""
		if start > 0 {
			after = (&domain.ContactEdit{CampaignID: c.ID, Ordinal: start - 1}).Key().ID
		}
		prefix := domain.Key{Kind: "edit", Workspace: c.WorkspaceID, ID: c.ID + "/"}
		for {
			var some []*domain.ContactEdit
			err := r.store.Under(ctx, prefix, after, min(n, atOnce), func() domain.Record { return &domain.ContactEdit{} }, func(rec domain.Record) error {
				if e, ok := rec.(*domain.ContactEdit); ok {
					some = append(some, e)
				}
				return nil
			})
			if err != nil {
				yield(nil, commit.StoreError(err))
				return
			}
			for _, e := range some {
				if e.Ordinal >= start+n || !yield(e, nil) {
					return
				}
				after = e.Key().ID
			}
			if len(some) < min(n, atOnce) {
				return
			}
		}
	}
}

// LastChunk reads the chunk to which the next contact will be added.
func (r *Reader) LastChunk(ctx context.Context, c *domain.Campaign, total int) (*domain.ContactChunk, error) {
	last := &domain.ContactChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: total / domain.ChunkSize}
	_, err := r.store.Get(ctx, last)
	return last, commit.StoreError(err)
}
