package webhook

import (
	"sync"

	"github.com/callboard/callboard/domain/hook"
)

// defaultSlots are those of a gate of which nobody says how large it is.
const defaultSlots = 2048

// Gate bounds what a process sends at once, over all workspaces, and divides it
// by hook.Shares. It is safe for concurrent use; an endpoint's actor never
// waits in it: who gets no slot is told when there is one.
type Gate struct {
	mu    sync.Mutex
	lanes [hook.Lanes]*hook.Shares
	seats map[[2]string]*seat // of the newest incarnation
}

// NewGate makes a gate of so many slots, hook.MinSlots at least; 0: 2048.
func NewGate(slots int) *Gate {
	if slots == 0 {
		slots = defaultSlots
	}
	g := &Gate{seats: make(map[[2]string]*seat)}
	for l := range g.lanes {
		g.lanes[l] = hook.NewShares(hook.Lane(l).Slots(slots))
	}
	return g
}

// Busy is how many requests are under way.
func (g *Gate) Busy() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.lanes {
		n += s.Used()
	}
	return n
}

// seat is one incarnation of an endpoint at the gate.
type seat struct {
	gate          *Gate
	workspace, id string
	tell          func() // that it was given what it waits for

	granted [hook.Lanes]int // not yet used
	over    bool
}

func (g *Gate) sit(workspace, id string, tell func()) *seat {
	s := &seat{gate: g, workspace: workspace, id: id, tell: tell}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seats[[2]string{workspace, id}] = s
	return s
}

// take takes a slot; where there is none, tell says when to come again.
func (s *seat) take(l hook.Lane) bool {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	if s.over {
		return false
	}
	if s.granted[l] > 0 {
		s.granted[l]--
		return true
	}
	return s.gate.lanes[l].Take(s.workspace, s.id)
}

// try takes a slot or does without.
func (s *seat) try(l hook.Lane) bool {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return !s.over && s.gate.lanes[l].Try(s.workspace, s.id)
}

// give returns a slot that was taken.
func (s *seat) give(l hook.Lane) {
	s.gate.mu.Lock()
	s.gate.lanes[l].Give(s.workspace, s.id)
	s.gate.serve(l)
}

// leave: nothing is to be sent in this lane; what was waited for, or is given
// already, goes to others.
func (s *seat) leave(l hook.Lane) {
	s.gate.mu.Lock()
	s.quit(l)
	s.gate.serve(l)
}

// close ends an incarnation. Slots that it has taken are given by whoever took
// them.
func (s *seat) close() {
	g := s.gate
	g.mu.Lock()
	s.over = true
	if at := [2]string{s.workspace, s.id}; g.seats[at] == s {
		delete(g.seats, at)
	}
	g.mu.Unlock()
	for l := range g.lanes {
		s.leave(hook.Lane(l))
	}
}

func (s *seat) quit(l hook.Lane) {
	lane := s.gate.lanes[l]
	for ; s.granted[l] > 0; s.granted[l]-- {
		lane.Give(s.workspace, s.id)
	}
	if now := s.gate.seats[[2]string{s.workspace, s.id}]; now == s || now == nil {
		lane.Drop(s.workspace, s.id)
	}
}

// serve hands out what is free and lets go of the lock.
func (g *Gate) serve(l hook.Lane) {
	var told []*seat
	for {
		workspace, id, ok := g.lanes[l].Next()
		if !ok {
			break
		}
		s := g.seats[[2]string{workspace, id}]
		if s == nil { // it ended
			g.lanes[l].Give(workspace, id)
			continue
		}
		s.granted[l]++
		told = append(told, s)
	}
	g.mu.Unlock()
	for _, s := range told {
		s.tell()
	}
}
