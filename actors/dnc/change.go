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

// Add puts numbers onto a list, with the events that this causes; it says how
// many were new. Once it has returned, whoever looks finds them.
func (r *Register) Add(ctx context.Context, workspace, id string, numbers []uint64, o dnc.Origin, events ...event.Draft) (added int, err error) {
	k := listKey{workspace, id}
	for some := range slices.Chunk(byBucket(numbers), page) {
		n, err := r.write(ctx, k, some, o, events)
		if err != nil {
			return added, err
		}
		added, events = added+n, nil
	}
	return added, nil
}

// CountNew says how many numbers, each of which is given once, are not on a
// list. It sorts them in place.
func (r *Register) CountNew(ctx context.Context, workspace, id string, numbers []uint64) (count int, err error) {
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

// part are the numbers of a change that belong into one bucket.
type part struct {
	bucket  int
	numbers []uint64
}

// byBucket sorts numbers, in place, into their buckets.
func byBucket(numbers []uint64) []part {
	slices.SortFunc(numbers, func(x, y uint64) int {
		if a, b := dnc.BucketOf(x), dnc.BucketOf(y); a != b {
			return a - b
		}
		if x < y {
			return -1
		}
		return 1
	})
	var parts []part
	for from := 0; from < len(numbers); {
		bucket, to := dnc.BucketOf(numbers[from]), from+1
		for to < len(numbers) && dnc.BucketOf(numbers[to]) == bucket {
			to++
		}
		parts = append(parts, part{bucket, numbers[from:to:to]})
		from = to
	}
	return parts
}

// write adds to a few buckets in one commit.
func (r *Register) write(ctx context.Context, k listKey, parts []part, o dnc.Origin, events []event.Draft) (added int, _ error) {
	for range tries {
		change := commit.Change{Workspace: k.workspace, Events: events}
		var filters []*dnc.Filter
		var indexes []int
		added = 0
		told := len(events) > 0 && o.CallID != ""
		for _, p := range parts {
			b, version, err := r.bucket(ctx, k, p.bucket)
			if err != nil {
				return 0, err
			}
			if told, err = heldAs(b, p.numbers, o, told); err != nil {
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
		if told { // a commit of before, whose answer was lost
			return 0, nil
		}
		if errApply := r.apply(ctx, k, change, indexes, filters); !errors.Is(errApply, domain.ErrConflict) {
			return added, errApply
		}
	}
	return 0, fmt.Errorf("dnc: add: %w", domain.ErrConflict)
}

// heldAs says whether a bucket has all numbers from this very origin already;
// wanted false: nobody wants to know.
func heldAs(b *dnc.Bucket, numbers []uint64, o dnc.Origin, wanted bool) (bool, error) {
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

// apply commits new editions of buckets. While that is on its way, and where
// its outcome is not known, only the store can say what they hold.
func (r *Register) apply(ctx context.Context, k listKey, change commit.Change, indexes []int, filters []*dnc.Filter) error {
	l := r.list(k)
	for i, index := range indexes {
		l.keep(index, &dnc.Filter{Edition: filters[i].Edition, Unknown: true})
	}
	if _, err := r.store.Apply(ctx, change); err != nil {
		return err
	}
	for i, index := range indexes {
		l.keep(index, filters[i])
	}
	return nil
}

// Remove takes a number off a list; false: it was not on it.
func (r *Register) Remove(ctx context.Context, workspace, id string, n uint64) (bool, error) {
	return r.alter(ctx, workspace, id, n, func(b *dnc.Bucket) (bool, error) { return b.Remove(n, r.hash(workspace, n)) })
}

// Erase replaces a number on a list by its keyed hash: it is not known any more,
// and must still not be called. false: it was not on the list.
func (r *Register) Erase(ctx context.Context, workspace, id string, n uint64) (bool, error) {
	return r.alter(ctx, workspace, id, n, func(b *dnc.Bucket) (bool, error) { return b.Erase(n, r.hash(workspace, n)) })
}

// alter changes the bucket of a number, unless change says that there is nothing
// to change.
func (r *Register) alter(ctx context.Context, workspace, id string, n uint64, change func(*dnc.Bucket) (bool, error)) (bool, error) {
	k := listKey{workspace, id}
	for range tries {
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

// Drop deletes what a list holds. Whatever came of it, memory lets go of it:
// where some is left, the store says so.
func (r *Register) Drop(ctx context.Context, workspace, id string) error {
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
	err := r.walk(ctx, k, "", func(b *dnc.Bucket) (bool, error) {
		if change.Deletes = append(change.Deletes, b.Key()); len(change.Deletes) < page {
			return true, nil
		}
		return true, flush()
	})
	err = errors.Join(err, flush())
	r.Forget(workspace, id)
	return err
}

// OptOut says that the owner of a number wants no calls: from now on it is
// taken for listed, whether or not the store answers. Settle it with Opted.
func (r *Register) OptOut(workspace, id string, n uint64) {
	r.pending.Store(opted{listKey{workspace, id}, n}, struct{}{})
}

// Opted says that an opt-out is in the store.
func (r *Register) Opted(workspace, id string, n uint64) {
	r.pending.Delete(opted{listKey{workspace, id}, n})
}

// bucketsAtOnce is how many buckets Entries looks through for those that keep
// wants.
const bucketsAtOnce = 128

// Entries are numbers of a list behind a place, in the list's own order; with
// keep only those that it wants, among a bounded number of buckets. The next
// place is 0, 0 behind the last one.
func (r *Register) Entries(
	ctx context.Context, workspace, id string, bucket int, after uint64, limit int, keep func(made time.Time) bool,
) (out []domain.DNCEntry, nextBucket int, nextAfter uint64, err error) {
	k := listKey{workspace, id}
	from := ""
	if bucket > 0 {
		from = (&dnc.Bucket{WorkspaceID: workspace, ListID: id, Index: bucket - 1}).Key().ID
	}
	looked := 0
	err = r.walk(ctx, k, from, func(b *dnc.Bucket) (bool, error) {
		if looked++; keep != nil && looked > bucketsAtOnce {
			nextBucket, nextAfter = b.Index, 1
			return false, nil
		}
		if keep != nil && !slices.ContainsFunc(b.Strata, func(s dnc.Stratum) bool { return keep(s.At) }) {
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
				last, _ := dnc.Number(entries[room-1].Phone)
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
