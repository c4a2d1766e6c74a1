package cluster

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/callboard/callboard/sip/transport"
)

const (
	maxLookups          = 512 // at a time, of unknown sources a quarter
	maxLookupsPerSubnet = 128 // of those for one known source, unless it is a dispatcher
	maxWaiting          = 4   // messages of one transaction that wait for its lookup
)

// transactionKey is shared by an INVITE, its CANCEL and the ACK to its refusal.
type transactionKey struct {
	callID, tag, branch string
	cseq                uint32
}

// ownerLookup is a running lookup with the messages that wait for it.
type ownerLookup struct {
	waiting []*transport.Received
	unknown bool
	subnet  netip.Addr // its share counts the lookup; invalid: none
}

// ownerLookups are the running lookups of the nodes that own requests, bounded in all and for each source.
type ownerLookups struct {
	running       atomic.Int64
	mu            sync.Mutex
	byTransaction map[transactionKey]*ownerLookup
	unknown       int // of unknown sources
	bySubnet      map[netip.Addr]int
}

func newOwnerLookups() ownerLookups {
	return ownerLookups{byTransaction: make(map[transactionKey]*ownerLookup), bySubnet: make(map[netip.Addr]int)}
}

// start adds a lookup; false: there are too many.
func (o *ownerLookups) start(key transactionKey, l *ownerLookup) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.byTransaction) >= maxLookups || l.unknown && o.unknown >= maxLookups/4 || o.bySubnet[l.subnet] >= maxLookupsPerSubnet {
		return false
	}
	o.byTransaction[key] = l
	if l.unknown {
		o.unknown++
	}
	if l.subnet.IsValid() {
		o.bySubnet[l.subnet]++
	}
	o.running.Add(1)
	return true
}

// enqueue lets a message wait for the lookup of its transaction; false: none is running. A
// retransmission of a message that waits already is dropped.
func (o *ownerLookups) enqueue(key transactionKey, m *transport.Received) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.byTransaction[key]
	if l == nil {
		return false
	}
	if len(l.waiting) < maxWaiting && !slices.ContainsFunc(l.waiting, func(w *transport.Received) bool { return w.Method == m.Method }) {
		l.waiting = append(l.waiting, m.Clone())
	}
	return true
}

// next is the first message that waits for a lookup; nil ends the lookup.
func (o *ownerLookups) next(key transactionKey, l *ownerLookup) *transport.Received {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(l.waiting) == 0 {
		delete(o.byTransaction, key)
		if l.unknown {
			o.unknown--
		}
		if o.bySubnet[l.subnet]--; o.bySubnet[l.subnet] <= 0 {
			delete(o.bySubnet, l.subnet)
		}
		o.running.Add(-1)
		return nil
	}
	m := l.waiting[0]
	l.waiting = l.waiting[1:]
	return m
}
