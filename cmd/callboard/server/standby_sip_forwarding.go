package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/cmd/callboard/server/location"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/sip"
)

// startStandby starts a task that opens SIP on a node of a cluster with several shards, so that the node can forward
// calls before it owns a shard. If the store is empty, the first shard opens SIP instead. end stops the task and waits
// for it.
func (m *node) startStandby(ctx context.Context) (end func()) {
	bound, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if m.cfg.Node.Shards > 1 {
		wait.Go(func() { m.runStandby(bound) })
	}
	return func() { cancel(); wait.Wait() }
}

// runStandby opens SIP whenever the shared service does not exist: before the first shard starts, or after a failed
// start.
func (m *node) runStandby(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Node.LeaseDuration)
	defer tick.Stop()
	for failed := false; ; {
		if m.shards.currentService() == nil { // not started yet, or closed after a failed start of a shard
			err := m.listenSIP(ctx)
			if err != nil && !failed && !errors.Is(err, domain.ErrNotFound) {
				m.log.Warn("this node cannot forward calls yet", slog.Any("error", err))
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

// listenSIP creates the shared service and opens its SIP listeners, unless a shard has already done so.
func (m *node) listenSIP(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, membership.LeaveTimeout)
	defer cancel()
	reader, err := persistence.NewReader(bound, m.driver, m.masterKey)
	if err != nil {
		return err
	}
	m.cluster.reader.Store(reader)
	s := m.shards.beginStart()
	s.sharedMu.Lock()
	if err = s.openShared(reader.RootKey()); err == nil {
		err = s.telephony.listen(s.processCtx, s.ended)
	}
	s.sharedMu.Unlock()
	m.shards.endStart(nil)
	if err != nil {
		m.shards.closeUnused(true)
	}
	return err
}

// shareSIP configures the user agent to forward requests that other nodes own.
func (m *node) shareSIP(c *sip.Config) {
	if m.cfg.Node.Shards < 2 {
		return
	}
	w := location.New(m.cluster)
	c.Owner, c.CachedOwner, c.IsIsolated = w.Find, w.FindCached, m.holder.IsIsolated
	c.RelayKey, c.NodeMark = datafolder.DeriveKey(m.masterKey, "callboard relay"), location.NodeMark(m.self)
}

// drainSIP makes the user agent refuse new calls, which tells load balancers to use another node.
func (m *node) drainSIP() {
	s := m.shards.currentService()
	if s == nil {
		return
	}
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	if s.telephony != nil {
		s.telephony.sip.Drain(true)
	}
}
