package sip

import (
	"bytes"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/ratelimit"
)

// Several nodes may share the work: each listens, and what belongs to another
// one is passed on to it (docs/adr/0077-a-call-finds-its-node.md). The node
// between keeps nothing of a call: our Via carries where the answer goes.

const (
	foreignRate  = 10  // messages a second of one source that neither we nor another node has answered
	foreignBurst = 30  // of it at once
	foreignAll   = 500 // messages a second of all such sources
	strangeAsks  = 200 // look-ups a second that they may cause together
	strangePings = 20  // OPTIONS of them a second, each of which is one
	maxAsks      = 512 // look-ups at a time, of strangers a quarter
	maxOfOne     = 128 // of those for one source that is known, unless it is a dispatcher
	oneAsks      = 200 // and times a second that other nodes are asked for it
	maxBehind    = 4   // messages of one transaction that wait for its look-up
)

// Whose asks to which node a request belongs.
type Whose struct {
	Method string
	To     string // what is called, as in Incoming.To; of a REGISTER the user of its To, which is the account's
	From   string // the user of the From: of a phone that calls the account's
	User   string // that the credentials of a call or text name, which proves nothing
	Mark   string // Config.NodeMark of the node that has the dialog; "": the request begins something, or names none
	Within bool   // of a dialog that is not here
	CallID string
	Source Source
	// MatchFields are those of a call or a text, as in Incoming.
	MatchFields map[string]string
	Ask         func() bool // before other nodes are asked: false: not for this source now; nil: as often as it likes
}

// relay passes requests on to the nodes that they belong to.
type relay struct {
	u      *UserAgent
	id     message.Identifiers // of the key of the install
	macs   *sync.Pool          // of *sealMAC, of the same key
	each   *ratelimit.Limiter  // strangers, by source
	all    *ratelimit.Limiter  // and together
	asks   *ratelimit.Limiter  // look-ups for them
	pings  *ratelimit.Limiter  // their OPTIONS, together
	others *ratelimit.Limiter  // questions to other nodes, by source that is known
	remote *remoteSources

	waiting atomic.Int64 // look-ups under way
	mu      sync.Mutex
	of      map[askKey]*asking
	strange int                // of those
	by      map[netip.Addr]int // and by source that is known, of which each has a share
}

// askKey is shared by an INVITE, its CANCEL and the ACK to its refusal.
type askKey struct {
	callID, tag, branch string
	cseq                uint32
}

// asking is a look-up under way, with the messages that wait for it.
type asking struct {
	behind   []*received
	stranger bool
	from     netip.Addr // whose share it has; invalid: nobody's
}

func newRelay(u *UserAgent) *relay {
	return &relay{
		u: u, id: message.NewIdentifiers(u.cfg.RelayKey), macs: newSealMACs(u.cfg.RelayKey), each: ratelimit.NewLimiter(foreignRate, foreignBurst), all: ratelimit.NewLimiter(foreignAll, foreignAll),
		asks: ratelimit.NewLimiter(strangeAsks, strangeAsks), pings: ratelimit.NewLimiter(strangePings, strangePings), remote: newRemoteSources(), of: make(map[askKey]*asking),
		others: ratelimit.NewLimiter(oneAsks, oneAsks), by: make(map[netip.Addr]int),
	}
}

// looks tells whether anything here may belong to another node.
func (r *relay) looks() bool { return r != nil && r.u.cfg.Elsewhere != nil }

// isKnownElsewhere says whether another node has answered a source.
func (r *relay) isKnownElsewhere(s Source, now time.Time) bool {
	return r.looks() && r.remote.has(s.Addr.Addr(), now)
}

// welcome lets messages pass that another node may know the source of.
func (r *relay) welcome(b []byte, s Source, now time.Time) bool {
	if !r.looks() {
		return false
	}
	method, _, _ := bytes.Cut(b[:min(len(b), 16)], []byte(" "))
	if !slices.Contains(message.KnownMethods(), string(method)) {
		return false
	}
	if string(method) == message.MethodOptions { // what scanners send most
		return r.remote.has(s.Addr.Addr(), now) || r.each.Spend(s.Addr.Addr(), 1, now) && r.pings.Spend(netip.Addr{}, 1, now)
	}
	return r.callable(s, now)
}

// callable lets a stranger connect, and be read.
func (r *relay) callable(s Source, now time.Time) bool {
	return r.looks() && (r.remote.has(s.Addr.Addr(), now) || r.each.Spend(s.Addr.Addr(), 1, now) && r.all.Spend(netip.Addr{}, 1, now))
}

// takes passes a request on that no dialog here knows, or looks up whose it
// is. false: it is ours, or nobody's.
func (r *relay) takes(m *received) bool {
	if !r.looks() || m.passed != nil {
		return false
	}
	w, ok := r.question(m)
	if !ok {
		return false
	}
	key := askKey{m.CallID, m.From.Tag, m.Branch(), m.CSeq}
	if r.waiting.Load() > 0 && r.waits(key, m) {
		return true
	}
	if r.u.cfg.Placed != nil && w.Method != message.MethodOptions {
		if at, elsewhere, sure := r.placed(w); sure {
			return elsewhere && r.hand(m, at)
		}
	}
	return r.ask(key, w, m)
}

// question is what there is to ask of a request; ok is false when it can only
// be ours.
func (r *relay) question(m *received) (w Whose, ok bool) {
	if m.Version != "SIP/2.0" || m.RepeatedHeader != "" || m.CSeqMethod != m.Method || len(m.Vias) >= message.MaxVias {
		return w, false
	}
	w = Whose{Method: m.Method, To: message.URIUser(m.URI), From: message.URIUser(m.From.URI), CallID: m.CallID, Source: m.source()}
	switch {
	case m.To.Tag != "" && m.Method != message.MethodCancel && m.Method != message.MethodRegister:
		w.Within, w.Mark = true, r.u.markIn(m)
		return w, w.Mark == "" || w.Mark != r.u.cfg.NodeMark
	case m.Method == message.MethodRegister:
		w.To = message.URIUser(m.To.URI)
	case m.Method == message.MethodInvite:
		w.User, w.MatchFields = auth.ClaimedUser(&m.Message), m.MatchFields()
		if _, to, _, _, ok := message.ParseReplaces(m.HeaderValue("Replaces")); ok {
			w.Mark = markOf(to)
		}
		return w, w.Mark == "" || w.Mark != r.u.cfg.NodeMark
	case m.Method == message.MethodOptions: // answered here, once somebody knows who asks
		return w, r.strangerAt(m, time.Now()) && !r.u.dispatches(m.source().Addr.Addr())
	case m.Method == message.MethodMessage:
		w.User, w.MatchFields = auth.ClaimedUser(&m.Message), m.MatchFields()
	case m.Method != message.MethodCancel:
		return w, false
	}
	return w, true
}

// waits lets a message wait for the look-up that its transaction waits for. A
// repetition of what waits already is dropped.
func (r *relay) waits(key askKey, m *received) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.of[key]
	if a == nil {
		return false
	}
	if len(a.behind) < maxBehind && !slices.ContainsFunc(a.behind, func(have *received) bool { return have.Method == m.Method }) {
		a.behind = append(a.behind, m.clone())
	}
	return true
}

// ask looks up whose a request is, beside the reader. It returns true: the
// request is taken care of.
func (r *relay) ask(key askKey, w Whose, m *received) bool {
	now := time.Now()
	stranger := r.strangerAt(m, now)
	if stranger && m.Method != message.MethodOptions && !r.asks.Spend(netip.Addr{}, 1, now) {
		r.u.stats.rate.Add(1)
		return true
	}
	a := &asking{behind: append(make([]*received, 0, 1), m.clone()), stranger: stranger}
	if from := m.source().Addr.Addr(); !stranger && !r.u.dispatches(from) { // a dispatcher brings the calls of all
		a.from = ratelimit.Subnet(from)
		w.Ask = func() bool { return r.others.Spend(from, 1, time.Now()) }
	}
	r.mu.Lock()
	if len(r.of) >= maxAsks || stranger && r.strange >= maxAsks/4 || r.by[a.from] >= maxOfOne {
		r.mu.Unlock()
		r.u.stats.full.Add(1)
		r.refuse(m)
		return true
	}
	r.of[key] = a
	if stranger {
		r.strange++
	}
	if a.from.IsValid() {
		r.by[a.from]++
	}
	r.waiting.Add(1)
	r.mu.Unlock()
	r.u.stats.lookups.Add(1)
	go func() {
		at, elsewhere := r.elsewhere(w)
		for m := r.next(key, a); m != nil; m = r.next(key, a) {
			r.found(m, at, elsewhere)
		}
	}()
	return true
}

// strangerAt tells whether nobody here knows the source of a message, and no
// other node has answered it.
func (r *relay) strangerAt(m *received, now time.Time) bool {
	s := m.source()
	return !r.u.known(s) && r.u.phones.presence(s) == Absent && !r.remote.has(s.Addr.Addr(), now)
}

// next is the first message that waits for a look-up; nil ends it.
func (r *relay) next(key askKey, a *asking) *received {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(a.behind) == 0 {
		delete(r.of, key)
		if a.stranger {
			r.strange--
		}
		if r.by[a.from]--; r.by[a.from] <= 0 {
			delete(r.by, a.from)
		}
		r.waiting.Add(-1)
		return nil
	}
	m := a.behind[0]
	a.behind = a.behind[1:]
	return m
}

// found goes on with a message once it is known whose it is.
func (r *relay) found(m *received, at netip.AddrPort, elsewhere bool) {
	defer r.u.recovered("relay", nil)
	switch {
	case m.Method == message.MethodOptions && m.To.Tag == "":
		if elsewhere && at.IsValid() {
			r.remote.add(m.source().Addr.Addr(), time.Now())
		}
	case elsewhere && r.hand(m, at):
		return
	}
	r.u.serve(m, r.u.owner(m))
}

// elsewhere asks the owner of the user agent; one that panics knows nobody.
func (r *relay) elsewhere(w Whose) (at netip.AddrPort, yes bool) {
	defer r.u.recovered("elsewhere", func() { at, yes = netip.AddrPort{}, true })
	return r.u.cfg.Elsewhere(w)
}

func (r *relay) placed(w Whose) (at netip.AddrPort, yes, sure bool) {
	defer r.u.recovered("placed", func() { at, yes, sure = netip.AddrPort{}, true, true })
	return r.u.cfg.Placed(w)
}

// hand gives a request to the node that has it, unless there is none now, or
// we are late with it: who is known is told to come again.
func (r *relay) hand(m *received, at netip.AddrPort) bool {
	switch {
	case !at.IsValid():
		r.refuse(m)
	case m.Method == message.MethodInvite && m.waited > r.u.cfg.OverloadAfter:
		r.u.stats.late.Add(1)
		r.refuse(m)
	default:
		r.pass(m, at)
	}
	return true
}

// refuse answers 503 to who is known here or to another node.
func (r *relay) refuse(m *received) {
	r.u.stats.rejected.Add(1)
	if m.Method != message.MethodAck && !r.strangerAt(m, time.Now()) {
		r.u.reject(m, 503)
	}
}
