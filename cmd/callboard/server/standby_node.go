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

// What one of several nodes does and tells whether it has work or not.

// startStandby lets SIP in at a node of an install with several shards, so that what
// comes to it is passed on before it has any work. Without a store of anybody it
// is the first seat that does. end waits until it is over.
func (m *node) startStandby(ctx context.Context) (end func()) {
	bound, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if m.cfg.Node.Shards > 1 {
		wait.Go(func() { m.runStandby(bound) })
	}
	return func() { cancel(); wait.Wait() }
}

func (m *node) runStandby(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Node.LeaseDuration)
	defer tick.Stop()
	for failed := false; ; {
		if m.shards.currentService() == nil { // none yet, or one that was closed with a shard that could not start
			err := m.listenSIP(ctx)
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

// listenSIP lets SIP in, unless a seat has.
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

// shareSIP lets the user agent forward requests that other nodes own.
func (m *node) shareSIP(c *sip.Config) {
	if m.cfg.Node.Shards < 2 {
		return
	}
	w := location.New(m.cluster)
	c.Owner, c.CachedOwner, c.IsIsolated = w.Find, w.FindCached, m.holder.IsIsolated
	c.RelayKey, c.NodeMark = datafolder.DeriveKey(m.masterKey, "callboard relay"), location.NodeMark(m.self)
}

// drainSIP tells dispatchers in front that nothing is taken here any more, and
// nothing new passed on for long.
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
