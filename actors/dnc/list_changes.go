package dnc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
)

// AddNumbers adds numbers to a do-not-call list and commits the given events with them. It returns how many numbers were
// new. Once it has returned, every check finds the numbers.
func (r *Registry) AddNumbers(ctx context.Context, workspace, id string, numbers []uint64, o dnc.Origin, events ...event.Draft) (added int, err error) {
	k := listKey{workspace, id}
	for some := range slices.Chunk(byBucket(numbers), pageSize) {
		n, err := r.addToBuckets(ctx, k, some, o, events)
		if err != nil {
			return added, err
		}
		added, events = added+n, nil
	}
	return added, nil
}

// CountNewNumbers returns how many of the numbers are not on a do-not-call list. The numbers must be distinct. The slice is
// sorted in place.
func (r *Registry) CountNewNumbers(ctx context.Context, workspace, id string, numbers []uint64) (count int, err error) {
	for _, p := range byBucket(numbers) {
		b, _, err := r.bucket(ctx, listKey{workspace, id}, p.bucket)
		if err != nil {
			return 0, err
		}
		listed, err := b.Numbers()
		if err != nil {
			return 0, err
		}
		for _, n := range p.numbers {
			if _, ok := slices.BinarySearch(listed, n); !ok {
				count++
			}
		}
	}
	return count, nil
}

// bucketPart holds those numbers of a change that belong to one bucket. A do-not-call list is stored in buckets of numbers.
type bucketPart struct {
	bucket  int
	numbers []uint64
}

// byBucket groups numbers by their bucket. It sorts the slice in place.
func byBucket(numbers []uint64) []bucketPart {
	slices.SortFunc(numbers, func(x, y uint64) int {
		if a, b := dnc.BucketOf(x), dnc.BucketOf(y); a != b {
			return a - b
		}
		if x < y {
			return -1
		}
		return 1
	})
	var parts []bucketPart
	for from := 0; from < len(numbers); {
		bucket, to := dnc.BucketOf(numbers[from]), from+1
		for to < len(numbers) && dnc.BucketOf(numbers[to]) == bucket {
			to++
		}
		parts = append(parts, bucketPart{bucket, numbers[from:to:to]})
		from = to
	}
	return parts
}

// addToBuckets adds the numbers in parts to their buckets in one commit. After a version conflict it tries again.
func (r *Registry) addToBuckets(ctx context.Context, k listKey, parts []bucketPart, o dnc.Origin, events []event.Draft) (added int, _ error) {
	for range maxAttempts {
		change := commit.Change{Workspace: k.workspace, Events: events}
		var filters []*dnc.Filter
		var indexes []int
		added = 0
		alreadyStored := len(events) > 0 && o.CallID != ""
		for _, p := range parts {
			b, version, err := r.bucket(ctx, k, p.bucket)
			if err != nil {
				return 0, err
			}
			if alreadyStored, err = containsAll(b, p.numbers, o, alreadyStored); err != nil {
				return 0, err
			}
			before := b.Edition
			n, err := b.Add(p.numbers, o)
			if err != nil {
				return 0, err
			}
			added += n
			b.Edition = before + 1
			f, err := b.Filter()
			if err != nil {
				return 0, err
			}
			filters, indexes = append(filters, f), append(indexes, p.bucket)
			change.Guards = append(change.Guards, commit.Guard{Key: b.Key(), Version: version})
			change.Puts = append(change.Puts, b)
		}
		if alreadyStored { // an earlier commit was durable although its reply was lost
			return 0, nil
		}
		if errApply := r.apply(ctx, k, change, indexes, filters); !errors.Is(errApply, domain.ErrConflict) {
			return added, errApply
		}
	}
	return 0, fmt.Errorf("dnc: add: %w", domain.ErrConflict)
}

// containsAll reports whether a bucket already lists all numbers with this origin. If wanted is false, it returns false
// without a search.
func containsAll(b *dnc.Bucket, numbers []uint64, o dnc.Origin, wanted bool) (bool, error) {
	for _, n := range numbers {
		if !wanted {
			return false, nil
		}
		was, listed, err := b.Find(n)
		if err != nil {
			return false, err
		}
		wanted = listed && was.Source == o.Source && was.CallID == o.CallID
	}
	return wanted, nil
}

// apply commits new versions of buckets. It marks their filters as unknown until the commit has succeeded. Meanwhile lookups
// of these buckets read the store.
func (r *Registry) apply(ctx context.Context, k listKey, change commit.Change, indexes []int, filters []*dnc.Filter) error {
	l := r.list(k)
	for i, index := range indexes {
		l.setFilter(index, &dnc.Filter{Edition: filters[i].Edition, Unknown: true})
	}
	if _, err := r.store.Apply(ctx, change); err != nil {
		return err
	}
	for i, index := range indexes {
		l.setFilter(index, filters[i])
	}
	return nil
}

// RemoveNumber removes a number from a do-not-call list. It returns false if the list does not contain the number.
func (r *Registry) RemoveNumber(ctx context.Context, workspace, id string, n uint64) (bool, error) {
	return r.changeBucket(ctx, workspace, id, n, func(b *dnc.Bucket) (bool, error) { return b.Remove(n, r.hash(workspace, n)) })
}

// EraseNumber replaces a number on a do-not-call list by its keyed hash, to erase personal data. The number still must not
// be called. EraseNumber returns false if the list does not contain the number.
func (r *Registry) EraseNumber(ctx context.Context, workspace, id string, n uint64) (bool, error) {
	return r.changeBucket(ctx, workspace, id, n, func(b *dnc.Bucket) (bool, error) { return b.Erase(n, r.hash(workspace, n)) })
}

// changeBucket reads the bucket of a number, applies change and commits the bucket. If change returns false, it commits
// nothing.
func (r *Registry) changeBucket(ctx context.Context, workspace, id string, n uint64, change func(*dnc.Bucket) (bool, error)) (bool, error) {
	k := listKey{workspace, id}
	for range maxAttempts {
		b, version, err := r.bucket(ctx, k, dnc.BucketOf(n))
		if err != nil {
			return false, err
		}
		changed, err := change(b)
		if err != nil || !changed {
			return false, err
		}
		b.Edition++
		f, err := b.Filter()
		if err != nil {
			return false, err
		}
		err = r.apply(ctx, k, commit.Change{
			Workspace: workspace, Guards: []commit.Guard{{Key: b.Key(), Version: version}}, Puts: []domain.Record{b},
		}, []int{b.Index}, []*dnc.Filter{f})
		if !errors.Is(err, domain.ErrConflict) {
			return err == nil, err
		}
	}
	return false, fmt.Errorf("dnc: change: %w", domain.ErrConflict)
}

// DeleteEntries deletes all entries of a do-not-call list from the store and from memory. After an error, entries may
// remain in the store.
func (r *Registry) DeleteEntries(ctx context.Context, workspace, id string) error {
	k := listKey{workspace, id}
	change := commit.Change{Workspace: workspace}
	flush := func() error {
		if len(change.Deletes) == 0 {
			return nil
		}
		_, err := r.store.Apply(ctx, change)
		change.Deletes = nil
		return err
	}
	err := r.forEachBucket(ctx, k, "", func(b *dnc.Bucket) (bool, error) {
		if change.Deletes = append(change.Deletes, b.Key()); len(change.Deletes) < pageSize {
			return true, nil
		}
		return true, flush()
	})
	err = errors.Join(err, flush())
	r.UnloadList(workspace, id)
	return err
}

// AddPendingOptOut makes a number count as listed at once, before its opt-out is stored. RemovePendingOptOut ends this.
func (r *Registry) AddPendingOptOut(workspace, id string, n uint64) {
	r.pendingOptOuts.Store(pendingOptOut{listKey{workspace, id}, n}, struct{}{})
}

// RemovePendingOptOut ends the effect of AddPendingOptOut. It must be called once the opt-out of the number is stored.
func (r *Registry) RemovePendingOptOut(workspace, id string, n uint64) {
	r.pendingOptOuts.Delete(pendingOptOut{listKey{workspace, id}, n})
}

// bucketsAtOnce is the maximum number of buckets that one call of ListEntries searches if keep is set.
const bucketsAtOnce = 128

// ListEntries returns up to limit entries of a do-not-call list after the position bucket, after. If keep is set, it selects
// entries by their time, and the call searches at most bucketsAtOnce buckets. The next position is 0, 0 at the end of the
// list.
func (r *Registry) ListEntries(
	ctx context.Context, workspace, id string, bucket int, after uint64, limit int, keep func(made time.Time) bool,
) (out []domain.DNCEntry, nextBucket int, nextAfter uint64, err error) {
	k := listKey{workspace, id}
	from := ""
	if bucket > 0 {
		from = (&dnc.Bucket{WorkspaceID: workspace, ListID: id, Index: bucket - 1}).Key().ID
	}
	searched := 0
	err = r.forEachBucket(ctx, k, from, func(b *dnc.Bucket) (bool, error) {
		if searched++; keep != nil && searched > bucketsAtOnce {
			nextBucket, nextAfter = b.Index, 1
			return false, nil
		}
		if keep != nil && !slices.ContainsFunc(b.Groups, func(s dnc.OriginGroup) bool { return keep(s.At) }) {
			return true, nil
		}
		above := uint64(0)
		if b.Index == bucket {
			above = after
		}
		entries, errRead := b.Entries(above)
		if errRead != nil {
			return false, errRead
		}
		if keep != nil {
			entries = slices.DeleteFunc(entries, func(e domain.DNCEntry) bool { return !keep(e.CreatedAt) })
		}
		if room := limit - len(out); len(entries) > room {
			if room > 0 {
				out = append(out, entries[:room]...)
				last, _ := dnc.PackNumber(entries[room-1].Phone)
				nextBucket, nextAfter = b.Index, last
			} else {
				nextBucket, nextAfter = b.Index, 1
			}
			return false, nil
		}
		out = append(out, entries...)
		return true, nil
	})
	return out, nextBucket, nextAfter, err
}
