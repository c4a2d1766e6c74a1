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

// memoryStore is a store in memory that checks guards and can fail.
type memory struct {
	mu       sync.Mutex
	rows     map[domain.Key][]byte
	tails    map[domain.Key][]byte // raw parts of records that have one
	versions map[domain.Key]uint64
	events   []event.Draft
	down     bool
	lost     int                          // next commits that succeed although their answer is an error
	slow     map[event.Type]chan struct{} // commits of these events wait until the channel is closed
}

func newMemory() *memory {
	return &memory{rows: make(map[domain.Key][]byte), tails: make(map[domain.Key][]byte), versions: make(map[domain.Key]uint64)}
}

var errDown = errors.New("the store is down")

func (m *memory) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	for _, e := range c.Events {
		m.mu.Lock()
		gate := m.slow[e.Type]
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
	if m.lost > 0 {
		m.lost--
		return nil, errDown
	}
	return nil, nil
}

func (m *memory) Get(_ context.Context, into domain.Record) (uint64, error) {
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

func (m *memory) set(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// eventTypes returns the types of a call's events in order.
func (m *memory) told(callID string) []event.Type {
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

func (m *memory) call(id string) *domain.Call {
	c := &domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: workspace}}
	_, _ = m.Get(context.Background(), c)
	return c
}

// memoryBlobs stores recordings in memory.
type blobs struct {
	mu    sync.Mutex
	kept  map[string][]byte
	away  bool // nothing can be stored
	tries int

	putting func() // called before a blob is stored; nil: not called
}

// restore ends the failure of the blob storage.
func (b *blobs) back() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = false
}

// putCount returns the number of attempts to store a blob.
func (b *blobs) asked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tries
}

func (b *blobs) Delete(_ context.Context, _, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.kept, name)
	return nil
}

func (b *blobs) Put(_ context.Context, _, name string, r io.Reader) (int64, error) {
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

func (b *blobs) Open(_ context.Context, _, name string) (io.ReadSeekCloser, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.kept[name]
	switch {
	case b.away:
		return nil, 0, domain.Errorf(domain.CodeUnavailable, "away")
	case !ok:
		return nil, 0, domain.ErrNotFound
	}
	return opened{bytes.NewReader(data)}, int64(len(data)), nil
}

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

func (b *blobs) get(name string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[name]
}
