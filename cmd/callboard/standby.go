package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// What one of several nodes does and tells whether it has work or not.

// attend lets SIP in at a node of an install with several shards, so that what
// comes to it is passed on before it has any work. Without a store of anybody it
// is the first seat that does. end waits until it is over.
func (m *member) attend(ctx context.Context) (end func()) {
	bound, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if m.cfg.Shards > 1 {
		wait.Go(func() { m.attending(bound) })
	}
	return func() { cancel(); wait.Wait() }
}

func (m *member) attending(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Lease)
	defer tick.Stop()
	for failed := false; ; {
		m.mu.Lock()
		there := m.service != nil // a seat that cannot begin takes it along
		m.mu.Unlock()
		if !there {
			err := m.listen(ctx)
			if err != nil && !failed && !errors.Is(err, domain.ErrNotFound) {
				m.log.Warn("this node does not pass calls on yet", slog.Any("error", err))
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// listen lets SIP in, unless a seat has.
func (m *member) listen(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, goodbyeLimit)
	defer cancel()
	reader, err := persistence.NewReader(bound, m.driver, m.master)
	if err != nil {
		return err
	}
	m.reader.Store(reader)
	s := m.process()
	s.building.Lock()
	if err = s.build(reader.Root()); err == nil {
		err = s.listen()
	}
	s.building.Unlock()
	m.mu.Lock()
	m.rising--
	m.mu.Unlock()
	if err != nil {
		m.clear(true)
	}
	return err
}

// leaves tells dispatchers in front that nothing is taken here any more, and
// nothing new passed on for long.
func (m *member) leaves() {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return
	}
	s.building.Lock()
	defer s.building.Unlock()
	if s.ua != nil {
		s.ua.Drain(true)
	}
}

// working is what the seats share, once it is open; nil: the node has had no work
// yet, or has none any more.
func (m *member) working() *service {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.service != nil && m.service.opened.Load() {
		return m.service
	}
	return nil
}

// count is counter.
func (m *member) count(ctx context.Context) (counters, error) {
	if s := m.working(); s != nil {
		return s.count(ctx)
	}
	return counters{Process: countProcess()}, nil
}

// read is what the meters tell at each reading: what the work does, and who has
// how much of it.
func (m *member) read(ctx context.Context) (values []metrics.Value, err error) {
	if s := m.working(); s != nil {
		values, err = s.read(ctx)
	} else if disk, unread := vfs.Default.GetDiskUsage(m.cfg.Data); unread == nil {
		values = append(values, metrics.Value{Name: diskFree, Help: diskFreeHelp, Value: float64(disk.AvailBytes)})
	}
	here, nobodys := 0, 0
	for shard := range m.cfg.Shards {
		if n, ok := m.engine.Owner(shard); !ok {
			nobodys++
		} else if n.ID == m.self.ID {
			here++
		}
	}
	nodes, draining := m.engine.Nodes(), 0
	for i := range nodes {
		if nodes[i].Draining {
			draining++
		}
	}
	return append(values, shares(len(nodes), draining, here, nobodys)...), err
}

// shares are the meters of who has how much of the work.
func shares(nodes, draining, here, nobodys int) []metrics.Value {
	return []metrics.Value{
		{Name: "callboard_nodes", Help: "Nodes that live, as this one sees them.", Value: float64(nodes)},
		{Name: "callboard_nodes_draining", Help: "Of these: they give their work away.", Value: float64(draining)},
		{Name: "callboard_shards", Help: "Parts of the work that this node has.", Value: float64(here)},
		{Name: "callboard_shards_free", Help: "Parts of the work that nobody has, as this node sees it.", Value: float64(nobodys)},
	}
}
