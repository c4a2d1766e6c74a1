// Package leasetest supports tests of lease engines: an in-memory store with injected faults, and the conformance suite
// that every lease engine has to pass.
package leasetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

func newToken(epoch uint64, instance string) lease.Token {
	return lease.Token(fmt.Sprintf("%d|%s", epoch, instance))
}

// ErrUnavailable is the error of all calls while a MemoryStore is unavailable.
var ErrUnavailable = errors.New("the store is away")

// MemoryStore is an in-memory store of leases. Within testing/synctest it uses the clock of the bubble.
type MemoryStore struct {
	Lease time.Duration

	mu          sync.Mutex
	rows        map[int]lease.Row
	nodes       map[string]memberLease
	revision    lease.Revision
	resumed     chan struct{} // closed by Thaw; nil: the store answers
	unavailable bool
	renewCount  int
	subscribers map[chan struct{}]bool
}

type memberLease struct {
	node lease.Node
	ends time.Time
}

// NewMemoryStore returns an empty store with leases of the given duration.
func NewMemoryStore(length time.Duration) *MemoryStore {
	return &MemoryStore{Lease: length, rows: make(map[int]lease.Row), nodes: make(map[string]memberLease), subscribers: make(map[chan struct{}]bool)}
}

// Client returns the connection of one node to the store.
func (m *MemoryStore) Client() *MemoryClient { return &MemoryClient{m: m} }

// MemoryClient is the connection of one node to a MemoryStore. A test can disconnect it.
type MemoryClient struct {
	m            *MemoryStore
	mu           sync.Mutex
	disconnected bool
}

var _ lease.Store = (*MemoryClient)(nil)

// Disconnect makes every call of this client fail if off is set. Otherwise calls succeed again.
func (w *MemoryClient) Disconnect(off bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disconnected = off
}

// Freeze makes every call of every client wait until Thaw. Leases continue to expire.
func (m *MemoryStore) Freeze() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resumed = make(chan struct{})
}

// Thaw lets the calls continue that Freeze has stopped.
func (m *MemoryStore) Thaw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.resumed)
	m.resumed = nil
}

// AdvanceClock sets the clock of the store forward.
func (m *MemoryStore) AdvanceClock(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, n := range m.nodes {
		n.ends = n.ends.Add(-d)
		m.nodes[id] = n
	}
}

// SetUnavailable makes every call of every client fail if off is set. Otherwise calls succeed again.
func (m *MemoryStore) SetUnavailable(off bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unavailable = off
}

// Clear deletes all nodes and shard rows of the store.
func (m *MemoryStore) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.rows)
	clear(m.nodes)
	m.revision = lease.Revision{Nodes: uint64(time.Now().UnixNano())}
}

// RenewCount returns how often leases were renewed.
func (m *MemoryStore) RenewCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.renewCount
}

// access waits while the store is frozen, and then locks it. It returns ErrUnavailable without the lock if the client is
// disconnected or the store is unavailable.
func (w *MemoryClient) access(ctx context.Context) error {
	for {
		w.mu.Lock()
		cut := w.disconnected
		w.mu.Unlock()
		w.m.mu.Lock()
		if cut || w.m.unavailable {
			w.m.mu.Unlock()
			return ErrUnavailable
		}
		frozen := w.m.resumed
		if frozen == nil {
			break
		}
		w.m.mu.Unlock()
		select {
		case <-frozen:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		w.m.mu.Unlock()
		return err
	}
	for id, n := range w.m.nodes {
		if !time.Now().Before(n.ends) {
			delete(w.m.nodes, id)
			w.m.revision.Nodes++
			w.m.notifySubscribers()
		}
	}
	return nil
}

func (m *MemoryStore) notifySubscribers() {
	for c := range m.subscribers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Renew implements lease.Store.
func (w *MemoryClient) Renew(ctx context.Context, self lease.Node, keep bool, seen lease.Revision) (news lease.Changes, err error) {
	if err = w.access(ctx); err != nil {
		return news, err
	}
	m := w.m
	defer m.mu.Unlock()
	had, ok := m.nodes[self.ID]
	news.LeaseEnded = !ok
	if keep {
		m.renewCount++
		m.nodes[self.ID] = memberLease{self, time.Now().Add(m.Lease)}
		if !ok || had.node != self {
			m.revision.Nodes++
			m.notifySubscribers()
		}
	}
	news.Revision = m.revision
	if seen.Nodes != m.revision.Nodes {
		news.Nodes = []lease.Node{}
	}
	for id, n := range m.nodes {
		if seen.Nodes != m.revision.Nodes {
			news.Nodes = append(news.Nodes, n.node)
		}
		if left := time.Until(n.ends); id != self.ID && (news.NextLeaseEnd == 0 || left < news.NextLeaseEnd) {
			news.NextLeaseEnd = left
		}
	}
	news.AllRows, news.HasSum = seen.Rows == 0, true
	for _, r := range m.rows {
		news.Sum += uint32(r.Revision)
		if news.AllRows || r.Revision > seen.Rows {
			news.Rows = append(news.Rows, r)
		}
	}
	return news, nil
}

// Claim implements lease.Store.
func (w *MemoryClient) Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) (rows []lease.Row, err error) {
	if err = w.access(ctx); err != nil {
		return nil, err
	}
	m := w.m
	defer m.mu.Unlock()
	if _, ok := m.nodes[self]; !ok {
		return nil, lease.ErrLeaseEnded
	}
	for _, shard := range shards {
		owner := m.rows[shard].Token.Instance()
		if _, lives := m.nodes[owner]; owner != "" && owner != self && (lives || !ended) {
			continue
		}
		m.revision.Rows = max(m.revision.Rows+1, floor)
		m.rows[shard] = lease.Row{Shard: shard, Revision: m.revision.Rows, Token: newToken(m.revision.Rows, self)}
		rows = append(rows, m.rows[shard])
	}
	m.notifySubscribers()
	return rows, nil
}

// Release implements lease.Store.
func (w *MemoryClient) Release(ctx context.Context, shard int, t lease.Token) (lease.Row, error) {
	if err := w.access(ctx); err != nil {
		return lease.Row{}, err
	}
	m := w.m
	defer m.mu.Unlock()
	if m.rows[shard].Token == t {
		m.revision.Rows++
		m.rows[shard] = lease.Row{Shard: shard, Revision: m.revision.Rows, Token: newToken(t.Epoch(), "")}
		m.notifySubscribers()
	}
	r := m.rows[shard]
	r.Shard = shard
	return r, nil
}

// Leave implements lease.Store.
func (w *MemoryClient) Leave(ctx context.Context, id string) error {
	if err := w.access(ctx); err != nil {
		return err
	}
	defer w.m.mu.Unlock()
	delete(w.m.nodes, id)
	w.m.revision.Nodes++
	w.m.notifySubscribers()
	return nil
}

// Notices implements lease.Store.
func (w *MemoryClient) Notices(ctx context.Context, each func()) error {
	c := make(chan struct{}, 1)
	w.m.mu.Lock()
	w.m.subscribers[c] = true
	w.m.mu.Unlock()
	defer func() {
		w.m.mu.Lock()
		delete(w.m.subscribers, c)
		w.m.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c:
			each()
		}
	}
}

// Close implements lease.Store.
func (w *MemoryClient) Close() error { return nil }
