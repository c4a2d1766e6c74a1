// Package leasetest tests engines of leases: a store in memory that is frozen
// and killed by words, and the suite that every driver passes. It knows no
// driver.
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

// ErrAway is what a store says that is away.
var ErrAway = errors.New("the store is away")

// Memory is a store of leases in memory; under testing/synctest its clock is
// that of the bubble.
type Memory struct {
	Lease time.Duration

	mu     sync.Mutex
	rows   map[int]lease.Row
	nodes  map[string]member
	seen   lease.Seen
	frozen chan struct{} // closed when it goes on; nil: it answers
	away   bool
	renews int
	hear   map[chan struct{}]bool
}

type member struct {
	node lease.Node
	ends time.Time
}

// NewMemory makes an empty store.
func NewMemory(length time.Duration) *Memory {
	return &Memory{Lease: length, rows: make(map[int]lease.Row), nodes: make(map[string]member), hear: make(map[chan struct{}]bool)}
}

// Wire is the way of one node to the store.
func (m *Memory) Wire() *Wire { return &Wire{m: m} }

// Wire is a lease.Wire that can be cut.
type Wire struct {
	m   *Memory
	mu  sync.Mutex
	cut bool
}

var _ lease.Wire = (*Wire)(nil)

// Cut has every call fail, or no longer.
func (w *Wire) Cut(off bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = off
}

// Freeze has every call wait until Thaw; leases end meanwhile.
func (m *Memory) Freeze() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frozen = make(chan struct{})
}

// Thaw ends Freeze.
func (m *Memory) Thaw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.frozen)
	m.frozen = nil
}

// Leap sets the clock of the store forward.
func (m *Memory) Leap(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, n := range m.nodes {
		n.ends = n.ends.Add(-d)
		m.nodes[id] = n
	}
}

// Away has every call fail, or no longer.
func (m *Memory) Away(off bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = off
}

// Forget empties the store.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.rows)
	clear(m.nodes)
	m.seen = lease.Seen{Nodes: uint64(time.Now().UnixNano())}
}

// Renews are the leases that were renewed so far.
func (m *Memory) Renews() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.renews
}

// enter waits as the store does and takes it.
func (w *Wire) enter(ctx context.Context) error {
	for {
		w.mu.Lock()
		cut := w.cut
		w.mu.Unlock()
		w.m.mu.Lock()
		if cut || w.m.away {
			w.m.mu.Unlock()
			return ErrAway
		}
		frozen := w.m.frozen
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
			w.m.seen.Nodes++
			w.m.tell()
		}
	}
	return nil
}

func (m *Memory) tell() {
	for c := range m.hear {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Renew implements lease.Wire.
func (w *Wire) Renew(ctx context.Context, self lease.Node, keep bool, seen lease.Seen) (news lease.News, err error) {
	if err = w.enter(ctx); err != nil {
		return news, err
	}
	m := w.m
	defer m.mu.Unlock()
	had, ok := m.nodes[self.ID]
	news.Lapsed = !ok
	if keep {
		m.renews++
		m.nodes[self.ID] = member{self, time.Now().Add(m.Lease)}
		if !ok || had.node != self {
			m.seen.Nodes++
			m.tell()
		}
	}
	news.Seen = m.seen
	if seen.Nodes != m.seen.Nodes {
		news.Nodes = []lease.Node{}
	}
	for id, n := range m.nodes {
		if seen.Nodes != m.seen.Nodes {
			news.Nodes = append(news.Nodes, n.node)
		}
		if left := time.Until(n.ends); id != self.ID && (news.Next == 0 || left < news.Next) {
			news.Next = left
		}
	}
	news.All, news.Summed = seen.Rows == 0, true
	for _, r := range m.rows {
		news.Sum += uint32(r.Rev)
		if news.All || r.Rev > seen.Rows {
			news.Rows = append(news.Rows, r)
		}
	}
	return news, nil
}

// Claim implements lease.Wire.
func (w *Wire) Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) (rows []lease.Row, err error) {
	if err = w.enter(ctx); err != nil {
		return nil, err
	}
	m := w.m
	defer m.mu.Unlock()
	if _, ok := m.nodes[self]; !ok {
		return nil, lease.ErrLapsed
	}
	for _, shard := range shards {
		owner := m.rows[shard].Token.Instance()
		if _, lives := m.nodes[owner]; owner != "" && owner != self && (lives || !ended) {
			continue
		}
		m.seen.Rows = max(m.seen.Rows+1, floor)
		m.rows[shard] = lease.Row{Shard: shard, Rev: m.seen.Rows, Token: newToken(m.seen.Rows, self)}
		rows = append(rows, m.rows[shard])
	}
	m.tell()
	return rows, nil
}

// Release implements lease.Wire.
func (w *Wire) Release(ctx context.Context, shard int, t lease.Token) (lease.Row, error) {
	if err := w.enter(ctx); err != nil {
		return lease.Row{}, err
	}
	m := w.m
	defer m.mu.Unlock()
	if m.rows[shard].Token == t {
		m.seen.Rows++
		m.rows[shard] = lease.Row{Shard: shard, Rev: m.seen.Rows, Token: newToken(t.Epoch(), "")}
		m.tell()
	}
	r := m.rows[shard]
	r.Shard = shard
	return r, nil
}

// Leave implements lease.Wire.
func (w *Wire) Leave(ctx context.Context, id string) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	defer w.m.mu.Unlock()
	delete(w.m.nodes, id)
	w.m.seen.Nodes++
	w.m.tell()
	return nil
}

// Notices implements lease.Wire.
func (w *Wire) Notices(ctx context.Context, each func()) error {
	c := make(chan struct{}, 1)
	w.m.mu.Lock()
	w.m.hear[c] = true
	w.m.mu.Unlock()
	defer func() {
		w.m.mu.Lock()
		delete(w.m.hear, c)
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

// Close implements lease.Wire.
func (w *Wire) Close() error { return nil }
