package webhook

import (
	"slices"
	"sync"
)

const (
	defaultSends   = 2048 // default of concurrent requests
	maxPerEndpoint = 8    // concurrent requests to one endpoint
	maxPerKind     = 6    // concurrent first attempts to one endpoint, and likewise retries, so that neither delays the other
)

// sendKind is the kind of webhook request for which a slot of the send pool is used.
type sendKind int

const (
	sendFirst sendKind = iota // a first attempt to a healthy endpoint
	sendRetry                 // a retry, or a first attempt to an endpoint whose last attempt failed
	sendKinds int      = iota
)

// SendPool limits the concurrent webhook requests of a process. A workspace may use half of the slots, and an endpoint
// 8 slots. Retries and failing endpoints together may use a quarter. Endpoint actors never block: an endpoint that
// gets no slot is notified later. It is safe for concurrent use.
type SendPool struct {
	limit int

	mu         sync.Mutex
	used       int
	retries    int // number of used slots of kind sendRetry
	workspaces map[string]int
	waiting    map[queueKey][]*sendSlots
	rotation   []queueKey // non-empty queues in round-robin order
}

type queueKey struct {
	workspace string
	kind      sendKind
}

// NewSendPool returns a pool that allows limit concurrent requests. A limit of 0 means 2048.
func NewSendPool(limit int) *SendPool {
	if limit == 0 {
		limit = defaultSends
	}
	return &SendPool{limit: max(limit, 4), workspaces: make(map[string]int), waiting: make(map[queueKey][]*sendSlots)}
}

// ActiveRequests returns the number of slots in use.
func (p *SendPool) ActiveRequests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// sendSlots are the slots of the pool that one incarnation of an endpoint uses or waits for.
type sendSlots struct {
	pool      *SendPool
	workspace string
	notify    func() // called when a slot that the endpoint waits for is granted

	used    int
	granted [sendKinds]int // number of slots granted and not used yet
	waits   [sendKinds]bool
	closed  bool
}

func (p *SendPool) newSlots(workspace string, notify func()) *sendSlots {
	return &sendSlots{pool: p, workspace: workspace, notify: notify}
}

// takeOrWait takes a slot and returns true. If no slot is free, it returns false, and the pool notifies the endpoint
// when it grants one. An endpoint with the maximum number of slots does not wait in the pool.
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
	case s.used < maxPerEndpoint && !s.waits[k]:
		s.pool.wait(s, k)
	}
	return false
}

// takeFree takes a slot if one is free. It never waits.
func (s *sendSlots) takeFree(k sendKind) bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	return !s.closed && s.pool.acquire(s, k)
}

// giveBack returns a slot to the pool after a request.
func (s *sendSlots) giveBack(k sendKind) {
	s.pool.mu.Lock()
	s.pool.release(s, k)
	s.pool.grantAndUnlock()
}

// cancelWait removes the endpoint from the waiting queue and returns slots that were granted but not used.
func (s *sendSlots) cancelWait(k sendKind) {
	s.pool.mu.Lock()
	s.pool.removeWaiting(s, k)
	s.pool.grantAndUnlock()
}

// close ends the use of the pool by an incarnation. Its running requests still return their slots with giveBack.
func (s *sendSlots) close() {
	s.pool.mu.Lock()
	s.closed = true
	for k := range sendKinds {
		s.pool.removeWaiting(s, sendKind(k))
	}
	s.pool.grantAndUnlock()
}

// hasRoom reports whether the limits of the pool allow an endpoint one more slot.
func (p *SendPool) hasRoom(s *sendSlots, k sendKind) bool {
	return p.used < p.limit && p.workspaces[s.workspace] < p.limit/2 && s.used < maxPerEndpoint && (k != sendRetry || p.retries < p.limit/4)
}

func (p *SendPool) acquire(s *sendSlots, k sendKind) bool {
	if !p.hasRoom(s, k) {
		return false
	}
	p.used++
	p.workspaces[s.workspace]++
	s.used++
	if k == sendRetry {
		p.retries++
	}
	return true
}

func (p *SendPool) release(s *sendSlots, k sendKind) {
	p.used--
	s.used--
	if p.workspaces[s.workspace]--; p.workspaces[s.workspace] == 0 {
		delete(p.workspaces, s.workspace)
	}
	if k == sendRetry {
		p.retries--
	}
}

func (p *SendPool) wait(s *sendSlots, k sendKind) {
	key := queueKey{s.workspace, k}
	s.waits[k] = true
	if len(p.waiting[key]) == 0 {
		p.rotation = append(p.rotation, key)
	}
	p.waiting[key] = append(p.waiting[key], s)
}

// removeWaiting removes an endpoint from the waiting queue and releases slots that were granted but not used.
func (p *SendPool) removeWaiting(s *sendSlots, k sendKind) {
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
	p.rotation = slices.DeleteFunc(p.rotation, func(x queueKey) bool { return x == key })
}

// grantAndUnlock grants free slots to waiting endpoints. The workspaces take turns. It unlocks the pool before it
// notifies the endpoints.
func (p *SendPool) grantAndUnlock() {
	var notified []*sendSlots
	for n := len(p.rotation); n > 0 && p.used < p.limit; n-- {
		key := p.rotation[0]
		p.rotation = append(p.rotation[1:], key)
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
		notified = append(notified, s)
		n = len(p.rotation) + 1
	}
	p.mu.Unlock()
	for _, s := range notified {
		s.notify()
	}
}
