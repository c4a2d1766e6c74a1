// Package dnc is the register of do-not-call lists: it answers from memory for
// nearly every number, from the store for the few that may be listed, and
// changes lists under the eyes of those who dial. It is no actor: whoever
// dials asks it at once, from any goroutine.
//
// What it does not know is never taken for "not listed": until a bucket was
// read, and while a change of it is on its way, only the store can say.
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
	width = 64 // of each of the two levels of a list's buckets
	tries = 64 // of a change that others contend for
	page  = 64 // buckets read or written at once
)

// Store is what the register needs of the store.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
}

// Register knows the lists of all workspaces. Its methods may be called
// concurrently; Quick never waits.
type Register struct {
	store   Store
	log     *slog.Logger
	mu      sync.RWMutex
	lists   map[listKey]*list
	hash    func(workspace string, n uint64) string
	pending sync.Map // opted → struct{}: an opt-out that the store does not hold yet
}

type listKey struct{ workspace, list string }

// opted names a number by the default list that it opts out of.
type opted struct {
	listKey
	number uint64
}

// list is what memory knows of one.
type list struct {
	rows     [width]atomic.Pointer[[width]atomic.Pointer[dnc.Filter]]
	complete atomic.Bool // a bucket without a filter is empty
}

// New makes a register that knows nothing yet. hash is the keyed hash of a number
// in a workspace, which stands for the numbers of people who were erased.
func New(store Store, hash func(workspace string, n uint64) string, log *slog.Logger) *Register {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Register{store: store, hash: hash, log: log, lists: make(map[listKey]*list)}
}

func (r *Register) list(k listKey) *list {
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

// Forget lets go of a list that is gone.
func (r *Register) Forget(workspace, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lists, listKey{workspace, id})
}

func (l *list) at(index int) *atomic.Pointer[dnc.Filter] {
	row := &l.rows[index/width]
	if row.Load() == nil {
		row.CompareAndSwap(nil, &[width]atomic.Pointer[dnc.Filter]{})
	}
	return &row.Load()[index%width]
}

// filter is what is known of a bucket; nil: nothing, or that it is empty.
func (l *list) filter(index int) *dnc.Filter {
	if row := l.rows[index/width].Load(); row != nil {
		return row[index%width].Load()
	}
	return nil
}

// keep puts a filter in its place, unless a newer one stands there.
func (l *list) keep(index int, f *dnc.Filter) {
	place := l.at(index)
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

func (r *Register) may(k listKey, n uint64) bool {
	l := r.list(k)
	f := l.filter(dnc.BucketOf(n))
	if f == nil {
		return !l.complete.Load()
	}
	return f.May(n) || f.HasErased() && f.IsErased(r.hash(k.workspace, n))
}

// Mark is what memory knew of a number's buckets when it was looked up.
type Mark [2]*dnc.Filter

// Quick says from memory whether a number may be listed. False is sure; true
// wants Look.
func (r *Register) Quick(workspace string, s dnc.Scrub, n uint64) (may bool) {
	if _, waits := r.pending.Load(opted{listKey{workspace, s.Default}, n}); waits {
		return true
	}
	for _, id := range s.Lists() {
		if r.may(listKey{workspace, id}, n) {
			return true
		}
	}
	return false
}

// Marked is Quick, and what it was told by.
func (r *Register) Marked(workspace string, s dnc.Scrub, n uint64) (m Mark, may bool) {
	for i, id := range s.Lists() {
		m[i] = r.list(listKey{workspace, id}).filter(dnc.BucketOf(n))
	}
	return m, r.Quick(workspace, s, n)
}

// Stands says whether a number that was found free under a mark is so still:
// false where it may have been listed since.
func (r *Register) Stands(workspace string, s dnc.Scrub, n uint64, m Mark) bool {
	now, may := r.Marked(workspace, s, n)
	if !may {
		return true
	}
	_, waits := r.pending.Load(opted{listKey{workspace, s.Default}, n})
	return !waits && now == m
}

// Hit is where a number is listed.
type Hit struct {
	ListID string
	Origin dnc.Origin
}

// Look says where a number is listed; nil: nowhere. An error means that nobody
// knows: then the number must not be rung.
func (r *Register) Look(ctx context.Context, workspace string, s dnc.Scrub, n uint64) (*Hit, error) {
	if _, waits := r.pending.Load(opted{listKey{workspace, s.Default}, n}); waits {
		return &Hit{ListID: s.Default, Origin: dnc.Origin{Source: domain.DNCOptOut}}, nil
	}
	return r.Stored(ctx, workspace, s, n)
}

// Stored is Look for what is kept by now: an opt-out that is only about to be
// is none.
func (r *Register) Stored(ctx context.Context, workspace string, s dnc.Scrub, n uint64) (*Hit, error) {
	for _, id := range s.Lists() {
		k := listKey{workspace, id}
		if !r.may(k, n) {
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
		if listed && (id != s.Default || s.Counts(o)) {
			return &Hit{ListID: id, Origin: o}, nil
		}
	}
	return nil, nil
}

// Check is Look for a number as text.
func (r *Register) Check(ctx context.Context, workspace string, s dnc.Scrub, e164 string) (*Hit, error) {
	n, err := dnc.Number(e164)
	if err != nil {
		return nil, err
	}
	if !r.Quick(workspace, s, n) {
		return nil, nil
	}
	return r.Look(ctx, workspace, s, n)
}

// bucket reads one, and learns from it what memory did not know. One that is
// not stored is empty.
func (r *Register) bucket(ctx context.Context, k listKey, index int) (*dnc.Bucket, uint64, error) {
	b := &dnc.Bucket{WorkspaceID: k.workspace, ListID: k.list, Index: index}
	version, err := r.store.Get(ctx, b)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, 0, fmt.Errorf("dnc: read: %w", err)
	}
	l := r.list(k)
	if f := l.filter(index); f == nil && !l.complete.Load() || f != nil && f.Unknown {
		return b, version, r.learn(l, b)
	}
	return b, version, nil
}

func (r *Register) learn(l *list, b *dnc.Bucket) error {
	f, err := b.Filter()
	if err != nil {
		return err
	}
	l.keep(b.Index, f)
	return nil
}

// Load reads a list. Until it is done, what it does not know yet is looked up
// in the store.
func (r *Register) Load(ctx context.Context, workspace, id string) error {
	k := listKey{workspace, id}
	l := r.list(k)
	err := r.walk(ctx, k, "", func(b *dnc.Bucket) (bool, error) { return true, r.learn(l, b) })
	if err == nil {
		l.complete.Store(true)
	}
	return err
}

// Begin takes a list as loaded that nobody has written to.
func (r *Register) Begin(workspace, id string) { r.list(listKey{workspace, id}).complete.Store(true) }

// walk shows the buckets of a list in their order, behind the one given, until
// it is told to stop.
func (r *Register) walk(ctx context.Context, k listKey, after string, show func(*dnc.Bucket) (more bool, err error)) error {
	prefix := domain.Key{Kind: "dnc_bucket", Workspace: k.workspace, ID: k.list + "/"}
	for {
		var got []*dnc.Bucket
		err := r.store.Under(ctx, prefix, after, page, func() domain.Record { return &dnc.Bucket{} }, func(row domain.Record) error {
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
		if len(got) < page {
			return nil
		}
	}
}

// Count is the number of entries of a list.
func (r *Register) Count(ctx context.Context, workspace, id string) (int, error) {
	k := listKey{workspace, id}
	l := r.list(k)
	total, known := 0, l.complete.Load()
	for i := range l.rows {
		row := l.rows[i].Load()
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
	err := r.walk(ctx, k, "", func(b *dnc.Bucket) (bool, error) {
		numbers, err := b.Numbers()
		total += len(numbers)
		return true, err
	})
	return total, err
}
