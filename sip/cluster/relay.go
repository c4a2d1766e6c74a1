// Package cluster relays SIP messages between the nodes of an installation (docs/adr/0077-sip-relay-between-nodes.md).
//
// The relaying node stores nothing about a call: its Via header carries the return path of the response.
package cluster

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	unknownRate         = 10  // messages per second of one source that no node knows
	unknownBurst        = 30  // burst of such a source
	unknownTotalRate    = 500 // messages per second of all such sources
	unknownLookupRate   = 200 // lookups per second for all such sources
	unknownOptionsRate  = 20  // OPTIONS per second of all such sources; each OPTIONS is a lookup
	knownSourceNodeRate = 200 // queries of other nodes per second for one known source
)

// OwnerQuery holds the fields of a request by which Config.Owner finds the node that owns the request.
type OwnerQuery struct {
	Method   string
	To       string // the called user, as in Incoming.To; for a REGISTER the account in its To
	From     string // the user in From, which is the account of a calling phone
	User     string // user that the credentials of a call or message name, unverified
	Mark     string // Config.NodeMark of the node that owns the dialog; "": not named
	InDialog bool   // the request belongs to a dialog that is not on this node
	CallID   string
	Source   transport.Source
	// MatchFields are the header parameters of a call or message that select a trunk (domain.TrunkMatch).
	MatchFields map[string]string
	// AllowQuery must be called before other nodes are queried. It returns false if the source has exceeded its rate of
	// such queries. If AllowQuery is nil, there is no limit.
	AllowQuery func() bool
}

// Config is the configuration of a Relay.
type Config struct {
	Key           []byte // shared by all nodes: key of the MACs in relay headers and return tokens
	NodeMark      Mark
	OverloadAfter time.Duration // an INVITE that waited longer is refused instead of relayed

	// Owner returns the address of the node that owns a request. Its second result, elsewhere, is false if this node
	// owns the request. If elsewhere is true and the address is invalid, no node owns the request now. Owner runs on
	// its own goroutine and may block for half a second. If Owner is nil, no request is relayed.
	Owner func(OwnerQuery) (netip.AddrPort, bool)
	// CachedOwner is called before Owner and must answer from memory. sure is false if the owner is not in the cache.
	// CachedOwner may be nil.
	CachedOwner func(OwnerQuery) (at netip.AddrPort, elsewhere, sure bool)

	Transport    *transport.Transport
	Resolver     *resolve.Resolver
	IsKnown      func(transport.Source) bool // whether a source is admitted, has a live dialog, or is a registered phone
	IsDispatcher func(netip.Addr) bool
	Serve        func(*transport.Received) // handles a request that belongs to this node
	Reject       func(m *transport.Received, code int)
	Recover      func(where string, then func()) // called by defer: recovers a panic of one message
}

// CheckConfig returns an error if Owner is set without a key, or if the node mark is invalid.
func CheckConfig(cfg *Config) error {
	if cfg.Owner != nil && len(cfg.Key) == 0 {
		return errors.New("sip: relaying requests needs a key: set RelayKey")
	}
	return cfg.NodeMark.check()
}

type counts struct {
	relayed, returned, lookups, forged                          atomic.Uint64
	refusedLate, refusedFull, rejected, malformed, rateExceeded atomic.Uint64
	transportErrors                                             atomic.Uint64
}

// Relay relays requests to the nodes that own them. A nil *Relay belongs to a single node and relays nothing.
type Relay struct {
	cfg            Config
	id             message.Identifiers // derived from the shared key
	macs           *sync.Pool          // of *sealMAC, keyed with the shared key
	unknown        *ratelimit.Limiter  // rate of each unknown source
	unknownTotal   *ratelimit.Limiter  // rate of all unknown sources together
	unknownLookups *ratelimit.Limiter
	unknownOptions *ratelimit.Limiter
	nodeQueries    *ratelimit.Limiter // rate of queries of other nodes, by known source
	remote         *remoteSources
	lookups        ownerLookups
	counts         counts
}

// New returns a relay; nil if the configuration has no key.
func New(cfg Config) *Relay {
	if len(cfg.Key) == 0 {
		return nil
	}
	return &Relay{
		cfg: cfg, id: message.NewIdentifiers(cfg.Key), macs: newSealMACs(cfg.Key), remote: newRemoteSources(), lookups: newOwnerLookups(),
		unknown: ratelimit.NewLimiter(unknownRate, unknownBurst), unknownTotal: ratelimit.NewLimiter(unknownTotalRate, unknownTotalRate),
		unknownLookups: ratelimit.NewLimiter(unknownLookupRate, unknownLookupRate), unknownOptions: ratelimit.NewLimiter(unknownOptionsRate, unknownOptionsRate),
		nodeQueries: ratelimit.NewLimiter(knownSourceNodeRate, knownSourceNodeRate),
	}
}

// hasLookups reports whether this relay looks up the owners of requests, because there may be other nodes.
func (r *Relay) hasLookups() bool { return r != nil && r.cfg.Owner != nil }

// KnowsSource reports whether another node has recently answered a source and therefore knows it.
func (r *Relay) KnowsSource(s transport.Source, now time.Time) bool {
	return r.hasLookups() && r.remote.has(s.Addr.Addr(), now)
}

// Admit reports whether a message of a source that this node does not know is parsed. Another node may know the source,
// so such messages are admitted within a rate.
func (r *Relay) Admit(b []byte, s transport.Source, now time.Time) bool {
	if !r.hasLookups() {
		return false
	}
	method, _, _ := bytes.Cut(b[:min(len(b), 16)], []byte(" "))
	if !slices.Contains(message.KnownMethods(), string(method)) {
		return false
	}
	if string(method) == message.MethodOptions { // most scans use OPTIONS
		return r.remote.has(s.Addr.Addr(), now) || r.unknown.Spend(s.Addr.Addr(), 1, now) && r.unknownOptions.Spend(netip.Addr{}, 1, now)
	}
	return r.AdmitConnection(s, now)
}

// AdmitConnection reports whether a source that this node does not know may connect. If no other node has answered the
// source, rates limit its connections.
func (r *Relay) AdmitConnection(s transport.Source, now time.Time) bool {
	return r.hasLookups() && (r.remote.has(s.Addr.Addr(), now) || r.unknown.Spend(s.Addr.Addr(), 1, now) && r.unknownTotal.Spend(netip.Addr{}, 1, now))
}

// HandleRequest relays a request that belongs to no dialog of this node, or starts the lookup of its owner. It returns
// false if this node has to handle the request itself.
func (r *Relay) HandleRequest(m *transport.Received) bool {
	if !r.hasLookups() || m.Relay != nil {
		return false
	}
	q, ok := r.queryOf(m)
	if !ok {
		return false
	}
	key := transactionKey{m.CallID, m.From.Tag, m.Branch(), m.CSeq}
	if r.lookups.running.Load() > 0 && r.lookups.enqueue(key, m) {
		return true
	}
	if r.cfg.CachedOwner != nil && q.Method != message.MethodOptions {
		if at, elsewhere, sure := r.cachedOwner(q); sure {
			return elsewhere && r.relayOrRefuse(m, at)
		}
	}
	r.lookUp(key, q, m)
	return true
}

// queryOf returns the query for the owner of a request. ok is false if the request can only belong to this node.
func (r *Relay) queryOf(m *transport.Received) (q OwnerQuery, ok bool) {
	if m.Version != "SIP/2.0" || m.RepeatedHeader != "" || m.CSeqMethod != m.Method || len(m.Vias) >= message.MaxVias {
		return q, false
	}
	own := string(r.cfg.NodeMark)
	q = OwnerQuery{Method: m.Method, To: message.URIUser(m.URI), From: message.URIUser(m.From.URI), CallID: m.CallID, Source: m.Source()}
	switch {
	case m.To.Tag != "" && m.Method != message.MethodCancel && m.Method != message.MethodRegister:
		q.InDialog, q.Mark = true, markOfDialog(&m.Message)
		return q, q.Mark == "" || q.Mark != own
	case m.Method == message.MethodRegister:
		q.To = message.URIUser(m.To.URI)
	case m.Method == message.MethodInvite:
		q.User, q.MatchFields = auth.ClaimedUser(&m.Message), m.MatchFields()
		if _, to, _, _, ok := message.ParseReplaces(m.HeaderValue("Replaces")); ok {
			q.Mark = markOfTag(to)
		}
		return q, q.Mark == "" || q.Mark != own
	case m.Method == message.MethodOptions: // answered here, once any node knows the source
		return q, r.isUnknown(m, time.Now()) && !r.cfg.IsDispatcher(m.Source().Addr.Addr())
	case m.Method == message.MethodMessage:
		q.User, q.MatchFields = auth.ClaimedUser(&m.Message), m.MatchFields()
	case m.Method != message.MethodCancel:
		return q, false
	}
	return q, true
}

// lookUp finds the owner of a request on a new goroutine. Then it relays, refuses or serves the request and the messages
// that have waited for the same lookup.
func (r *Relay) lookUp(key transactionKey, q OwnerQuery, m *transport.Received) {
	now := time.Now()
	unknown := r.isUnknown(m, now)
	if unknown && m.Method != message.MethodOptions && !r.unknownLookups.Spend(netip.Addr{}, 1, now) {
		r.counts.rateExceeded.Add(1)
		return
	}
	l := &ownerLookup{waiting: append(make([]*transport.Received, 0, 1), m.Clone()), unknown: unknown}
	if from := m.Source().Addr.Addr(); !unknown && !r.cfg.IsDispatcher(from) { // a dispatcher sends the calls of all callers
		l.subnet = ratelimit.Subnet(from)
		q.AllowQuery = func() bool { return r.nodeQueries.Spend(from, 1, time.Now()) }
	}
	if !r.lookups.start(key, l) {
		r.counts.refusedFull.Add(1)
		r.refuse(m)
		return
	}
	r.counts.lookups.Add(1)
	go func() {
		at, elsewhere := r.owner(q)
		for m := r.lookups.next(key, l); m != nil; m = r.lookups.next(key, l) {
			r.continueRequest(m, at, elsewhere)
		}
	}()
}

// isUnknown reports whether no node knows the source of a message.
func (r *Relay) isUnknown(m *transport.Received, now time.Time) bool {
	s := m.Source()
	return !r.cfg.IsKnown(s) && !r.remote.has(s.Addr.Addr(), now)
}

// continueRequest relays a request to the node that owns it, or serves it on this node. An OPTIONS is always served here.
func (r *Relay) continueRequest(m *transport.Received, at netip.AddrPort, elsewhere bool) {
	defer r.cfg.Recover("relay", nil)
	switch {
	case m.Method == message.MethodOptions && m.To.Tag == "":
		if elsewhere && at.IsValid() {
			r.remote.add(m.Source().Addr.Addr(), time.Now())
		}
	case elsewhere && r.relayOrRefuse(m, at):
		return
	}
	r.cfg.Serve(m)
}

// owner calls Config.Owner. If Config.Owner panics, the result is that no node owns the request.
func (r *Relay) owner(q OwnerQuery) (at netip.AddrPort, elsewhere bool) {
	defer r.cfg.Recover("elsewhere", func() { at, elsewhere = netip.AddrPort{}, true })
	return r.cfg.Owner(q)
}

func (r *Relay) cachedOwner(q OwnerQuery) (at netip.AddrPort, elsewhere, sure bool) {
	defer r.cfg.Recover("placed", func() { at, elsewhere, sure = netip.AddrPort{}, true, true })
	return r.cfg.CachedOwner(q)
}

// relayOrRefuse relays a request to its owner at an address. If no node owns the request, or an INVITE has waited too
// long on this node, a known source gets 503. The result is always true.
func (r *Relay) relayOrRefuse(m *transport.Received, at netip.AddrPort) bool {
	switch {
	case !at.IsValid():
		r.refuse(m)
	case m.Method == message.MethodInvite && m.QueueDelay > r.cfg.OverloadAfter:
		r.counts.refusedLate.Add(1)
		r.refuse(m)
	default:
		r.relayIn(m, at)
	}
	return true
}

// refuse answers 503 if any node knows the source.
func (r *Relay) refuse(m *transport.Received) {
	r.counts.rejected.Add(1)
	if m.Method != message.MethodAck && !r.isUnknown(m, time.Now()) {
		r.cfg.Reject(m, 503)
	}
}

// RelayCounters are the numbers of messages that the relay has relayed, refused or dropped since its start.
type RelayCounters struct {
	Relayed, Returned, Lookups, Forged uint64
	RefusedLate, RefusedFull, Rejected uint64
	Malformed, RateExceeded            uint64
	TransportErrors                    uint64
}

// Counters returns the counts since the start; zero for a single node.
func (r *Relay) Counters() RelayCounters {
	if r == nil {
		return RelayCounters{}
	}
	c := &r.counts
	return RelayCounters{
		Relayed: c.relayed.Load(), Returned: c.returned.Load(), Lookups: c.lookups.Load(), Forged: c.forged.Load(),
		RefusedLate: c.refusedLate.Load(), RefusedFull: c.refusedFull.Load(), Rejected: c.rejected.Load(),
		Malformed: c.malformed.Load(), RateExceeded: c.rateExceeded.Load(), TransportErrors: c.transportErrors.Load(),
	}
}
