package contactlist

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// ordinalsAddedWithin returns the part [first, end) of the positions [from, total) whose contacts were added to the
// campaign within a time range.
func (r *Reader) ordinalsAddedWithin(ctx context.Context, c *domain.Campaign, total, from int, added record.TimeRange) (first, end int, err error) {
	first, end = from, total
	if !added.After.IsZero() {
		var begin int
		if begin, err = r.firstAdded(ctx, c, total, func(at time.Time) bool { return at.After(added.After) }); err != nil {
			return 0, 0, err
		}
		first = max(first, begin)
	}
	if !added.Before.IsZero() {
		if end, err = r.firstAdded(ctx, c, total, func(at time.Time) bool { return !at.Before(added.Before) }); err != nil {
			return 0, 0, err
		}
	}
	return first, end, nil
}

// firstAdded returns the position of the first contact for whose time of addition isLate returns true. Contacts are
// stored in the order of addition, so it uses a binary search over the chunks.
func (r *Reader) firstAdded(ctx context.Context, c *domain.Campaign, total int, isLate func(time.Time) bool) (int, error) {
	if isLate(c.CreatedAt) {
		return 0, nil
	}
	var failed error
	first := func(index int) int { // returns the first matching position in the chunk
		row := &domain.ContactTimes{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: index}
		if _, err := r.store.Get(ctx, row); err != nil {
			failed = errors.Join(failed, commit.StoreError(err))
			return 0
		}
		for _, run := range row.Added {
			if isLate(run.At) {
				return run.First
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

// findStates returns the positions of up to limit contacts that are in a wanted state, beginning at position from. next
// is the position at which the search continues.
func (r *Reader) findStates(
	ctx context.Context, calls *answeredCalls, progress *domain.Progress, from int, wanted StateSet, limit int,
) (found []int, next int, err error) {
	next = from
	if wanted.Has(domain.ContactOpen) != wanted.Has(domain.ContactInCall) {
		if err = calls.load(ctx); err != nil {
			return nil, next, err
		}
	}
	// collect adds the positions of wanted contacts below the position to. states[0] is the state of the contact at first.
	collect := func(to, first int, states []byte) bool {
		for ; next < min(to, progress.Total); next++ {
			if len(found) == limit {
				return false
			}
			s := domain.ContactPending
			if i := next - first; i >= 0 && i < len(states) {
				s = calls.stateShown(next, domain.ContactState(states[i]))
			}
			if wanted.Has(s) {
				found = append(found, next)
			}
		}
		return next < progress.Total
	}
	if wanted == nil {
		collect(from+limit, from, nil)
		return found, next, nil
	}
	first := from / domain.PageSize
	more := true
	err = r.readStatePages(ctx, calls.campaign, first, maxPagesPerFind, func(row *domain.ContactPage) bool {
		at := row.Index * domain.PageSize
		more = collect(at, at, nil) && collect(at+domain.PageSize, at, row.States) // contacts without a state page are pending
		return more
	})
	if err == nil && more {
		collect((first+maxPagesPerFind)*domain.PageSize, 0, nil)
	}
	return found, next, err
}

// readAt reads the contacts at the given positions, which must be in ascending order.
func (r *Reader) readAt(ctx context.Context, calls *answeredCalls, progress *domain.Progress, ordinals []int) (all []Entry, err error) {
	for len(ordinals) > 0 {
		start := ordinals[0] - ordinals[0]%domain.ChunkSize
		n := 1
		for n < len(ordinals) && ordinals[n] < start+domain.ChunkSize {
			n++
		}
		states, err := r.states(ctx, calls, start, min(domain.ChunkSize, progress.Total-start))
		if err != nil {
			return nil, err
		}
		of, err := r.readChunk(ctx, calls.campaign, progress, start, states, ordinals[:n])
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
		ordinals = ordinals[n:]
	}
	return all, nil
}

// Find reads a contact by its id. Errors: not_found.
func (r *Reader) Find(ctx context.Context, c *domain.Campaign, contactID string) (Entry, error) {
	progress, err := r.Progress(ctx, c)
	if err != nil {
		return Entry{}, err
	}
	ordinal, ok := domain.ContactOrdinal(c.ID, contactID)
	if !ok || ordinal >= progress.Total {
		return Entry{}, domain.NotFound("contact")
	}
	entries, err := r.readAt(ctx, &answeredCalls{store: r.store, campaign: c}, progress, []int{ordinal})
	if err == nil && len(entries) == 0 {
		err = domain.NotFound("contact")
	}
	if err != nil {
		return Entry{}, err
	}
	return entries[0], nil
}

// Page returns up to limit contacts in the order of upload, beginning at position from. It selects contacts whose state
// in the API is state and that were added to the campaign within added. If state is "", it selects contacts in every
// state. The result next is the position at which the next page begins, or 0 if there is none.
func (r *Reader) Page(ctx context.Context, c *domain.Campaign, from, limit int, state string, added record.TimeRange) (page []Contact, next int, err error) {
	progress, err := r.Progress(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	calls, upto := answeredCalls{store: r.store, campaign: c}, *progress
	if from, upto.Total, err = r.ordinalsAddedWithin(ctx, c, progress.Total, from, added); err != nil {
		return nil, 0, err
	}
	found, at, err := r.findStates(ctx, &calls, &upto, from, StatesShownAs(c.Status, state), limit)
	if err != nil {
		return nil, 0, err
	}
	if at < upto.Total {
		next = at
	}
	entries, err := r.readAt(ctx, &calls, progress, found)
	for _, entry := range entries {
		shown := entry.APIContact(c)
		if state == "" || shown.Status == state { // the state may have changed since findStates
			page = append(page, shown)
		}
	}
	return page, next, err
}

// State returns the current state of a contact.
func (r *Reader) State(ctx context.Context, c *domain.Campaign, ordinal int) (domain.ContactState, error) {
	states, err := r.states(ctx, &answeredCalls{store: r.store, campaign: c}, ordinal, 1)
	if err != nil {
		return 0, err
	}
	return states[0], nil
}
