package cluster

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/callboard/callboard/sip/transport"
)

const (
	maxLookups          = 512 // concurrent lookups; a quarter of them for unknown sources
	maxLookupsPerSubnet = 128 // lookups for one known source, unless it is a dispatcher
	maxWaiting          = 4   // messages of one transaction that wait for its lookup
)

// transactionKey has the same value for an INVITE, its CANCEL, and the ACK of a final response other than 2xx.
type transactionKey struct {
	callID, tag, branch string
	cseq                uint32
}

// ownerLookup is a running lookup of the node that owns a transaction, with the messages that wait for the result.
type ownerLookup struct {
	waiting []*transport.Received
	unknown bool
	subnet  netip.Addr // subnet whose share the lookup counts against; invalid: none
}

// ownerLookups are the running lookups of owner nodes, bounded in total and for each source.
type ownerLookups struct {
	running       atomic.Int64
	mu            sync.Mutex
	byTransaction map[transactionKey]*ownerLookup
	unknown       int // number of lookups for unknown sources
	bySubnet      map[netip.Addr]int
}

func newOwnerLookups() ownerLookups {
	return ownerLookups{byTransaction: make(map[transactionKey]*ownerLookup), bySubnet: make(map[netip.Addr]int)}
}

// start adds a lookup. It returns false if too many lookups are running.
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

// enqueue adds a message to the running lookup of its transaction. It returns false if no such lookup is running. A
// retransmission of a waiting message is dropped.
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

// next removes and returns the first message that waits for a lookup. If no message waits, next ends the lookup and
// returns nil.
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
