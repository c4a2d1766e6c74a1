package sip

import (
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	untaken     = 3 * time.Minute // an inbound call that nobody answers or rejects
	ringRefresh = time.Minute     // RFC 3261 13.3.1.1
	maxHeaders  = 32
	maxValue    = 1024
)

// Incoming is an inbound call that waits to be taken.
type Incoming struct {
	PhoneID                             string // the account of the phone that calls; "": a trunk's call
	Proved                              bool   // the trunk has proved by digest to be TrunkID
	Verstat                             string // what the trunk says of the caller's number, e.g. TN-Validation-Passed
	From, FromName, To, CallID, TrunkID string
	Source                              netip.AddrPort
	Network                             string            // it came by: udp, tcp or tls
	Through                             netip.AddrPort    // the node that passed it on; zero: it came to this one
	Body                                []byte            // SDP; empty: the caller waits for our offer
	Header                              map[string]string // by textproto's canonical names; bounded
	MatchFields                         map[string]string // for domain.TrunkMatch
	Replaces                            *message.DialogID // the dialog of ours that this call takes over: told as Replaced

	d         *Dialog
	old       *Dialog // that Replaces names
	earlyOnly bool
	prove     auth.Verifier // of the trunks at its source; without accounts nobody can prove anything
	size      int           // of the INVITE
}

// serverTx is an INVITE of the far end that we answer (RFC 3261 17.2.1).
type serverTx struct {
	request   *received
	last      []byte // what a repeated INVITE gets
	code      int    // of the final answer, 0 before
	acked     bool
	offerless bool           // the ACK brings the answer
	gone      *outcome.Final // how the call ended before Notify
	timer     *time.Timer
	wait      time.Duration
	until     time.Time
}

// incoming begins an inbound call.
func (u *UserAgent) incoming(m *received, a Admission) {
	if u.onInvite == nil || u.overloaded(m) {
		u.stats.rejected.Add(1)
		u.reject(m, 503)
		return
	}
	if u.tooShort(m) {
		u.stats.rejected.Add(1)
		u.reject(m, 422)
		return
	}
	in := u.newInbound(m)
	in.prove, in.size = u.trunks.WithAccounts(a.Realm, a.Account), m.MaxResponseSize()
	d := in.d
	if !in.replacesHeader(m) {
		u.stats.rejected.Add(1)
		u.reject(m, 400)
		return
	}
	m.traced, m.traceTag = true, d.traceTag() // before another socket can find the dialog
	if !u.dialogs.addInbound(d) {
		m.traced = false
		u.reject(m, 482)
		return
	}
	u.trace(m.CallID, m.traceTag, m.ObservedFlow(), false, m.Raw)
	u.stats.incoming.Add(1)
	u.load.addHalfOpen(m.Source().Addr.Addr(), 1)
	d.do(func() {
		d.hold(m.Source().Addr.Addr())
		d.holdFlow()
		d.provisional(100, nil, nil)
		d.after(untaken, func() { d.refuseCaller(480, nil, outcome.Final{Code: 480, Phrase: "nobody took the call"}) })
	})
	defer u.recovered("on_invite", func() { in.Reject(500, 0) })
	if in.Replaces != nil {
		u.replacing(in)
		return
	}
	u.onInvite(in)
}

func (u *UserAgent) newInbound(m *received) *Incoming {
	source := m.Source()
	in := &Incoming{
		PhoneID: m.phone, Proved: m.proved, Verstat: m.Verstat(),
		From: message.URIUser(m.From.URI), FromName: m.From.Name, To: message.URIUser(m.URI), CallID: m.CallID, TrunkID: m.trunk,
		Source: source.Addr, Network: source.Network, Through: m.RelayNode(), Body: m.Body, Header: make(map[string]string),
		MatchFields: m.MatchFields(),
	}
	for _, h := range m.Headers {
		name := message.CanonicalName(h.Name())
		if slices.Contains(ownHeaders(), name) || len(in.Header) >= maxHeaders {
			continue
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if len(h.Value()) > maxValue && (name != nameIdentity || len(h.Value()) > 4*maxValue) {
			continue
		}
		switch was := in.Header[name]; {
		case was == "":
			in.Header[name] = h.Value()
		case several(name) && len(was)+len(h.Value()) < 4*maxValue:
			in.Header[name] = was + ", " + h.Value()
		}
	}
	d := &Dialog{
		ua: u, key: dialogKey{m.CallID, cluster.Mark(u.cfg.NodeMark).MarkTag(u.id.ToTag(m.CallID, m.From.Tag))}, inbound: true, pinned: m.phone != "", invite: m, flow: u.flowBack(m),
		localURI: m.To.URI.String(), remoteURI: m.From.URI.String(), remoteCSeq: int64(m.CSeq),
		contactUser: "callboard", inviteBranch: m.Branch(), srv: &serverTx{request: m, offerless: len(m.Body) == 0},
		rel:     &reliable{supported: m.Supports("100rel"), required: m.Requires("100rel"), offered: len(m.Body) > 0},
		session: session{update: m.Allows(message.MethodUpdate)},
		far:     remote{tag: m.From.Tag, target: m.Contact, routes: m.Routes},
		target: resolve.Target{
			Host: source.Addr.Addr().String(), Port: int(source.Addr.Port()), Transport: source.Network, TrunkID: m.trunk,
		},
	}
	if user, err := message.EscapeUser(in.To); err == nil {
		d.contactUser = user
	}
	d.localParty = "<" + d.localURI + ">"
	in.d = d
	return in
}

// Tag is ours in the dialog: TracedMessage.Tag.
func (i *Incoming) Tag() string { return i.d.key.tag }

// Notify sets who hears before Answer that the call is gone: Refused. A caller who has given up already is reported at
// once.
func (i *Incoming) Notify(f func(Event)) {
	i.d.do(func() {
		i.d.notify = f
		if gone := i.d.srv.gone; gone != nil {
			i.d.srv.gone = nil
			i.d.last(Refused{Final: *gone})
		}
	})
}

// Answer takes the call: 200 until its ACK. If the caller has given up
// meanwhile, notify hears Ended at once. An SDP answer that the ACK brings
// (the INVITE had no body) is told as Accepted. A 200 waits for the PRACK of
// SDP that was sent before, and repeats no SDP that was acknowledged.
func (i *Incoming) Answer(body []byte, notify func(Event)) *Dialog {
	d := i.d
	d.do(func() {
		d.notify, d.taken = notify, true
		switch {
		case d.phase != early || d.srv.code != 0 || d.rel.answer != nil:
			i.old = nil
			d.emit(Ended{ByRemote: true, GaveUp: true, Text: "the caller has given up"})
		case d.rel.sent != nil && len(d.rel.sent.body) > 0:
			d.rel.answer = func() { d.takeCall(body) }
		default:
			d.takeCall(body)
		}
		d.replaced, i.old = i.old, nil
	})
	return d
}

func (d *Dialog) takeCall(body []byte) {
	d.ua.load.addHalfOpen(d.invite.Source().Addr.Addr(), -1)
	for _, t := range d.timers {
		t.Stop()
	}
	d.timers, d.phase = nil, up
	if d.rel.settled {
		body = nil
	} else {
		d.session.body = body
	}
	d.srv.offerless = d.srv.offerless && !d.rel.settled
	d.rel.stop()
	d.answerInvite(200, body, d.granted(d.srv.request))
}

// Reject refuses the call, with further headers of the answer. retryAfter is
// rounded to seconds; 0 leaves it out.
func (i *Incoming) Reject(code int, retryAfter time.Duration, extra ...message.Header) {
	extra = append(retryHeader(retryAfter), extra...)
	i.d.do(func() { i.d.refuseCaller(max(300, min(code, 699)), extra, outcome.Final{}) })
}

// Codes of Warning (RFC 3261 section 20.43).
const (
	WarnMediaFormat   = 305 // no media format in common
	WarnMiscellaneous = 399
)

// Warning is the header that says why a description of a session was refused
// (RFC 3261 section 21.4.26).
func Warning(code int, text string) message.Header {
	const most = 200
	text = strings.ToValidUTF8(strings.Map(message.ReplaceControlChar, text), "")
	return message.Header{Name: "Warning", Value: strconv.Itoa(code) + " callboard " + message.QuoteString(text[:min(len(text), most)])}
}

func retryHeader(after time.Duration) []message.Header {
	if after <= 0 {
		return nil
	}
	return []message.Header{{Name: "Retry-After", Value: strconv.Itoa(int(after.Round(time.Second).Seconds()))}}
}

// refuseCaller ends an inbound call before its answer. A Final with a code or
// a cause is told to the owner; its own Reject is not.
func (d *Dialog) refuseCaller(code int, extra []message.Header, why outcome.Final) {
	if d.phase != early || d.srv.code != 0 {
		return
	}
	d.ua.load.addHalfOpen(d.invite.Source().Addr.Addr(), -1)
	waiting := d.rel.answer != nil
	d.rel.stop()
	d.retire(d.ua.cfg.Linger)
	d.answerInvite(code, nil, extra)
	switch {
	case waiting: // its owner has answered it already
		d.last(Ended{ByRemote: why.Cancelled, Q850: why.Q850, Text: why.Phrase, Fault: code == 504})
	case why.Code != 0 && d.notify == nil:
		d.srv.gone = &why
	case why.Code != 0:
		d.last(Refused{Final: why})
	default:
		d.notify = nil
	}
}

// provisional answers the INVITE in progress with a 1xx.
func (d *Dialog) provisional(code int, body []byte, extra []message.Header) []byte {
	b, err := d.ua.answer(d.srv.request, code, d.toTag(code), append(d.contactOf(code), extra...), body)
	if err == nil {
		d.srv.last = b
		d.ua.respond(d.srv.request, b)
	}
	return b
}

func (d *Dialog) toTag(code int) string {
	if code == 100 {
		return ""
	}
	return d.key.tag
}

func (d *Dialog) contactOf(code int) []message.Header {
	if code == 100 || code >= 300 {
		return nil
	}
	headers := []message.Header{{Name: "Contact", Value: d.contact(d.flow)}, {Name: "Allow", Value: message.AllowedMethods}}
	if code >= 200 {
		headers = append(headers, message.Header{Name: "Supported", Value: message.SupportedExtensions})
	}
	return headers
}

// answerInvite gives the final answer and repeats it until the ACK: a 2xx on
// every transport, others where datagrams get lost.
func (d *Dialog) answerInvite(code int, body []byte, extra []message.Header) {
	srv := d.srv
	b, err := d.ua.answer(srv.request, code, d.key.tag, append(d.contactOf(code), extra...), body)
	if err != nil {
		b, err = d.ua.answer(srv.request, 500, d.key.tag, nil, nil)
		if err != nil {
			return
		}
	}
	srv.request.Headers, srv.request.Body = nil, nil // only its names are needed from here on
	srv.last, srv.code, srv.wait, srv.until = b, code, t1, time.Now().Add(giveUp)
	d.ua.respond(srv.request, b)
	srv.timer = time.AfterFunc(t1, func() { d.do(func() { d.repeatAnswer(srv) }) })
}

func (d *Dialog) repeatAnswer(srv *serverTx) {
	if srv.acked {
		return
	}
	left := time.Until(srv.until)
	if left <= 0 {
		d.neverAcked(srv)
		return
	}
	if srv.code < 300 || srv.request.Flow.Network == "udp" {
		d.ua.stats.retransmitted.Add(1)
		d.ua.respond(srv.request, srv.last)
	}
	srv.wait = min(srv.wait*2, t2)
	srv.timer.Reset(min(srv.wait, left))
}

// neverAcked ends a call whose 2xx nobody acknowledged (RFC 3261 13.3.1.4).
func (d *Dialog) neverAcked(srv *serverTx) {
	srv.acked = true
	if srv.code >= 300 || d.phase != up {
		return
	}
	d.confirmed, d.wantBye, d.phase = true, nil, closing
	d.sendBye(Ended{Text: "no ACK", Fault: true}, nil)
}

// callerKey names an inbound dialog by the tag of the caller.
func (d *Dialog) callerKey() dialogKey { return dialogKey{d.key.callID, d.invite.From.Tag} }

// inviteAgain takes an INVITE whose Call-ID and From-tag are in use: the same
// one repeated, or one that came by another way (482, RFC 3261 8.2.2.2).
// A caller whose first try is over may try again with the next CSeq: fresh.
func (d *Dialog) inviteAgain(m *received) (fresh bool) {
	first := d.invite
	if m.CSeq > first.CSeq && d.phase == over {
		return true
	}
	if m.Branch() != d.inviteBranch || m.CSeq != first.CSeq {
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 482)
		return false
	}
	if d.srv.request == first && d.srv.last != nil && (!d.srv.acked || d.srv.code >= 300) {
		d.ua.stats.retransmitted.Add(1)
		d.ua.respond(first, d.srv.last)
	}
	return false
}

// cancelled takes the caller's CANCEL: 200 to it, 487 to the INVITE unless
// that has its final answer.
func (d *Dialog) cancelled(m *received) {
	d.ua.reply(m, 200, d.key.tag, nil)
	q850, text := message.ParseReason(m.HeaderValues("Reason"))
	d.refuseCaller(487, nil, outcome.Final{Code: 487, Cancelled: true, Q850: q850, Reason: text})
}

// answer builds a response to a request.
func (u *UserAgent) answer(m *received, code int, tag string, extra []message.Header, body []byte) ([]byte, error) {
	return u.buildResponse(&m.Received, code, tag, extra, body)
}

func (u *UserAgent) buildResponse(m *transport.Received, code int, tag string, extra []message.Header, body []byte) ([]byte, error) {
	w := message.NewResponse(code, message.ReasonPhrase(code))
	for i, via := range m.Vias {
		if i > 0 {
			w.AddHeader("Via", via.Value())
			continue
		}
		w.AddHeader("Via", m.ViaWithReceived())
	}
	for _, h := range m.Headers {
		if code < 300 && code > 100 && message.CanonicalName(h.Name()) == "record-route" {
			w.AddHeader("Record-Route", h.Value())
		}
	}
	w.RepeatHeader("From", m.From.Value)
	if m.To.Tag == "" && tag != "" {
		w.RepeatHeader("To", m.To.Value, ";tag=", tag)
	} else {
		w.RepeatHeader("To", m.To.Value)
	}
	w.AddHeader("Call-ID", m.CallID)
	w.AddHeader("CSeq", strconv.FormatUint(uint64(m.CSeq), 10), " ", m.CSeqMethod)
	if m.Method == message.MethodOptions {
		w.AddHeader("Allow", message.AllowedMethods)
		w.AddHeader("Accept", message.ContentSDP)
		w.AddHeader("Supported", message.SupportedExtensions) // RFC 3261 11.2
	}
	if u.cfg.UserAgent != "" && code >= 200 {
		w.AddHeader("Server", u.cfg.UserAgent)
	}
	for _, h := range extra {
		w.AddHeader(h.Name, h.Value)
	}
	return w.Finish(body)
}

// respond sends an answer where the request came from (RFC 3581), or, without
// rport, to the port that its Via names.
func (u *UserAgent) respond(m *received, b []byte) {
	to := m.ResponseFlow()
	if m.traced {
		seen := to
		if m.Relay != nil {
			seen = m.ObservedFlow()
		}
		u.trace(m.CallID, m.traceTag, seen, true, b)
	}
	u.sendTo(to, b)
}

func (u *UserAgent) sendTo(to transport.Flow, b []byte) {
	if err := u.transport.Send(to, transport.Outgoing{Bytes: b}); err != nil {
		u.stats.transport.Add(1)
	}
}

// reply answers at once and keeps nothing. Without a tag it is drawn from the
// request, so that a repetition is answered alike.
func (u *UserAgent) reply(m *received, code int, tag string, extra []message.Header) []byte {
	if tag == "" {
		tag = u.id.ToTag(m.CallID, m.From.Tag+strings.ToLower(m.Branch()))
	}
	b, err := u.answer(m, code, tag, extra, nil)
	if err != nil {
		u.stats.malformed.Add(1)
		return nil
	}
	u.respond(m, b)
	return b
}
