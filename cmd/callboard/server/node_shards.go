package server

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// startShard takes a shard up.
func (m *node) startShard(ctx context.Context, number int, t lease.Token) error {
	began := time.Now()
	c := &ownedShard{shard: &shard{number: number, token: t}}
	m.noteHeartbeat(c)
	err := m.sharedService().startShard(ctx, c.shard)
	if err == nil {
		m.noteHeartbeat(c) // the start may have been long
	}
	m.mu.Lock()
	if m.startingShards--; err == nil {
		m.shards[number] = c
	}
	m.mu.Unlock()
	if err != nil {
		m.log.Error("this node cannot take the work up: another one may try", slog.Int("shard", number), slog.Any("error", err))
		if ctx.Err() == nil && len(m.runningShards()) == 0 { // one that has other seats keeps them: the shard alone is tried again
			m.backoff.fail(m.cfg.Lease, time.Since(m.born))
		}
		m.closeUnusedService(true)
		return err
	}
	m.backoff.succeed()
	go m.watchShard(c)
	m.log.Info("this node has the work", slog.Int("shard", number), slog.String("token", string(t)), slog.Duration("after", time.Since(began).Round(time.Millisecond)))
	c.printFirstKey()
	return nil
}

// sharedService is what all seats share, for one that is being made; the first of
// them builds it.
func (m *node) sharedService() *Service {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.startingShards++
	if m.service == nil {
		m.service = newService(context.Background(), m.cfg, m.log, Options{Version: m.version})
		m.service.node, m.service.driver, m.service.meters = m, m.driver, m.meters
		m.service.Front = netip.MustParseAddrPort(m.http.clientListener.Addr().String())
		go m.watchService(m.service)
	}
	return m.service
}

// takesCalls says whether a shard's seat is here and takes calls.
func (m *node) takesCalls(shard int) bool {
	m.mu.Lock()
	c := m.shards[shard]
	m.mu.Unlock()
	return c != nil && !c.handingOver.Load()
}

// runningShards are the seats of this node.
func (m *node) runningShards() []*shard {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.shards.all()
}

// watchService ends the process where something that all seats share has ended.
func (m *node) watchService(s *Service) {
	select {
	case err := <-s.ended:
		if err == nil {
			err = errors.New("a listener ended")
		}
		m.end(err)
	case <-s.run.Done():
	}
}

// closeUnusedService ends what the seats have shared, once there is none: where the install
// has one shard, for nobody else's calls come here then, and where it could not
// be built. With several shards SIP stays open otherwise, for what comes to
// other nodes.
func (m *node) closeUnusedService(failed bool) {
	m.mu.Lock()
	s := m.service
	if m.cfg.Shards > 1 && !failed || len(m.shards)+m.startingShards > 0 || s == nil {
		m.mu.Unlock()
		return
	}
	m.service = nil
	m.mu.Unlock()
	s.Close()
}
