package sip

import (
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

const (
	ownerResponseTimeout = 3 * time.Minute // maximum time in which an owner has to answer or reject an inbound call
	maxHeaders           = 32
	maxValue             = 1024
)

// Incoming is an inbound call that is not answered yet.
type Incoming struct {
	PhoneID                             string // account of the calling phone; "": the call comes from a trunk
	IsAuthenticated                     bool   // the trunk has authenticated by digest as TrunkID
	Verstat                             string // result of the trunk's verification of the caller's number, such as TN-Validation-Passed
	From, FromName, To, CallID, TrunkID string
	Source                              netip.AddrPort
	Network                             string            // udp, tcp or tls
	Through                             netip.AddrPort    // the node that relayed it; zero: it was received by this node
	Body                                []byte            // SDP; empty: the caller waits for an offer
	Header                              map[string]string // by canonical name (textproto); bounded
	MatchFields                         map[string]string // for domain.TrunkMatch
	Replaces                            *message.DialogID // the local dialog that this call takes over; its owner gets Replaced

	d               *Dialog
	replacedDialog  *Dialog // the dialog that Replaces names
	earlyOnly       bool
	verifier        auth.Verifier // checks credentials of the trunks at the source
	maxResponseSize int           // maximum size of a response to the INVITE
}

// startInbound answers a new INVITE with 100 and reports the call to the owner, or refuses the call.
func (u *UserAgent) startInbound(m *received, a Admission) {
	if u.onInvite == nil || u.isOverloaded(m) {
		u.stats.rejected.Add(1)
		u.reject(m, 503)
		return
	}
	if u.sessions.IsTooShort(&m.Message) {
		u.stats.rejected.Add(1)
		u.reject(m, 422)
		return
	}
	in := u.newInbound(m)
	in.verifier, in.maxResponseSize = u.trunks.WithAccounts(a.Realm, a.Account), m.MaxResponseSize()
	d := in.d
	if !in.replacesHeader(m) {
		u.stats.rejected.Add(1)
		u.reject(m, 400)
		return
	}
	m.Traced, m.TraceTag = true, d.traceTag // set before another socket can find the dialog
	if !u.dialogs.addInbound(d) {
		m.Traced = false
		u.reject(m, 482)
		return
	}
	u.trace(m.CallID, m.TraceTag, m.ObservedFlow(), false, m.Raw)
	u.stats.incoming.Add(1)
	u.load.AddUnanswered(m.Source().Addr.Addr(), 1)
	d.do(func() {
		d.admitPeer(m.Source().Addr.Addr())
		d.admitFlow()
		d.server.respondProvisional(100, nil, nil)
		d.after(ownerResponseTimeout, func() { d.server.refuse(480, nil, outcome.Final{Code: 480, Phrase: "no answer from the service"}) })
	})
	defer u.recovered("on_invite", func() { in.Reject(500, 0) })
	if in.Replaces != nil {
		u.offerReplacement(in)
		return
	}
	u.onInvite(in)
}

func (u *UserAgent) newInbound(m *received) *Incoming {
	source := m.Source()
	in := &Incoming{
		PhoneID: m.phone, IsAuthenticated: m.isAuthenticated, Verstat: m.Verstat(),
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
		case isRepeatable(name) && len(was)+len(h.Value()) < 4*maxValue:
			in.Header[name] = was + ", " + h.Value()
		}
	}
	d := u.newDialog(dialogKey{m.CallID, cluster.Mark(u.cfg.NodeMark).MarkTag(u.id.ToTag(m.CallID, m.From.Tag))})
	d.inbound, d.pinned, d.traceTag, d.environment = true, m.phone != "", d.key.tag, domain.Live // the test environment restricts outbound calls only
	d.flow, d.remoteURI, d.remoteCSeq = u.flowBack(m), m.From.URI.String(), int64(m.CSeq)
	d.setLocal(m.To.URI.String())
	d.server.initial, d.server.branch, d.server.tx = m, m.Branch(), &serverTransaction{request: m, offerless: len(m.Body) == 0}
	d.provisionals = &reliableProvisionals{d: d, supported: m.Supports("100rel"), required: m.Requires("100rel"), offered: len(m.Body) > 0}
	d.session.acceptsUpdate = m.Allows(message.MethodUpdate)
	d.remote = remoteParty{tag: m.From.Tag, target: m.Contact, routes: m.Routes}
	d.target = resolve.Target{Host: source.Addr.Addr().String(), Port: int(source.Addr.Port()), Transport: source.Network, TrunkID: m.trunk}
	if user, err := message.EscapeUser(in.To); err == nil {
		d.contactUser = user
	}
	in.d = d
	return in
}

// Dialog returns the dialog of the call before its answer. Reoffer and ID may be called on it.
func (i *Incoming) Dialog() *Dialog { return i.d }

// Tag returns the tag of this side in the dialog (TracedMessage.Tag).
func (i *Incoming) Tag() string { return i.d.key.tag }

// Notify sets the function that receives Refused if the call ends before Answer. If the call is over already, Refused
// is reported at once.
func (i *Incoming) Notify(f func(Event)) {
	i.d.do(func() {
		i.d.notify = f
		if tx := i.d.server.tx; tx.endBeforeNotify != nil {
			gone := tx.endBeforeNotify
			tx.endBeforeNotify = nil
			i.d.emitLast(Refused{Final: *gone})
		}
	})
}

// Answer accepts the call with 200, which is repeated until its ACK. If the caller has given up meanwhile, notify gets
// Ended at once. If the INVITE had no offer, the SDP answer in the ACK is reported as Accepted. If a reliable 1xx has
// sent SDP, the 200 waits for its PRACK and does not repeat the SDP.
func (i *Incoming) Answer(body []byte, notify func(Event)) *Dialog {
	d := i.d
	d.do(func() {
		d.notify, d.server.ownerResponded = notify, true
		switch {
		case d.phase != early || d.server.tx.code != 0 || d.provisionals.answer != nil:
			i.replacedDialog = nil
			d.emit(Ended{ByRemote: true, CancelledByCaller: true, Text: "the caller has given up"})
		case d.provisionals.sent != nil && len(d.provisionals.sent.body) > 0:
			d.provisionals.answer = func() { d.server.accept(body) }
		default:
			d.server.accept(body)
		}
		d.server.replaced, i.replacedDialog = i.replacedDialog, nil
	})
	return d
}

// Reject refuses the call with a status code. extra are further headers of the response. retryAfter is rounded to
// seconds; with 0 the response has no Retry-After.
func (i *Incoming) Reject(code int, retryAfter time.Duration, extra ...message.Header) {
	extra = append(retryHeader(retryAfter), extra...)
	i.d.do(func() { i.d.server.refuse(max(300, min(code, 699)), extra, outcome.Final{}) })
}

// Codes of the Warning header (RFC 3261 §20.43).
const (
	WarnMediaFormat   = 305 // no media format in common
	WarnMiscellaneous = 399
)

// Warning returns a header that says why a session description was refused (RFC 3261 §21.4.26).
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
