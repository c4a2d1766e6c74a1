package server

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// startShard starts a shard whose lease this node has acquired.
func (m *node) startShard(ctx context.Context, number int, t lease.Token) error {
	began := time.Now()
	c := &ownedShard{shard: &shard{number: number, token: t}}
	m.recordHeartbeat(c)
	err := m.shards.beginStart().startShard(ctx, c.shard)
	if err == nil {
		m.recordHeartbeat(c) // the start may have taken long
	}
	if err != nil {
		m.shards.endStart(nil)
		m.log.Error("a shard could not be started: another node may try", slog.Int("shard", number), slog.Any("error", err))
		if ctx.Err() == nil && len(m.shards.all()) == 0 { // a node with other shards keeps them and retries this shard alone
			m.backoff.fail(m.cfg.Node.LeaseDuration, time.Since(m.startedAt))
		}
		m.shards.closeUnused(true)
		return err
	}
	m.shards.endStart(c)
	m.backoff.succeed()
	go m.watchHeartbeat(c)
	m.log.Info("this node owns the shard", slog.Int("shard", number), slog.String("token", string(t)), slog.Duration("after", time.Since(began).Round(time.Millisecond)))
	c.printFirstKey()
	return nil
}

// newService creates the Service that the shards of this node share, and opens nothing yet.
func (m *node) newService() *Service {
	s := newService(context.Background(), m.cfg, m.log, Options{Version: m.version})
	s.node, s.driver, s.metrics = m, m.driver, m.metrics
	s.HTTPAddr = netip.MustParseAddrPort(m.http.clientListener.Addr().String())
	go m.watchService(s)
	return s
}

// watchService ends the process when a component that all shards share has ended.
func (m *node) watchService(s *Service) {
	select {
	case err := <-s.ended:
		if err == nil {
			err = errors.New("a listener ended")
		}
		m.endProcess(err)
	case <-s.processCtx.Done():
	}
}
