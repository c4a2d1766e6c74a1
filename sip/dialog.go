package sip

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// The timers of RFC 3261 17 and 13, and ours.
const (
	t1      = 500 * time.Millisecond
	t2      = 4 * time.Second
	giveUp  = 64 * t1 // Timers B, F, H
	linger  = 40 * time.Second
	timerC  = 3 * time.Minute
	silence = 5 * time.Second
	ringing = 30 * time.Second
	setup   = 60 * time.Second
)

type phase uint8

const (
	early   phase = iota // an INVITE without its 2xx
	up                   // answered
	closing              // our BYE is under way
	over                 // ended; kept for what the wire still brings
)

// remote is the far end of one dialog; every fork has its own.
type remote struct {
	tag, target string
	routes      []string
}

// Dialog is one call leg. All fields below mu are guarded by it.
type Dialog struct {
	ua           *UserAgent
	untold       bool // no call, only the bearer of a REGISTER or OPTIONS: not traced
	key          dialogKey
	inbound      bool
	pinned       bool // with a phone: messages go where its REGISTER came from, for its Contact may lie behind a NAT
	localURI     string
	localParty   string // as it stands in From and To, without tag
	remoteURI    string
	environment  domain.Environment // of a dialog of ours, as in Invite
	contactUser  string
	target       resolve.Target
	preset       []string // the route of an outbound leg until its far end names one
	inviteBranch string   // inbound: of the INVITE, which a CANCEL repeats
	sentBy       string   // of the INVITE of an earlier process, which our CANCEL repeats

	mu         sync.Mutex
	notify     func(Event)
	queue      []told
	telling    bool
	phase      phase
	flow       transport.Flow
	held       []netip.Addr
	far        remote
	localCSeq  uint32
	remoteCSeq int64 // -1 before the first request of the far end
	creds      *auth.Credentials
	auth       []message.Header // credentials of the INVITE, which its ACK repeats
	signer     *auth.Signer     // set by the first challenge

	out     *outbound              // an outbound leg until it is over
	invite  *received              // the INVITE of an inbound one
	srv     *serverTx              // the INVITE of the far end in progress
	answers map[repeated]lastReply // to its other requests, few
	txs     []*clientTx            // our requests in progress
	acks    map[string]*sentAck    // by CSeq and To-tag: what a repeated 2xx gets
	forks   int

	confirmed bool // the ACK of an inbound call came
	wantBye   func()
	notices   int         // REFERs of the far end whose outcome it is being told
	lastBye   func()      // waits for them
	onClosed  func(Ended) // instead of telling Ended: a call that was never announced
	onStray   func()      // a call of an earlier process is over
	unacked   func()      // sends the ACK that is held back
	owed      bool        // it has to carry our answer
	owedBody  []byte
	announce  func() // tells Answered, once its ACK has been sent
	timers    []*time.Timer
	expires   time.Time

	rel         *reliable // inbound: 1xx that need a PRACK
	session     session
	offers      []*offer // of ours, waiting
	current     *offer   // of ours, on the wire or about to be sent again
	asked       bool     // the owner is to answer an offer of the far end
	taken       bool     // inbound: the owner has rung or answered
	established bool     // answered, and not only to be ended
	replaced    *Dialog  // to be ended once this one is confirmed
	referral    *referral
	asking      bool      // a request of ours is under way
	waiting     []waiting // behind it
}

type told struct {
	to    func(Event)
	event Event
}

// repeated tells a request of the far end that came before.
type repeated struct {
	tag  string // of its fork
	cseq uint32
}

type lastReply struct {
	method string
	b      []byte
}

// do runs f under the lock and then tells the owner what f queued.
func (d *Dialog) do(f func()) {
	defer d.ua.recovered("dialog", nil)
	d.mu.Lock()
	defer d.unlock()
	f()
}

// unlock delivers the queue: in order, one event at a time, with the lock
// released, on whichever goroutine comes first.
func (d *Dialog) unlock() {
	for !d.telling && len(d.queue) > 0 {
		queue := d.queue
		d.queue, d.telling = nil, true
		d.mu.Unlock()
		for _, t := range queue {
			d.ua.tell(t)
		}
		d.mu.Lock()
		d.telling = false
	}
	d.mu.Unlock()
}

func (u *UserAgent) tell(t told) {
	defer u.recovered("notify", nil)
	t.to(t.event)
}

func (d *Dialog) emit(e Event) {
	if d.notify != nil {
		d.queue = append(d.queue, told{d.notify, e})
	}
}

// last tells the owner how it ended, and lets go of it: the dialog stays for a
// while for what the wire still brings, and whoever had the call need not.
func (d *Dialog) last(e Event) {
	d.emit(e)
	d.notify = nil
}

// after runs f under the lock, unless the dialog was stopped before.
func (d *Dialog) after(wait time.Duration, f func()) *time.Timer {
	t := time.AfterFunc(wait, func() { d.do(f) })
	d.timers = append(d.timers, t)
	return t
}

// release stops one timer early.
func (d *Dialog) release(t *time.Timer) {
	t.Stop()
	if i := slices.Index(d.timers, t); i >= 0 {
		d.timers = slices.Delete(d.timers, i, i+1)
	}
}

// stop ends every timer.
func (d *Dialog) stop() {
	d.session.stop()
	if d.rel != nil {
		d.rel.stop()
	}
	for _, t := range d.timers {
		t.Stop()
	}
	d.timers = nil
	for _, tx := range d.txs {
		tx.timer.Stop()
	}
	d.txs = nil
	if d.srv != nil && d.srv.timer != nil {
		d.srv.timer.Stop()
	}
}

// CallID is the dialog's Call-ID.
func (d *Dialog) CallID() string { return d.key.callID }

// Cancel gives the leg up before its answer; after it, it is a BYE. A CANCEL
// waits for the first 1xx. Refused follows when nothing can ring any more.
func (d *Dialog) Cancel(reason string) {
	d.do(func() {
		switch {
		case d.phase == up:
			d.bye(16, reason)
		case d.out != nil && d.phase == early:
			d.out.why.cancelled = true
			d.cancel(reason)
		}
	})
}

// Bye ends the call; before the answer it is a CANCEL. It may be repeated.
func (d *Dialog) Bye(q850 int, text string) {
	d.do(func() {
		switch {
		case d.phase == up:
			d.bye(q850, text)
		case d.out != nil && d.phase == early:
			d.out.why.cancelled = true
			d.cancel(text)
		case d.phase == early && d.rel != nil && d.rel.answer != nil:
			d.refuseCaller(480, nil, outcome.Final{Code: 480, Phrase: "hung up"})
		}
	})
}

// hold lets packets of a host through the gate while the dialog lives.
func (d *Dialog) hold(a netip.Addr) {
	if slices.Contains(d.held, a) {
		return
	}
	if len(d.held) < 8 {
		d.held = append(d.held, a)
		d.ua.transport.Filter.AddPeer(a)
	}
}

// retire keeps the dialog for late messages, without what it no longer needs.
func (d *Dialog) retire(wait time.Duration) {
	d.phase = over
	d.session.stop()
	for _, t := range d.timers {
		t.Stop()
	}
	d.timers = nil
	behind := d.waiting
	d.waiting = nil
	for _, w := range behind {
		w.heard(nil, errEnded)
	}
	d.endOffers()
	if d.expires.IsZero() {
		time.AfterFunc(wait, d.forget)
	}
	d.expires = time.Now().Add(wait)
}

func (d *Dialog) forget() {
	u := d.ua
	d.mu.Lock()
	left := time.Until(d.expires)
	d.mu.Unlock()
	if left > 0 {
		time.AfterFunc(left, d.forget)
		return
	}
	u.dialogs.remove(d)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	for _, a := range d.held {
		u.transport.Filter.RemovePeer(a)
	}
	d.held = nil
}

// finish is the end of an answered call, once.
func (d *Dialog) finish(e Ended) {
	if d.phase == over {
		return
	}
	if d.srv != nil && d.srv.timer != nil {
		d.srv.timer.Stop()
	}
	if d.announce != nil {
		d.announce()
	}
	d.flushAck()
	closed := d.onClosed
	d.retire(d.ua.cfg.Linger)
	for _, tx := range slices.Clone(d.txs) {
		if tx.method != message.MethodBye && tx.method != message.MethodCancel && tx.method != message.MethodNotify {
			d.fail(tx, errEnded)
		}
	}
	d.endReferral()
	if closed != nil {
		closed(e)
		return
	}
	d.last(e)
}

// bye ends the call from our side.
func (d *Dialog) bye(q850 int, text string) {
	if d.phase != up {
		return
	}
	if d.inbound && !d.confirmed {
		// RFC 3261 15: not before the ACK, or before it is given up.
		d.wantBye = func() { d.bye(q850, text) }
		return
	}
	if d.notices > 0 {
		if d.lastBye == nil {
			d.lastBye = func() { d.bye(q850, text) }
			d.after(byeWithin, func() { d.notices = 0; d.noticed() })
		}
		return
	}
	d.phase = closing
	d.sendBye(Ended{Q850: q850, Text: text}, nil)
}

func (d *Dialog) sendBye(e Ended, auth []message.Header) {
	d.flushAck()
	var extra []message.Header
	if e.Q850 > 0 {
		extra = append(extra, message.Header{Name: "Reason", Value: message.FormatReason(e.Q850, strings.Map(message.ReplaceControlChar, e.Text))})
	}
	extra = append(extra, auth...)
	d.localCSeq++
	cseq := d.localCSeq
	d.withHop(d.far, func(to transport.Flow) {
		d.start(&clientTx{method: message.MethodBye, cseq: cseq, far: d.far, to: to, extra: extra}, func(_ *clientTx, m *received, err error) {
			if m != nil && m.Code < 200 {
				return
			}
			if m != nil && m.IsChallenge() {
				if again := d.answerChallenge(m, message.MethodBye, auth == nil, nil); again != nil {
					d.sendBye(e, again)
					return
				}
			}
			e.Fault = e.Fault || err != nil
			d.finish(e)
		})
	})
}

// withHop finds where requests to a far end go, and runs f with it under the
// lock: at once, or after the name was looked up.
func (d *Dialog) withHop(r remote, f func(transport.Flow)) {
	_, _, hop := r.route()
	if d.pinned && len(r.routes) == 0 {
		f(d.flow)
		return
	}
	p := d.ua.transport.NextHop(hop, d.flow)
	if p.Lookup == nil {
		d.hold(p.Addr.Addr())
		f(p.Flow)
		return
	}
	found := d.ua.resolver.ResolveCached(*p.Lookup)
	use := func() {
		to := d.flow
		if len(found) > 0 {
			to = d.ua.transport.FlowOrKeep(found[0], d.flow)
		}
		d.hold(to.Addr.Addr())
		f(to)
	}
	if found != nil {
		use()
		return
	}
	go func() {
		defer d.ua.recovered("lookup", nil)
		found = d.ua.resolve(*p.Lookup)
		d.do(use)
	}()
}

// route is the Request-URI, the Route headers and the next hop (RFC 3261
// 12.2.1.1, with the strict routers of its predecessor).
func (r remote) route() (uri string, routes []string, hop string) {
	if len(r.routes) == 0 {
		return r.target, nil, r.target
	}
	var first sipmsg.Uri
	if err := sipmsg.ParseUri(r.routes[0], &first); err == nil && !message.HasParam(first.UriParams, "lr") {
		return r.routes[0], slices.Concat(r.routes[1:], []string{r.target}), r.routes[0]
	}
	return r.target, r.routes, r.routes[0]
}

// build writes a request within the dialog.
func (d *Dialog) build(tx *clientTx) ([]byte, error) {
	uri, routes, _ := tx.far.route()
	w := message.NewRequest(tx.method, uri)
	by := d.ua.transport.SentBy(tx.to)
	if tx.method == message.MethodCancel || tx.method == message.MethodAck && !tx.ackOf2xx { // answers come back to us by rport
		by = cmp.Or(d.sentBy, by)
	}
	w.AddHeader("Via", "SIP/2.0/", strings.ToUpper(tx.to.Network), " ", by, ";rport;branch=", d.branch(tx))
	w.AddHeader("From", d.localParty, ";tag=", d.key.tag)
	if tx.far.tag != "" {
		w.AddHeader("To", "<", d.remoteURI, ">;tag=", tx.far.tag)
	} else {
		w.AddHeader("To", "<", d.remoteURI, ">")
	}
	w.AddHeader("Call-ID", d.key.callID)
	w.AddHeader("CSeq", strconv.FormatUint(uint64(tx.cseq), 10), " ", tx.method)
	w.AddHeader("Max-Forwards", "70")
	for _, r := range routes {
		w.AddHeader("Route", "<", r, ">")
	}
	switch tx.method {
	case message.MethodInvite, message.MethodUpdate:
		w.AddHeader("Contact", d.contact(tx.home()))
		w.AddHeader("Allow", message.AllowedMethods)
		if tx.reliable {
			w.AddHeader("Supported", message.SupportedExtensions)
		} else {
			w.AddHeader("Supported", "timer, replaces")
		}
	case message.MethodRefer, message.MethodNotify:
		w.AddHeader("Contact", d.contact(tx.home()))
	}
	if d.ua.cfg.UserAgent != "" {
		w.AddHeader("User-Agent", d.ua.cfg.UserAgent)
	}
	for _, h := range tx.extra {
		w.AddHeader(h.Name, h.Value)
	}
	if tx.content == "" {
		tx.content = message.ContentSDP
	}
	return w.FinishWithType(tx.content, tx.body)
}

// branch of a CANCEL and of the ACK to a refusal is that of the INVITE.
func (d *Dialog) branch(tx *clientTx) string {
	method := tx.method
	if method == message.MethodCancel || method == message.MethodAck && !tx.ackOf2xx {
		method = message.MethodInvite
	}
	if tx.branch == "" {
		tx.branch = d.ua.id.Branch(d.key.callID, d.key.tag, tx.cseq, method, tx.fork)
	}
	return tx.branch
}
