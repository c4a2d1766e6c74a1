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

// OwnerQuery asks which node owns a request.
type OwnerQuery struct {
	Method   string
	To       string // the called user, as in Incoming.To; for a REGISTER the account in its To
	From     string // the user in From, which is the account of a calling phone
	User     string // user that the credentials of a call or message name, unverified
	Mark     string // Config.NodeMark of the node that owns the dialog; "": not named
	InDialog bool   // the request belongs to a dialog that is not on this node
	CallID   string
	Source   transport.Source
	// MatchFields are those of a call or a message, as in Incoming.
	MatchFields map[string]string
	// AllowQuery takes one query of other nodes from the rate of the source. It returns false if the rate is
	// exceeded. nil: no limit.
	AllowQuery func() bool
}

// Config is the configuration of a Relay.
type Config struct {
	Key           []byte // shared by all nodes: authenticates what they state about relayed messages
	NodeMark      Mark
	OverloadAfter time.Duration // an INVITE that waited longer is refused instead of relayed

	// Owner returns the node that owns a request; elsewhere false: this node. elsewhere true without an address: no
	// node owns the request now. Owner may block for half a second and is called on a goroutine of its own. nil: no
	// lookups.
	Owner func(OwnerQuery) (netip.AddrPort, bool)
	// CachedOwner is called before Owner and must answer from memory. sure false: the owner is not known. May be
	// nil.
	CachedOwner func(OwnerQuery) (at netip.AddrPort, elsewhere, sure bool)

	Transport    *transport.Transport
	Resolver     *resolve.Resolver
	IsKnown      func(transport.Source) bool // whether a source is admitted, has a live dialog, or is a registered phone
	IsDispatcher func(netip.Addr) bool
	Serve        func(*transport.Received) // handles a request that belongs to this node
	Reject       func(m *transport.Received, code int)
	Recover      func(where string, then func()) // called by defer: recovers a panic of one message
}

// CheckConfig refuses lookups without a key, and a mark that cannot be part of a tag.
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

// New returns a relay; nil without a key.
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

// hasLookups reports whether a message may belong to another node.
func (r *Relay) hasLookups() bool { return r != nil && r.cfg.Owner != nil }

// KnowsSource reports whether another node has answered a source.
func (r *Relay) KnowsSource(s transport.Source, now time.Time) bool {
	return r.hasLookups() && r.remote.has(s.Addr.Addr(), now)
}

// Admit reports whether a message of a source is parsed because another node may know the source.
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

// AdmitConnection reports whether a source that this node does not know may connect, within its rate.
func (r *Relay) AdmitConnection(s transport.Source, now time.Time) bool {
	return r.hasLookups() && (r.remote.has(s.Addr.Addr(), now) || r.unknown.Spend(s.Addr.Addr(), 1, now) && r.unknownTotal.Spend(netip.Addr{}, 1, now))
}

// HandleRequest relays a request outside of this node's dialogs, or starts the lookup of its node. It returns false
// if the request belongs to this node or to none.
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

// queryOf returns the query for a request. ok is false if the request can only belong to this node.
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

// lookUp looks up the node of a request on a goroutine of its own.
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

// continueRequest handles a request after its node was looked up.
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

// owner calls Config.Owner. After a panic no node owns the request.
func (r *Relay) owner(q OwnerQuery) (at netip.AddrPort, elsewhere bool) {
	defer r.cfg.Recover("elsewhere", func() { at, elsewhere = netip.AddrPort{}, true })
	return r.cfg.Owner(q)
}

func (r *Relay) cachedOwner(q OwnerQuery) (at netip.AddrPort, elsewhere, sure bool) {
	defer r.cfg.Recover("placed", func() { at, elsewhere, sure = netip.AddrPort{}, true, true })
	return r.cfg.CachedOwner(q)
}

// relayOrRefuse relays a request to its node. A known source gets 503 if no node owns the request or this node is
// overloaded.
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

// RelayCounters counts what the relay did with messages since its start.
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
