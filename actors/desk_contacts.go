package actors

import (
	"context"
	"errors"
	"iter"
	"sort"
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/lifecycle"
	"github.com/callboard/callboard/service/record"
)

const (
	// pagesAtOnce bounds how many states one page of a filtered list looks at:
	// the next cursor goes on from there.
	pagesAtOnce = 1000
	// seekEach is how many rows of a chunk are looked up one by one, before all
	// of the chunk are read.
	seekEach = 8
)

// person is a contact with what became of it.
type person struct {
	ordinal int
	contact domain.Contact
	added   time.Time
	state   domain.ContactState
	result  *domain.ContactResult // nil: idle so far
}

// states are those that are wanted, by domain.ContactState; nil: all.
type states []bool

// statesOf are the stored states that a campaign shows by a word.
func statesOf(status domain.CampaignStatus, word string) states {
	if word == "" {
		return nil
	}
	wanted := make(states, domain.ContactInCall+1)
	for s := range wanted {
		wanted[s] = lifecycle.Seen(status, domain.ContactState(s)).String() == word
	}
	return wanted
}

func (w states) has(s domain.ContactState) bool { return w == nil || int(s) < len(w) && w[s] }

// among are the ordinals of those that are wanted; the first stands at start.
func (w states) among(now []domain.ContactState, start int) []int {
	var ordinals []int
	for i, s := range now {
		if w.has(s) {
			ordinals = append(ordinals, start+i)
		}
	}
	return ordinals
}

// progressOf reads the counters of a campaign; those of one without any are
// empty.
func (d *Desk) progressOf(ctx context.Context, c *domain.Campaign) (*domain.Progress, error) {
	progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := d.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, record.StoreError(err)
	}
	return progress, nil
}

// people walks a campaign's contacts in the order of upload, with their states
// and results: sorted scans, merged. Chunks in which nobody is wanted are not
// read.
func (d *Desk) people(ctx context.Context, c *domain.Campaign, wanted states) iter.Seq2[person, error] {
	return record.Flatten(d.peopleByChunk(ctx, c, wanted))
}

// peopleAhead is people for whoever wants them all: a chunk is read while the
// one before it is used.
func (d *Desk) peopleAhead(ctx context.Context, c *domain.Campaign, wanted states) iter.Seq2[person, error] {
	return record.Flatten(record.ReadAhead(ctx, func(ctx context.Context) iter.Seq2[[]person, error] { return d.peopleByChunk(ctx, c, wanted) }))
}

func (d *Desk) peopleByChunk(ctx context.Context, c *domain.Campaign, wanted states) iter.Seq2[[]person, error] {
	return func(yield func([]person, error) bool) {
		progress, err := d.progressOf(ctx, c)
		if err != nil {
			yield(nil, err)
			return
		}
		who := talks{d: d, of: c}
		for start := 0; start < progress.Total; start += domain.ChunkSize {
			n := min(domain.ChunkSize, progress.Total-start)
			now, err := d.states(ctx, &who, start, n)
			if err != nil {
				yield(nil, err)
				return
			}
			ordinals := wanted.among(now, start)
			if len(ordinals) == 0 {
				continue
			}
			some, err := d.ofChunk(ctx, c, progress, start, now, ordinals)
			if !yield(some, err) || err != nil {
				return
			}
		}
	}
}

// ofChunk are some contacts of the chunk that begins at an ordinal, whose
// states are known.
func (d *Desk) ofChunk(
	ctx context.Context, c *domain.Campaign, progress *domain.Progress, start int, now []domain.ContactState, ordinals []int,
) ([]person, error) {
	chunk := &domain.ContactChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: start / domain.ChunkSize}
	if _, err := d.store.Get(ctx, chunk); err != nil {
		return nil, record.StoreError(err)
	}
	if progress.Edits > 0 {
		for e, err := range d.editsFrom(ctx, c, start, len(chunk.Contacts)) {
			if err != nil {
				return nil, err
			}
			chunk.Contacts[e.Ordinal-start] = e.Contact
		}
	}
	results, err := d.results(ctx, c, ordinals)
	if err != nil {
		return nil, err
	}
	some := make([]person, 0, len(ordinals))
	for _, o := range ordinals {
		if o-start < len(chunk.Contacts) {
			some = append(some, person{ordinal: o, contact: chunk.Contacts[o-start], added: domain.AddedAt(chunk.Added, o-start, c.CreatedAt), state: now[o-start], result: results[o]})
		}
	}
	return some, nil
}

// states are those of n contacts from an ordinal on.
func (d *Desk) states(ctx context.Context, talks *talks, start, n int) ([]domain.ContactState, error) {
	out := make([]domain.ContactState, n) // a page without a row is all pending
	first := start / domain.PageSize
	err := d.pages(ctx, talks.of, first, (start+n-1)/domain.PageSize-first+1, func(row *domain.ContactPage) bool {
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
	return out, talks.mark(ctx, out, start)
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// pages reads the stored ones of n pages from one on, until f has enough.
func (d *Desk) pages(ctx context.Context, c *domain.Campaign, first, n int, f func(*domain.ContactPage) bool) error {
	after := ""
	if first > 0 {
		after = (&domain.ContactPage{CampaignID: c.ID, Index: first - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "page", Workspace: c.WorkspaceID, ID: c.ID + "/"}
	err := d.store.Under(ctx, prefix, after, n, func() domain.Record { return &domain.ContactPage{} }, func(r domain.Record) error {
		if row, ok := r.(*domain.ContactPage); ok && (row.Index >= first+n || !f(row)) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return record.StoreError(err)
}

// results are those of some contacts of a chunk, by ordinal.
func (d *Desk) results(ctx context.Context, c *domain.Campaign, ordinals []int) (map[int]*domain.ContactResult, error) {
	out := make(map[int]*domain.ContactResult, len(ordinals))
	if len(ordinals) <= seekEach {
		for _, o := range ordinals {
			r := &domain.ContactResult{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Ordinal: o}
			switch _, err := d.store.Get(ctx, r); {
			case err == nil:
				out[o] = r
			case !errors.Is(err, domain.ErrNotFound):
				return nil, record.StoreError(err)
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
	err := d.store.Under(ctx, prefix, after, last-first+1, func() domain.Record { return &domain.ContactResult{} }, func(r domain.Record) error {
		res, ok := r.(*domain.ContactResult)
		if ok && res.Ordinal > last {
			return errEnough
		}
		if ok {
			out[res.Ordinal] = res
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, record.StoreError(err)
}

// edits are all changes that were made to contacts after their upload.
func (d *Desk) edits(ctx context.Context, c *domain.Campaign, progress *domain.Progress) iter.Seq2[*domain.ContactEdit, error] {
	if progress.Edits == 0 {
		return func(func(*domain.ContactEdit, error) bool) {}
	}
	return d.editsFrom(ctx, c, 0, progress.Total)
}

// editsFrom are those of n contacts from an ordinal on.
func (d *Desk) editsFrom(ctx context.Context, c *domain.Campaign, start, n int) iter.Seq2[*domain.ContactEdit, error] {
	const atOnce = 256
	return func(yield func(*domain.ContactEdit, error) bool) {
		after := ""
		if start > 0 {
			after = (&domain.ContactEdit{CampaignID: c.ID, Ordinal: start - 1}).Key().ID
		}
		prefix := domain.Key{Kind: "edit", Workspace: c.WorkspaceID, ID: c.ID + "/"}
		for {
			var some []*domain.ContactEdit
			err := d.store.Under(ctx, prefix, after, min(n, atOnce), func() domain.Record { return &domain.ContactEdit{} }, func(r domain.Record) error {
				if e, ok := r.(*domain.ContactEdit); ok {
					some = append(some, e)
				}
				return nil
			})
			if err != nil {
				yield(nil, record.StoreError(err))
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

// ListContacts reads a page of contacts in the order of upload; the cursor is
// the ordinal to go on from. A page costs the same wherever it stands.
func (d *Desk) ListContacts(ctx context.Context, p domain.Principal, campaignID string, q ask.ContactQuery) (ask.List[ask.Contact], error) {
	out := ask.List[ask.Contact]{Data: []ask.Contact{}}
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return out, err
	}
	from := 0
	if q.Cursor != "" {
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 {
			return out, record.FieldError("cursor", ask.CodeInvalidCursor, "cursor is not one that a page before returned")
		}
	}
	progress, err := d.progressOf(ctx, c)
	if err != nil {
		return out, err
	}
	who, upto := talks{d: d, of: c}, *progress
	if from, upto.Total, err = d.between(ctx, c, progress.Total, from, q.Created); err != nil {
		return out, err
	}
	found, next, err := d.find(ctx, &who, &upto, from, statesOf(c.Status, q.Status), q.Limit)
	if err != nil {
		return out, err
	}
	if next < upto.Total {
		out.Next = strconv.Itoa(next)
	}
	some, err := d.some(ctx, &who, progress, found)
	for _, one := range some {
		shown := one.shown(c)
		if q.Status == "" || shown.Status == q.Status { // it may have changed since it was found
			out.Data = append(out.Data, shown)
		}
	}
	return out, err
}

// between narrows the ordinals from one on to the contacts that were taken in
// within a span.
func (d *Desk) between(ctx context.Context, c *domain.Campaign, total, from int, span ask.Span) (first, end int, err error) {
	first, end = from, total
	if !span.After.IsZero() {
		var begin int
		if begin, err = d.addedFrom(ctx, c, total, func(at time.Time) bool { return at.After(span.After) }); err != nil {
			return 0, 0, err
		}
		first = max(first, begin)
	}
	if !span.Before.IsZero() {
		if end, err = d.addedFrom(ctx, c, total, func(at time.Time) bool { return !at.Before(span.Before) }); err != nil {
			return 0, 0, err
		}
	}
	return first, end, nil
}

// addedFrom is the first ordinal whose contact was taken in so late. They stand
// in the order in which they came, so that it is found by bisection of the
// chunks: of a million contacts twelve are read.
func (d *Desk) addedFrom(ctx context.Context, c *domain.Campaign, total int, late func(time.Time) bool) (int, error) {
	if late(c.CreatedAt) {
		return 0, nil
	}
	var failed error
	first := func(index int) int { // in the chunk
		row := &domain.ContactTimes{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: index}
		if _, err := d.store.Get(ctx, row); err != nil {
			failed = errors.Join(failed, record.StoreError(err))
			return 0
		}
		for _, r := range row.Added {
			if late(r.At) {
				return r.First
			}
		}
		return domain.ChunkSize
	}
	chunks := (total + domain.ChunkSize - 1) / domain.ChunkSize
	index := sort.Search(chunks, func(i int) bool { return failed == nil && first(i) < domain.ChunkSize })
	if failed != nil || index == chunks {
		return total, failed
	}
	return min(index*domain.ChunkSize+first(index), total), failed
}

// find are the first ordinals from one on whose contacts are in a wanted state,
// and where to go on.
func (d *Desk) find(
	ctx context.Context, talks *talks, progress *domain.Progress, from int, wanted states, limit int,
) (found []int, next int, err error) {
	next = from
	if wanted.has(domain.ContactOpen) != wanted.has(domain.ContactInCall) {
		if err = talks.look(ctx); err != nil {
			return nil, next, err
		}
	}
	// take looks at the contacts up to an ordinal, whose states begin at first.
	take := func(to, first int, states []byte) bool {
		for ; next < min(to, progress.Total); next++ {
			if len(found) == limit {
				return false
			}
			s := domain.ContactPending
			if i := next - first; i >= 0 && i < len(states) {
				s = talks.seen(next, domain.ContactState(states[i]))
			}
			if wanted.has(s) {
				found = append(found, next)
			}
		}
		return next < progress.Total
	}
	if wanted == nil {
		take(from+limit, from, nil)
		return found, next, nil
	}
	first := from / domain.PageSize
	more := true
	err = d.pages(ctx, talks.of, first, pagesAtOnce, func(row *domain.ContactPage) bool {
		at := row.Index * domain.PageSize
		more = take(at, at, nil) && take(at+domain.PageSize, at, row.States) // what has no row is pending
		return more
	})
	if err == nil && more {
		take((first+pagesAtOnce)*domain.PageSize, 0, nil)
	}
	return found, next, err
}

// some are the contacts at ordinals, which go up.
func (d *Desk) some(ctx context.Context, talks *talks, progress *domain.Progress, ordinals []int) (all []person, err error) {
	for len(ordinals) > 0 {
		start := ordinals[0] - ordinals[0]%domain.ChunkSize
		n := 1
		for n < len(ordinals) && ordinals[n] < start+domain.ChunkSize {
			n++
		}
		now, err := d.states(ctx, talks, start, min(domain.ChunkSize, progress.Total-start))
		if err != nil {
			return nil, err
		}
		of, err := d.ofChunk(ctx, talks.of, progress, start, now, ordinals[:n])
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
		ordinals = ordinals[n:]
	}
	return all, nil
}

// one is a contact by its id.
func (d *Desk) one(ctx context.Context, c *domain.Campaign, contactID string) (person, error) {
	progress, err := d.progressOf(ctx, c)
	if err != nil {
		return person{}, err
	}
	ordinal, ok := domain.ContactOrdinal(c.ID, contactID)
	if !ok || ordinal >= progress.Total {
		return person{}, record.NotFound("contact")
	}
	some, err := d.some(ctx, &talks{d: d, of: c}, progress, []int{ordinal})
	if err == nil && len(some) == 0 {
		err = record.NotFound("contact")
	}
	if err != nil {
		return person{}, err
	}
	return some[0], nil
}

// Contact reads one contact of a campaign.
func (d *Desk) Contact(ctx context.Context, p domain.Principal, campaignID, contactID string) (ask.Contact, error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return ask.Contact{}, err
	}
	o, err := d.one(ctx, c, contactID)
	return o.shown(c), err
}

func (o person) shown(c *domain.Campaign) ask.Contact {
	s := ask.Contact{
		Meta: domain.Meta{
			ID: domain.ContactID(c.ID, o.ordinal), Object: "contact", WorkspaceID: c.WorkspaceID,
			Environment: c.Environment, CreatedAt: o.added, UpdatedAt: o.added,
		},
		CampaignID: c.ID, Phone: o.contact.Phone, Context: o.contact.Context, Timezone: o.contact.Timezone,
		Country: o.contact.Country, Status: lifecycle.Seen(c.Status, o.state).String(),
	}
	if r := o.result; r != nil {
		s.Outcome, s.Reason, s.Attempts, s.LastCallID = r.Outcome, r.Reason, r.Attempts, r.CallID
		s.NextAttemptAt, s.CompletedAt = r.RetryAt, r.EndedAt
		if r.EndedAt != nil {
			s.UpdatedAt = later(o.added, *r.EndedAt)
		}
	}
	return s
}
