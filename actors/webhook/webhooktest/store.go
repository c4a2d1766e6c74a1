// Package webhooktest has a store in memory for the tests of the actors that
// deliver events. It keeps what the real drivers promise: rows as bytes,
// versions and guards, lists in order, events with dense offsets. It knows no
// disk.
package webhooktest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

type row struct {
	bytes   []byte
	version uint64
	indexes []string
	sort    string
}

// Store is a store in memory. Fail, if set, is asked before each operation
// (apply, get, list, under, events), one at a time; After, if set, once an Apply was done:
// its error is returned although the change is kept. Listed, if set, is called
// between the reading of a list and the handing out of its rows. Short pages of
// events end early, as long ones do in a real store.
type Store struct {
	FailOperation func(operation string) error
	AfterApply    func() error
	AfterList     func()
	ShortPages    bool

	asking    sync.Mutex
	mu        sync.Mutex
	rows      map[domain.Key]row
	events    []event.Event
	sequences map[string]uint64
	commits   int
}

// NewStore makes an empty store.
func NewStore() *Store {
	return &Store{rows: make(map[domain.Key]row), sequences: make(map[string]uint64)}
}

func (s *Store) fail(operation string) error {
	if s.FailOperation == nil {
		return nil
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	return s.FailOperation(operation)
}

// Apply is commit.Store's.
func (s *Store) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if err := cmp.Or(ctx.Err(), s.fail("apply")); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range c.Guards {
		if s.rows[g.Key].version != g.Version {
			return nil, domain.ErrConflict
		}
	}
	for _, r := range c.Puts {
		s.put(r)
	}
	for _, k := range c.Deletes {
		delete(s.rows, k)
	}
	var out []event.Event
	for _, d := range c.Events {
		data, err := domain.EncodeJSON(d.Data)
		if err != nil {
			return nil, err
		}
		e := event.Event{
			ID: d.ID, Type: d.Type, CreatedAt: d.CreatedAt, WorkspaceID: d.WorkspaceID, Environment: d.Environment,
			SvcID: d.SvcID, Subject: d.Subject, Sequence: s.sequences[d.Subject] + 1, Data: data, About: d.About, Offset: uint64(len(s.events)) + 1,
		}
		s.sequences[d.Subject]++
		s.events = append(s.events, e)
		out = append(out, e)
	}
	s.commits++
	if s.AfterApply != nil {
		return out, s.AfterApply()
	}
	return out, nil
}

// Put keeps a row unasked: a change by somebody else, in the middle of things.
func (s *Store) Put(r domain.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(r)
}

func (s *Store) put(r domain.Record) {
	bytes, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	s.rows[r.Key()] = row{bytes: bytes, version: s.rows[r.Key()].version + 1, indexes: r.Indexes(), sort: r.Sort()}
}

// Get is commit.Store's.
func (s *Store) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if err := cmp.Or(ctx.Err(), s.fail("get")); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[into.Key()]
	if !ok {
		return 0, domain.ErrNotFound
	}
	return r.version, json.Unmarshal(r.bytes, into)
}

// List is commit.Store's; the cursor is the last row's place.
func (s *Store) List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error) {
	if err := cmp.Or(ctx.Err(), s.fail("list")); err != nil {
		return "", err
	}
	s.mu.Lock()
	var found []row
	for k, r := range s.rows {
		in := k.Kind == q.Kind && k.Workspace == q.Workspace && slices.Contains(r.indexes, q.Index)
		if in && (q.From == "" || r.sort >= q.From) && (q.To == "" || r.sort < q.To) {
			found = append(found, r)
		}
	}
	s.mu.Unlock()
	if s.AfterList != nil {
		s.AfterList()
	}
	slices.SortFunc(found, func(a, b row) int {
		if q.Oldest {
			return strings.Compare(a.sort, b.sort)
		}
		return strings.Compare(b.sort, a.sort)
	})
	last := ""
	for n, r := range found {
		if q.Cursor != "" && (q.Oldest && r.sort <= q.Cursor || !q.Oldest && r.sort >= q.Cursor) {
			continue
		}
		if q.Limit == 0 {
			return last, nil
		}
		q.Limit--
		into := fresh()
		if err := cmp.Or(json.Unmarshal(r.bytes, into), each(into)); err != nil {
			return "", err
		}
		last = r.sort
		if n == len(found)-1 {
			return "", nil
		}
	}
	return "", nil
}

// Under is commit.Store's.
func (s *Store) Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error {
	if err := cmp.Or(ctx.Err(), s.fail("under")); err != nil {
		return err
	}
	s.mu.Lock()
	var keys []domain.Key
	for k := range s.rows {
		if k.Kind == prefix.Kind && k.Workspace == prefix.Workspace && strings.HasPrefix(k.ID, prefix.ID) && k.ID > after {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b domain.Key) int { return strings.Compare(a.ID, b.ID) })
	var found [][]byte
	for _, k := range keys[:min(limit, len(keys))] {
		found = append(found, s.rows[k].bytes)
	}
	s.mu.Unlock()
	for _, bytes := range found {
		into := fresh()
		if err := json.Unmarshal(bytes, into); err != nil {
			return err
		}
		if err := each(into); err != nil {
			return err
		}
	}
	return nil
}

// Events is commit.Store's.
func (s *Store) Events(ctx context.Context, _ string, after uint64, limit int) ([]event.Event, error) {
	if err := cmp.Or(ctx.Err(), s.fail("events")); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if after >= uint64(len(s.events)) {
		return nil, nil
	}
	rest := s.events[after:]
	if limit > 1 && s.ShortPages {
		limit /= 2
	}
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

// LastOffset is commit.Store's.
func (s *Store) LastOffset(ctx context.Context, _ string) (uint64, error) {
	if err := cmp.Or(ctx.Err(), s.fail("events")); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.events)), nil
}

// CommitCount is how many changes were kept.
func (s *Store) CommitCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commits
}

// CountRewrittenRows is how many rows of a kind were put more than once.
func (s *Store) CountRewrittenRows(kind string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, r := range s.rows {
		if k.Kind == kind && r.version > 1 {
			n++
		}
	}
	return n
}

// DeliveryRows are all delivery rows of an endpoint, by event.
func (s *Store) DeliveryRows(webhookID string) map[string]domain.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]domain.Delivery)
	for k, r := range s.rows {
		var d domain.Delivery
		if k.Kind == "delivery" && strings.HasPrefix(k.ID, webhookID+"/") && json.Unmarshal(r.bytes, &d) == nil {
			out[d.EventID] = d
		}
	}
	return out
}

// WebhookRow is the row of an endpoint.
func (s *Store) WebhookRow(workspace, id string) domain.Webhook {
	s.mu.Lock()
	defer s.mu.Unlock()
	var w domain.Webhook
	_ = json.Unmarshal(s.rows[domain.Key{Kind: "webhook", Workspace: workspace, ID: id}].bytes, &w)
	return w
}
