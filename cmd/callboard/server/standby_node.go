package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// What one of several nodes does and tells whether it has work or not.

// startStandby lets SIP in at a node of an install with several shards, so that what
// comes to it is passed on before it has any work. Without a store of anybody it
// is the first seat that does. end waits until it is over.
func (m *node) startStandby(ctx context.Context) (end func()) {
	bound, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	if m.cfg.Shards > 1 {
		wait.Go(func() { m.runStandby(bound) })
	}
	return func() { cancel(); wait.Wait() }
}

func (m *node) runStandby(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Lease)
	defer tick.Stop()
	for failed := false; ; {
		m.mu.Lock()
		there := m.service != nil // a seat that cannot begin takes it along
		m.mu.Unlock()
		if !there {
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
	reader, err := persistence.NewReader(bound, m.driver, m.master)
	if err != nil {
		return err
	}
	m.reader.Store(reader)
	s := m.sharedService()
	s.building.Lock()
	if err = s.build(reader.Root()); err == nil {
		err = s.telephony.listen(s.run, s.ended)
	}
	s.building.Unlock()
	m.mu.Lock()
	m.startingShards--
	m.mu.Unlock()
	if err != nil {
		m.closeUnusedService(true)
	}
	return err
}

// drainSIP tells dispatchers in front that nothing is taken here any more, and
// nothing new passed on for long.
func (m *node) drainSIP() {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return
	}
	s.building.Lock()
	defer s.building.Unlock()
	if s.telephony != nil {
		s.telephony.sip.Drain(true)
	}
}
