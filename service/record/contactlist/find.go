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

// ordinalsAddedWithin narrows the ordinals from one on to the contacts that were taken in
// within a span.
func (r *Reader) ordinalsAddedWithin(ctx context.Context, c *domain.Campaign, total, from int, span record.TimeRange) (first, end int, err error) {
	first, end = from, total
	if !span.After.IsZero() {
		var begin int
		if begin, err = r.firstAdded(ctx, c, total, func(at time.Time) bool { return at.After(span.After) }); err != nil {
			return 0, 0, err
		}
		first = max(first, begin)
	}
	if !span.Before.IsZero() {
		if end, err = r.firstAdded(ctx, c, total, func(at time.Time) bool { return !at.Before(span.Before) }); err != nil {
			return 0, 0, err
		}
	}
	return first, end, nil
}

// firstAdded is the first ordinal whose contact was taken in so late. They stand
// in the order in which they came, so that it is found by bisection of the
// chunks: of a million contacts twelve are read.
func (r *Reader) firstAdded(ctx context.Context, c *domain.Campaign, total int, late func(time.Time) bool) (int, error) {
	if late(c.CreatedAt) {
		return 0, nil
	}
	var failed error
	first := func(index int) int { // in the chunk
		row := &domain.ContactTimes{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: index}
		if _, err := r.store.Get(ctx, row); err != nil {
			failed = errors.Join(failed, commit.StoreError(err))
			return 0
		}
		for _, run := range row.Added {
			if late(run.At) {
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

// findStates are the first ordinals from one on whose contacts are in a wanted state,
// and where to go on.
func (r *Reader) findStates(
	ctx context.Context, talks *activeCalls, progress *domain.Progress, from int, wanted StateSet, limit int,
) (found []int, next int, err error) {
	next = from
	if wanted.Has(domain.ContactOpen) != wanted.Has(domain.ContactInCall) {
		if err = talks.load(ctx); err != nil {
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
				s = talks.stateShown(next, domain.ContactState(states[i]))
			}
			if wanted.Has(s) {
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
	err = r.readStatePages(ctx, talks.campaign, first, maxPagesPerFind, func(row *domain.ContactPage) bool {
		at := row.Index * domain.PageSize
		more = take(at, at, nil) && take(at+domain.PageSize, at, row.States) // what has no row is pending
		return more
	})
	if err == nil && more {
		take((first+maxPagesPerFind)*domain.PageSize, 0, nil)
	}
	return found, next, err
}

// at are the contacts at ordinals, which go up.
func (r *Reader) at(ctx context.Context, talks *activeCalls, progress *domain.Progress, ordinals []int) (all []Entry, err error) {
	for len(ordinals) > 0 {
		start := ordinals[0] - ordinals[0]%domain.ChunkSize
		n := 1
		for n < len(ordinals) && ordinals[n] < start+domain.ChunkSize {
			n++
		}
		now, err := r.states(ctx, talks, start, min(domain.ChunkSize, progress.Total-start))
		if err != nil {
			return nil, err
		}
		of, err := r.readChunk(ctx, talks.campaign, progress, start, now, ordinals[:n])
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
		ordinals = ordinals[n:]
	}
	return all, nil
}

// Find is a contact by its id.
func (r *Reader) Find(ctx context.Context, c *domain.Campaign, contactID string) (Entry, error) {
	progress, err := r.Progress(ctx, c)
	if err != nil {
		return Entry{}, err
	}
	ordinal, ok := domain.ContactOrdinal(c.ID, contactID)
	if !ok || ordinal >= progress.Total {
		return Entry{}, domain.NotFound("contact")
	}
	some, err := r.at(ctx, &activeCalls{store: r.store, campaign: c}, progress, []int{ordinal})
	if err == nil && len(some) == 0 {
		err = domain.NotFound("contact")
	}
	if err != nil {
		return Entry{}, err
	}
	return some[0], nil
}

// Page returns a page of contacts in the order of upload, at most limit from an
// ordinal on, which are shown in a state ("": any) and were added within a span.
// next is the ordinal to continue from; 0 at the end.
func (r *Reader) Page(ctx context.Context, c *domain.Campaign, from, limit int, state string, added record.TimeRange) (page []Contact, next int, err error) {
	progress, err := r.Progress(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	who, upto := activeCalls{store: r.store, campaign: c}, *progress
	if from, upto.Total, err = r.ordinalsAddedWithin(ctx, c, progress.Total, from, added); err != nil {
		return nil, 0, err
	}
	found, at, err := r.findStates(ctx, &who, &upto, from, StatesShownAs(c.Status, state), limit)
	if err != nil {
		return nil, 0, err
	}
	if at < upto.Total {
		next = at
	}
	some, err := r.at(ctx, &who, progress, found)
	for _, one := range some {
		shown := one.APIContact(c)
		if state == "" || shown.Status == state { // it may have changed since it was found
			page = append(page, shown)
		}
	}
	return page, next, err
}

// State returns the current state of a contact.
func (r *Reader) State(ctx context.Context, c *domain.Campaign, ordinal int) (domain.ContactState, error) {
	now, err := r.states(ctx, &activeCalls{store: r.store, campaign: c}, ordinal, 1)
	if err != nil {
		return 0, err
	}
	return now[0], nil
}
