package main

import (
	"context"
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"github.com/callboard/callboard/media/lend"
)

// soundForEach is how many calls' sound a node wants to carry for each processor:
// a quarter of it, with all that agents hear and say a half.
const soundForEach = 500

// soundBeat is how often two nodes say that they live while one has sound of the
// other: four that are missing end that, and machines stand still for tenths of a
// second.
const soundBeat = 250 * time.Millisecond

// soundLooks is how often a node looks which others live, and, when it stops,
// whether anything of theirs is left.
const soundLooks = 250 * time.Millisecond

// lendSound lets other nodes have the sound of calls of this one, and has that of
// theirs here.
func (s *service) lendSound() {
	if s.member == nil || s.cfg.Shards < 2 || !s.cfg.LendSound {
		return
	}
	m := s.member
	s.lender = lend.NewLender(lend.LenderConfig{Engine: s.engine, Load: s.soundLent, Host: s.soundHost, Spool: s.folder("lent"), Log: s.log})
	s.away = lend.NewPool(lend.PoolConfig{Dial: m.nodes.DialSound, Own: s.soundOwn, Mine: s.lender, Beat: soundBeat, Log: s.log})
}

// openSound lets other nodes come, and looks for them.
func (s *service) openSound() {
	if s.lender == nil {
		return
	}
	lender, door := s.lender, s.member.doors.Sound()
	go func() { _ = lender.Serve(door) }()
	go s.member.knows(s.run, s.away)
}

// knows tells who lives besides this node.
func (m *member) knows(ctx context.Context, pool *lend.Pool) {
	tick := time.NewTicker(soundLooks)
	defer tick.Stop()
	for {
		var others []string
		for _, n := range m.engine.Nodes() {
			if n.ID != m.self.ID && n.Addr != "" {
				others = append(others, n.Addr)
			}
		}
		pool.Nodes(others)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// keepSound ends that sound of calls goes between nodes.
func (s *service) keepSound() {
	if s.lender == nil {
		return
	}
	s.away.Close()
	s.lender.Close()
}

// lentOut is how many calls of other nodes have their sound here.
func (s *service) lentOut() int {
	if s.lender == nil {
		return 0
	}
	return s.lender.Live()
}

// soundOwn is how full this node is.
func (s *service) soundOwn() lend.Load {
	u := s.engine.Ports()
	most := s.cfg.SoundCalls
	if most == 0 {
		most = min(soundForEach*runtime.GOMAXPROCS(0), u.Pairs)
	}
	return lend.Load{Most: most, Live: u.Taken, Free: max(0, u.Pairs-u.Taken-u.Resting), Leaving: s.board.Drained()}
}

// soundLent is what it has for others.
func (s *service) soundLent() lend.Load {
	l := s.soundOwn()
	l.Free = s.room.Spare()
	return l
}

// soundHost is where a far end finds sound that is here; zero: at the public
// address.
func (s *service) soundHost(far netip.Addr) netip.Addr {
	if s.ua == nil {
		return netip.Addr{}
	}
	return s.ua.Host("udp", netip.AddrPortFrom(far, portUsual))
}

// portUsual is SIP's: which one it is does not matter to who is near.
const portUsual = 5060

// partSound tells other nodes that this one is to stop: the sound of their calls
// goes on elsewhere.
func (m *member) partSound() {
	if s := m.lends(); s != nil {
		s.lender.Leave()
	}
}

// lends is what the seats share where it has sound for others; nil: it has none.
func (m *member) lends() *service {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	s.building.Lock()
	defer s.building.Unlock()
	if s.lender == nil {
		return nil
	}
	return s
}

// awaitSound waits until it does.
func (m *member) awaitSound(ctx context.Context) {
	s := m.lends()
	if s == nil || s.lentOut() == 0 {
		return
	}
	m.log.Info("calls of other nodes have their sound here: it goes on elsewhere", slog.Int("calls", s.lentOut()))
	tick := time.NewTicker(soundLooks)
	defer tick.Stop()
	for s.lentOut() > 0 {
		select {
		case <-ctx.Done():
			m.log.Warn("calls of other nodes lose their sound", slog.Int("calls", s.lentOut()))
			return
		case <-tick.C:
		}
	}
}
