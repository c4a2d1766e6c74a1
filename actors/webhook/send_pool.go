package webhook

import (
	"slices"
	"sync"
)

const (
	defaultSends = 2048 // requests at once, if the configuration names no number
	endpointMost = 8    // requests to one endpoint at once
	oneKindMost  = 6    // of these, first attempts; and retries likewise, so that neither delays the other
)

// sendKind is what a request is sent for.
type sendKind int

const (
	sendFirst sendKind = iota // a first attempt to an endpoint that answers
	sendAgain                 // a retry, or a first attempt to an endpoint whose last attempt failed
	sendKinds int      = iota
)

// SendPool bounds the webhook requests of a process that are under way at once. A workspace has at most half of them,
// retries and requests to failing endpoints have a quarter, and an endpoint has 8. It is safe for concurrent use. The
// actor of an endpoint never waits in it: an endpoint that gets no slot is told when there is one.
type SendPool struct {
	limit int

	mu         sync.Mutex
	used       int
	again      int // of these, for sendAgain
	workspaces map[string]int
	waiting    map[queueKey][]*sendSlots
	turns      []queueKey // of the queues that are not empty: the next one comes first
}

type queueKey struct {
	workspace string
	kind      sendKind
}

// NewSendPool makes a pool for so many requests at once; 0: 2048.
func NewSendPool(limit int) *SendPool {
	if limit == 0 {
		limit = defaultSends
	}
	return &SendPool{limit: max(limit, 4), workspaces: make(map[string]int), waiting: make(map[queueKey][]*sendSlots)}
}

// ActiveRequests is how many requests are under way.
func (p *SendPool) ActiveRequests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// sendSlots are those of one incarnation of an endpoint.
type sendSlots struct {
	pool      *SendPool
	workspace string
	tell      func() // that it was given the slot that it waits for

	used    int
	granted [sendKinds]int // not used yet
	waits   [sendKinds]bool
	closed  bool
}

func (p *SendPool) open(workspace string, tell func()) *sendSlots {
	return &sendSlots{pool: p, workspace: workspace, tell: tell}
}

// takeOrWait takes a slot. Without one the endpoint is told when it is granted, or finds one after the end of a request of its own.
func (s *sendSlots) takeOrWait(k sendKind) bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	switch {
	case s.closed:
		return false
	case s.granted[k] > 0:
		s.granted[k]--
		return true
	case s.pool.acquire(s, k):
		return true
	case s.used < endpointMost && !s.waits[k]:
		s.pool.wait(s, k)
	}
	return false
}

// takeFree takes a slot if one is free; it never waits.
func (s *sendSlots) takeFree(k sendKind) bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return !s.closed && s.pool.acquire(s, k)
}

// give returns a slot.
func (s *sendSlots) give(k sendKind) {
	s.pool.mu.Lock()
	s.pool.release(s, k)
	s.pool.grantAndUnlock()
}

// leave ends a wait, and returns what was granted and is not used.
func (s *sendSlots) leave(k sendKind) {
	s.pool.mu.Lock()
	s.pool.drop(s, k)
	s.pool.grantAndUnlock()
}

// close ends an incarnation. Slots that are in use are returned by give.
func (s *sendSlots) close() {
	s.pool.mu.Lock()
	s.closed = true
	for k := range sendKinds {
		s.pool.drop(s, sendKind(k))
	}
	s.pool.grantAndUnlock()
}

// isFree tells whether an endpoint may have one more slot.
func (p *SendPool) isFree(s *sendSlots, k sendKind) bool {
	return p.used < p.limit && p.workspaces[s.workspace] < p.limit/2 && s.used < endpointMost && (k != sendAgain || p.again < p.limit/4)
}

func (p *SendPool) acquire(s *sendSlots, k sendKind) bool {
	if !p.isFree(s, k) {
		return false
	}
	p.used++
	p.workspaces[s.workspace]++
	s.used++
	if k == sendAgain {
		p.again++
	}
	return true
}

func (p *SendPool) release(s *sendSlots, k sendKind) {
	p.used--
	s.used--
	if p.workspaces[s.workspace]--; p.workspaces[s.workspace] == 0 {
		delete(p.workspaces, s.workspace)
	}
	if k == sendAgain {
		p.again--
	}
}

func (p *SendPool) wait(s *sendSlots, k sendKind) {
	key := queueKey{s.workspace, k}
	s.waits[k] = true
	if len(p.waiting[key]) == 0 {
		p.turns = append(p.turns, key)
	}
	p.waiting[key] = append(p.waiting[key], s)
}

// drop ends a wait and releases what was granted.
func (p *SendPool) drop(s *sendSlots, k sendKind) {
	for ; s.granted[k] > 0; s.granted[k]-- {
		p.release(s, k)
	}
	if !s.waits[k] {
		return
	}
	s.waits[k] = false
	key := queueKey{s.workspace, k}
	p.setQueue(key, slices.DeleteFunc(p.waiting[key], func(x *sendSlots) bool { return x == s }))
}

func (p *SendPool) setQueue(key queueKey, queue []*sendSlots) {
	if len(queue) > 0 {
		p.waiting[key] = queue
		return
	}
	delete(p.waiting, key)
	p.turns = slices.DeleteFunc(p.turns, func(x queueKey) bool { return x == key })
}

// grantAndUnlock grants free slots to endpoints that wait: to one of each workspace in turn.
func (p *SendPool) grantAndUnlock() {
	var told []*sendSlots
	for n := len(p.turns); n > 0 && p.used < p.limit; n-- {
		key := p.turns[0]
		p.turns = append(p.turns[1:], key)
		if p.workspaces[key.workspace] >= p.limit/2 {
			continue
		}
		queue := p.waiting[key]
		at := slices.IndexFunc(queue, func(s *sendSlots) bool { return p.acquire(s, key.kind) })
		if at < 0 {
			continue
		}
		s := queue[at]
		s.waits[key.kind] = false
		s.granted[key.kind]++
		p.setQueue(key, slices.Delete(queue, at, at+1))
		told = append(told, s)
		n = len(p.turns) + 1
	}
	p.mu.Unlock()
	for _, s := range told {
		s.tell()
	}
}
