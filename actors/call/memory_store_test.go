package call_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// memoryStore is a store in memory. It checks the version guards of commits, and a test can make it fail.
type memoryStore struct {
	mu          sync.Mutex
	rows        map[domain.Key][]byte
	tails       map[domain.Key][]byte // unencoded parts of the records that have such a part
	versions    map[domain.Key]uint64
	events      []event.Draft
	down        bool
	lostAnswers int                          // next commits that succeed although their answer is an error
	gates       map[event.Type]chan struct{} // commits of these events wait until the channel is closed
}

func newMemoryStore() *memoryStore {
	return &memoryStore{rows: make(map[domain.Key][]byte), tails: make(map[domain.Key][]byte), versions: make(map[domain.Key]uint64)}
}

var errDown = errors.New("the store is down")

func (m *memoryStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	for _, e := range c.Events {
		m.mu.Lock()
		gate := m.gates[e.Type]
		m.mu.Unlock()
		if gate == nil {
			continue
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, errDown
	}
	for _, g := range c.Guards {
		if m.versions[g.Key] != g.Version {
			return nil, domain.ErrConflict
		}
	}
	for _, p := range c.Puts {
		b, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		m.rows[p.Key()] = b
		if r, ok := p.(domain.RawPartRecord); ok {
			m.tails[p.Key()] = r.RawPart()
		}
		m.versions[p.Key()]++
	}
	for _, k := range c.Deletes {
		delete(m.rows, k)
		delete(m.versions, k)
	}
	m.events = append(m.events, c.Events...)
	if m.lostAnswers > 0 {
		m.lostAnswers--
		return nil, errDown
	}
	return nil, nil
}

func (m *memoryStore) Get(_ context.Context, into domain.Record) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return 0, errDown
	}
	b, ok := m.rows[into.Key()]
	if !ok {
		return 0, domain.ErrNotFound
	}
	if r, ok := into.(domain.RawPartRecord); ok {
		r.SetRawPart(m.tails[into.Key()])
	}
	return m.versions[into.Key()], json.Unmarshal(b, into)
}

func (m *memoryStore) setDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// eventTypes returns the types of a call's events in order.
func (m *memoryStore) eventTypes(callID string) []event.Type {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []event.Type
	for _, e := range m.events {
		if e.Subject == callID {
			out = append(out, e.Type)
		}
	}
	return out
}

func (m *memoryStore) readCall(id string) *domain.Call {
	c := &domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: workspace}}
	_, _ = m.Get(context.Background(), c)
	return c
}

// memoryBlobs stores recordings in memory.
type memoryBlobs struct {
	mu    sync.Mutex
	kept  map[string][]byte
	away  bool // nothing can be stored
	tries int

	putting func() // called before a blob is stored; nil: not called
}

// restore makes the failing blob storage work again.
func (b *memoryBlobs) restore() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = false
}

// putCount returns how often a recording was sent to the blob storage, successfully or not.
func (b *memoryBlobs) putCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tries
}

func (b *memoryBlobs) Delete(_ context.Context, _, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.kept, name)
	return nil
}

func (b *memoryBlobs) Put(_ context.Context, _, name string, r io.Reader) (int64, error) {
	data, err := io.ReadAll(r)
	if b.putting != nil {
		b.putting()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tries++; b.away {
		return 0, domain.Errorf(domain.CodeUnavailable, "away")
	}
	b.kept[name] = data
	return int64(len(data)), err
}

func (b *memoryBlobs) Open(_ context.Context, _, name string) (io.ReadSeekCloser, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.kept[name]
	switch {
	case b.away:
		return nil, 0, domain.Errorf(domain.CodeUnavailable, "away")
	case !ok:
		return nil, 0, domain.ErrNotFound
	}
	return openBlob{bytes.NewReader(data)}, int64(len(data)), nil
}

type openBlob struct{ *bytes.Reader }

func (openBlob) Close() error { return nil }

func (b *memoryBlobs) get(name string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[name]
}
