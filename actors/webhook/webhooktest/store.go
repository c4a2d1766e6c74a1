// Package webhooktest provides an in-memory store for tests of the actors that deliver events.
//
// The store behaves like the real stores: it encodes rows as bytes, checks the versions in guards, returns ordered
// lists, and numbers events with consecutive offsets.
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

// Store is an in-memory store.
//
// FailOperation, if set, is called before each operation (apply, get, list, under, events), one at a time. Its error
// makes the operation fail.
// AfterApply, if set, is called after an Apply. Apply returns its error although the change is stored.
// AfterList, if set, is called after a list was read and before its rows are returned.
// ShortPages makes Events return fewer events than the limit, as a real store may do.
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

// NewStore returns an empty store.
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

// Apply implements commit.Store.
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
			SvcID: d.SvcID, Subject: d.Subject, Sequence: s.sequences[d.Subject] + 1, Data: data, Attributes: d.Attributes, Offset: uint64(len(s.events)) + 1,
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

// Put stores a row without the checks of Apply. Tests use it to simulate a change by another client.
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

// Get implements commit.Store.
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

// List implements commit.Store. The cursor is the sort key of the last row.
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

// Under implements commit.Store.
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

// Events implements commit.Store.
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

// LastOffset implements commit.Store.
func (s *Store) LastOffset(ctx context.Context, _ string) (uint64, error) {
	if err := cmp.Or(ctx.Err(), s.fail("events")); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.events)), nil
}

// CommitCount returns the number of successful commits.
func (s *Store) CommitCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commits
}

// CountRewrittenRows returns how many rows of a kind were stored more than once.
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

// DeliveryRows returns all delivery rows of an endpoint by event ID.
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

// WebhookRow returns the row of an endpoint.
func (s *Store) WebhookRow(workspace, id string) domain.Webhook {
	s.mu.Lock()
	defer s.mu.Unlock()
	var w domain.Webhook
	_ = json.Unmarshal(s.rows[domain.Key{Kind: "webhook", Workspace: workspace, ID: id}].bytes, &w)
	return w
}
