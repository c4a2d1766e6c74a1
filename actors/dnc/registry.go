// Package dnc is the in-memory registry of do-not-call lists.
//
// The registry answers from memory for nearly every number, and from the store for the few numbers that may be listed.
// A list is stored in buckets of numbers, and memory holds one filter per bucket. A bucket that was not read, or that is
// being changed, never counts as "not listed". The registry is no actor, and any goroutine may call it.
package dnc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
)

const (
	tableWidth  = 64 // size of each of the two levels of a list's bucket table
	maxAttempts = 64 // attempts of a change that conflicts with other changes
	pageSize    = 64 // buckets per read or commit
)

// Store is the part of the store that the registry uses.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
}

// Registry holds the do-not-call lists of all workspaces. Its methods may be called concurrently. MayBeListed does
// not block.
type Registry struct {
	store          Store
	log            *slog.Logger
	mu             sync.RWMutex
	lists          map[listKey]*list
	hash           func(workspace string, n uint64) string
	pendingOptOuts sync.Map // pendingOptOut → struct{}: opt-outs that are not stored yet
}

type listKey struct{ workspace, list string }

// pendingOptOut identifies an opt-out that is not stored yet: the number and the workspace's default do-not-call list.
type pendingOptOut struct {
	listKey
	number uint64
}

// list holds the filters of one do-not-call list by bucket.
type list struct {
	filters  [tableWidth]atomic.Pointer[[tableWidth]atomic.Pointer[dnc.Filter]]
	complete atomic.Bool // all buckets are read: a bucket without a filter is empty
}

// New returns an empty registry. hash returns the keyed hash of a number in a workspace, by which erased numbers are found.
func New(store Store, hash func(workspace string, n uint64) string, log *slog.Logger) *Registry {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Registry{store: store, hash: hash, log: log, lists: make(map[listKey]*list)}
}

func (r *Registry) list(k listKey) *list {
	r.mu.RLock()
	l := r.lists[k]
	r.mu.RUnlock()
	if l != nil {
		return l
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l = r.lists[k]; l == nil {
		l = &list{}
		r.lists[k] = l
	}
	return l
}

// UnloadList removes a deleted list from memory.
func (r *Registry) UnloadList(workspace, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lists, listKey{workspace, id})
}

func (l *list) filterSlot(index int) *atomic.Pointer[dnc.Filter] {
	row := &l.filters[index/tableWidth]
	if row.Load() == nil {
		row.CompareAndSwap(nil, &[tableWidth]atomic.Pointer[dnc.Filter]{})
	}
	return &row.Load()[index%tableWidth]
}

// filter returns the filter of a bucket, or nil if the bucket is empty or was not read.
func (l *list) filter(index int) *dnc.Filter {
	if row := l.filters[index/tableWidth].Load(); row != nil {
		return row[index%tableWidth].Load()
	}
	return nil
}

// setFilter stores the filter of a bucket unless memory already has a newer one.
func (l *list) setFilter(index int, f *dnc.Filter) {
	place := l.filterSlot(index)
	for {
		was := place.Load()
		if was != nil && (was.Edition > f.Edition || was.Edition == f.Edition && f.Unknown) {
			return
		}
		if place.CompareAndSwap(was, f) {
			return
		}
	}
}

func (r *Registry) mayBeOnList(k listKey, n uint64) bool {
	l := r.list(k)
	f := l.filter(dnc.BucketOf(n))
	if f == nil {
		return !l.complete.Load()
	}
	return f.MayContain(n) || f.HasErased() && f.IsErased(r.hash(k.workspace, n))
}

// FilterSnapshot holds the filters that SnapshotFilters consulted for a number, one per list.
type FilterSnapshot [2]*dnc.Filter

// MayBeListed reports from memory whether a number may be on a do-not-call list. The result false is certain. After true,
// call FindMatch for the exact answer.
func (r *Registry) MayBeListed(workspace string, s dnc.ScrubRules, n uint64) (maybe bool) {
	if _, waits := r.pendingOptOuts.Load(pendingOptOut{listKey{workspace, s.Default}, n}); waits {
		return true
	}
	for _, id := range s.Lists() {
		if r.mayBeOnList(listKey{workspace, id}, n) {
			return true
		}
	}
	return false
}

// SnapshotFilters returns the result of MayBeListed together with the filters that decide it.
func (r *Registry) SnapshotFilters(workspace string, s dnc.ScrubRules, n uint64) (m FilterSnapshot, maybe bool) {
	for i, id := range s.Lists() {
		m[i] = r.list(listKey{workspace, id}).filter(dnc.BucketOf(n))
	}
	return m, r.MayBeListed(workspace, s, n)
}

// IsStillUnlisted reports whether a number that was unlisted at the time of the snapshot m is still unlisted. It returns
// false if the number may have been listed since.
func (r *Registry) IsStillUnlisted(workspace string, s dnc.ScrubRules, n uint64, m FilterSnapshot) bool {
	now, maybe := r.SnapshotFilters(workspace, s, n)
	if !maybe {
		return true
	}
	_, waits := r.pendingOptOuts.Load(pendingOptOut{listKey{workspace, s.Default}, n})
	return !waits && now == m
}

// Match is the entry of a do-not-call list that matches a number.
type Match struct {
	ListID string
	Origin dnc.Origin
}

// FindMatch returns the do-not-call entry of a number, or nil if the number is not listed. After an error the number must
// not be called.
func (r *Registry) FindMatch(ctx context.Context, workspace string, s dnc.ScrubRules, n uint64) (*Match, error) {
	if _, waits := r.pendingOptOuts.Load(pendingOptOut{listKey{workspace, s.Default}, n}); waits {
		return &Match{ListID: s.Default, Origin: dnc.Origin{Source: domain.DNCOptOut}}, nil
	}
	return r.FindStoredMatch(ctx, workspace, s, n)
}

// FindStoredMatch returns the same as FindMatch but ignores opt-outs that are not stored yet.
func (r *Registry) FindStoredMatch(ctx context.Context, workspace string, s dnc.ScrubRules, n uint64) (*Match, error) {
	for _, id := range s.Lists() {
		k := listKey{workspace, id}
		if !r.mayBeOnList(k, n) {
			continue
		}
		b, _, err := r.bucket(ctx, k, dnc.BucketOf(n))
		if err != nil {
			return nil, err
		}
		o, listed, err := b.Find(n)
		if err != nil {
			return nil, err
		}
		if !listed && len(b.Erased) > 0 {
			o, listed = b.FindErased(r.hash(workspace, n))
		}
		if listed && (id != s.Default || s.Applies(o)) {
			return &Match{ListID: id, Origin: o}, nil
		}
	}
	return nil, nil
}

// MatchPhone does the same as FindMatch for a number given as E.164 text.
func (r *Registry) MatchPhone(ctx context.Context, workspace string, s dnc.ScrubRules, e164 string) (*Match, error) {
	n, err := dnc.PackNumber(e164)
	if err != nil {
		return nil, err
	}
	if !r.MayBeListed(workspace, s, n) {
		return nil, nil
	}
	return r.FindMatch(ctx, workspace, s, n)
}

// bucket reads a bucket from the store and loads its filter if memory does not have it. A bucket that is not stored
// is empty.
func (r *Registry) bucket(ctx context.Context, k listKey, index int) (*dnc.Bucket, uint64, error) {
	b := &dnc.Bucket{WorkspaceID: k.workspace, ListID: k.list, Index: index}
	version, err := r.store.Get(ctx, b)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, 0, fmt.Errorf("dnc: read: %w", err)
	}
	l := r.list(k)
	if f := l.filter(index); f == nil && !l.complete.Load() || f != nil && f.Unknown {
		return b, version, r.loadFilter(l, b)
	}
	return b, version, nil
}

func (r *Registry) loadFilter(l *list, b *dnc.Bucket) error {
	f, err := b.Filter()
	if err != nil {
		return err
	}
	l.setFilter(b.Index, f)
	return nil
}

// LoadList loads a do-not-call list into memory. In the meantime numbers in buckets that are not loaded yet are looked up in
// the store.
func (r *Registry) LoadList(ctx context.Context, workspace, id string) error {
	k := listKey{workspace, id}
	l := r.list(k)
	err := r.forEachBucket(ctx, k, "", func(b *dnc.Bucket) (bool, error) { return true, r.loadFilter(l, b) })
	if err == nil {
		l.complete.Store(true)
	}
	return err
}

// AddEmptyList registers a new do-not-call list that has no entries. It does not have to be loaded.
func (r *Registry) AddEmptyList(workspace, id string) {
	r.list(listKey{workspace, id}).complete.Store(true)
}

// forEachBucket calls show for the stored buckets of a list after the given key, in order, until show returns false.
func (r *Registry) forEachBucket(ctx context.Context, k listKey, after string, show func(*dnc.Bucket) (more bool, err error)) error {
	prefix := domain.Key{Kind: "dnc_bucket", Workspace: k.workspace, ID: k.list + "/"}
	for {
		var got []*dnc.Bucket
		err := r.store.Under(ctx, prefix, after, pageSize, func() domain.Record { return &dnc.Bucket{} }, func(row domain.Record) error {
			if b, ok := row.(*dnc.Bucket); ok {
				got = append(got, b)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("dnc: read: %w", err)
		}
		for _, b := range got {
			after = b.Key().ID
			if more, err := show(b); err != nil || !more {
				return err
			}
		}
		if len(got) < pageSize {
			return nil
		}
	}
}

// CountEntries returns the number of entries of a list.
func (r *Registry) CountEntries(ctx context.Context, workspace, id string) (int, error) {
	k := listKey{workspace, id}
	l := r.list(k)
	total, known := 0, l.complete.Load()
	for i := range l.filters {
		row := l.filters[i].Load()
		if row == nil {
			continue
		}
		for j := range row {
			if f := row[j].Load(); f != nil {
				known = known && !f.Unknown
				total += f.Count
			}
		}
	}
	if known {
		return total, nil
	}
	total = 0
	err := r.forEachBucket(ctx, k, "", func(b *dnc.Bucket) (bool, error) {
		numbers, err := b.Numbers()
		total += len(numbers)
		return true, err
	})
	return total, err
}
