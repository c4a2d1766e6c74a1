package sip

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	maxBody     = 8 << 10
	maxForks    = 10
	maxProgress = 32 // Ringing events of one leg
)

var errNotReady = errors.New("sip: not listening")

// outbound is what an outbound leg knows beyond its dialog, until it is over.
type outbound struct {
	inv     Invite
	addrs   []resolve.Target // still to be tried
	learnt  bool             // those came from the name servers
	tx      *clientTx        // the INVITE in progress
	early   []*fork          // the early dialogs of it
	sentAt  time.Time
	pdd     time.Duration
	shown   string // the last Ringing without a To-tag
	told    int
	tries   int
	trying  bool
	rang    bool
	refused bool // Refused has been told
	final   bool // a final answer came: nothing rings

	cancelWanted, cancelSent bool
	cancelReason             string
	why                      struct{ cancelled, ringTimeout, setupTimeout bool }
	ringTimer, setupTimer    *time.Timer
	timerC                   *time.Timer
}

// Invite starts an outbound leg. Bad input is refused at once; everything
// else, a name that does not resolve included, is told by Notify.
func (u *UserAgent) Invite(in Invite) (*Dialog, error) {
	if !u.isReady() {
		return nil, errNotReady
	}
	if u.calls.isHeld(in.May) {
		return nil, transport.ErrHeld
	}
	d, err := u.newOutbound(&in)
	if err != nil {
		return nil, err
	}
	if err = u.checkEnvironment(in.Environment, d.target); err != nil {
		return nil, err
	}
	if !u.dialogs.add(d) {
		return nil, fmt.Errorf("sip: attempt %s leg %d is on the wire already", in.Attempt, in.Leg)
	}
	u.stats.invites.Add(1)
	go d.launch()
	return d, nil
}

func (u *UserAgent) newOutbound(in *Invite) (*Dialog, error) {
	to, err := message.EscapeUser(in.To)
	if err != nil {
		return nil, err
	}
	from, err := message.EscapeUser(in.From)
	if err != nil {
		return nil, err
	}
	if err = u.checkInvite(in); err != nil {
		return nil, err
	}
	hop := in.Target
	var routes []string
	if in.Proxy != nil {
		hop = *in.Proxy
		routes = []string{"sip:" + hop.HostPort() + hop.TransportParam() + ";lr"}
	}
	f := transport.Flow{Network: hop.Transport}
	if ip, err := netip.ParseAddr(strings.Trim(hop.Host, "[]")); err == nil {
		f = transport.FlowTo(resolve.WithAddress(hop, ip))
	}
	domain := in.FromDomain
	if domain == "" {
		domain = u.transport.PublicHost(f)
	}
	callID := u.id.LegCallID(in.Attempt, in.Leg)
	d := &Dialog{
		ua: u, key: dialogKey{callID, u.id.FromTag(callID)}, notify: in.Notify, flow: f, remoteCSeq: -1, localCSeq: 1,
		localURI: "sip:" + from + "@" + domain, remoteURI: "sip:" + to + "@" + in.Target.WithName().HostPort(),
		contactUser: from, target: hop, preset: routes, creds: in.Credentials, environment: in.Environment, out: &outbound{inv: *in},
	}
	if in.URI != "" {
		d.remoteURI, d.pinned = in.URI, !in.Moved
	}
	d.far.target = d.remoteURI
	d.localParty = "<" + d.localURI + ">"
	if in.FromName != "" {
		d.localParty = message.QuoteString(in.FromName) + " " + d.localParty
	}
	return d, nil
}

// before is the far end before it has answered: what was called, by way of the
// outbound proxy if there is one.
func (d *Dialog) before() remote { return remote{target: d.remoteURI, routes: d.preset} }

// checkInvite refuses bad input and fills in defaults.
func (u *UserAgent) checkInvite(in *Invite) error {
	if err := u.checkTarget(&in.Target); err != nil {
		return err
	}
	if in.Proxy != nil {
		proxy := *in.Proxy
		if err := u.checkTarget(&proxy); err != nil {
			return err
		}
		in.Proxy = &proxy
	}
	switch {
	case len(in.Contacts) > 0:
		return errors.New("sip: several contacts are for Ring")
	case in.URI != "" && !message.IsContactURI(in.URI):
		return fmt.Errorf("sip: %q is no contact", in.URI)
	case in.Attempt == "":
		return errors.New("sip: an attempt needs a name")
	case in.FromDomain != "" && !message.IsHost(in.FromDomain):
		return fmt.Errorf("sip: %q is no domain", in.FromDomain)
	case !message.IsSingleLine(in.FromName) || len(in.FromName) > 128:
		return fmt.Errorf("sip: %q is no display name", in.FromName)
	case len(in.Body) > maxBody:
		return errors.New("sip: body too large")
	case len(in.Headers) > 32:
		return errors.New("sip: too many headers")
	case in.SessionExpires < 0 || in.SessionExpires > maxSession:
		return fmt.Errorf("sip: no session of %s", in.SessionExpires)
	}
	if in.SessionExpires > 0 {
		in.SessionExpires = max(in.SessionExpires, u.leastSession)
	}
	if in.Replaces != nil {
		if _, err := message.FormatReplaces(in.Replaces); err != nil {
			return err
		}
	}
	for _, h := range in.Headers {
		most := maxValue
		if message.CanonicalName(h.Name) == nameIdentity {
			most = outcome.MaxIdentitySize
		}
		if !message.IsToken(h.Name) || !message.IsSingleLine(h.Value) || len(h.Value) > most || slices.Contains(ownHeaders(), message.CanonicalName(h.Name)) {
			return fmt.Errorf("sip: header %q is not allowed", h.Name)
		}
	}
	if in.RingTimeout <= 0 {
		in.RingTimeout = ringing
	}
	if in.SilentAfter <= 0 {
		in.SilentAfter = silence
	}
	if in.SetupTimeout <= 0 {
		in.SetupTimeout = setup
	}
	in.SilentAfter = min(in.SilentAfter, giveUp)
	return nil
}

// ownHeaders are written by the dialog alone.
func ownHeaders() []string {
	return []string{
		"via", "from", "to", "call-id", "cseq", "max-forwards", "contact", "content-length", "content-type",
		"content-encoding", "route", "record-route", "authorization", "proxy-authorization", "require",
		message.RelayHeaderLower, "proxy-require", "supported", "k", "allow", "user-agent", "expires", "session-expires", "x", "min-se", "rseq", "rack", "replaces",
	}
}

// launch looks the target up and sends the first INVITE.
func (d *Dialog) launch() {
	defer d.ua.recovered("launch", nil)
	found := d.ua.resolve(d.target)
	_, err := netip.ParseAddr(strings.Trim(d.target.Host, "[]"))
	d.do(func() {
		o := d.out
		if o.refused {
			return
		}
		o.learnt, o.addrs = err != nil, d.ua.reachable(found)
		if len(o.addrs) == 0 {
			d.refuse(outcome.Final{Transport: true, Phrase: "no address for the target"})
			return
		}
		d.nextAddress()
	})
}

func (d *Dialog) nextAddress() {
	o := d.out
	d.target = o.addrs[0]
	d.flow = d.ua.flowTo(d.target, d.pinned)
	o.addrs = o.addrs[1:]
	d.holdFlow()
	d.sendInvite()
}

func (d *Dialog) sendInvite() {
	o := d.out
	leaves := d.ua.calls.Enter(o.inv.May)
	defer d.ua.calls.Leave()
	if !leaves {
		d.refuse(outcome.Final{Held: true, Phrase: transport.ErrHeld.Error()})
		return
	}
	if o.sentAt.IsZero() {
		o.sentAt = time.Now()
	}
	extra := slices.Concat(o.inv.Headers, d.auth)
	if expires := max(o.inv.SessionExpires, d.session.least); expires > 0 {
		extra = append(extra, d.session.ask(expires, "")...)
	}
	if o.inv.Replaces != nil {
		if value, err := message.FormatReplaces(o.inv.Replaces); err == nil {
			extra = append(extra, message.Header{Name: "Replaces", Value: value})
		}
	}
	o.early = nil
	o.tx = &clientTx{
		method: message.MethodInvite, cseq: d.localCSeq, far: d.before(), to: d.flow, patience: o.inv.SilentAfter,
		extra: extra, body: o.inv.Body, reliable: o.inv.Reliable && len(o.inv.Body) > 0,
	}
	d.start(o.tx, d.inviteHeard)
}

// inviteHeard takes what comes back to the INVITE, or that nothing did.
func (d *Dialog) inviteHeard(_ *clientTx, m *received, err error) {
	o := d.out
	if m == nil && errors.Is(err, transport.ErrHeld) { // says nothing of the address
		d.refuse(outcome.Final{Held: true, Phrase: transport.ErrHeld.Error()})
		return
	}
	d.remember(m != nil)
	switch {
	case m == nil && len(o.addrs) > 0 && !o.cancelWanted:
		d.localCSeq++
		d.nextAddress()
	case m == nil && errors.Is(err, errTimeout):
		d.refuse(outcome.Final{Silent: true})
	case m == nil:
		d.refuse(outcome.Final{Transport: true, Phrase: err.Error()})
	case m.Code < 200:
		d.progressed(m)
	case m.Code < 300:
		d.answeredBy(m)
	default:
		d.refusedBy(m)
	}
}

// remember tells the resolver how an address of its did.
func (d *Dialog) remember(answered bool) {
	switch {
	case !d.out.learnt:
	case answered:
		d.out.learnt = false // once is enough
		d.ua.resolver.MarkReachable(d.target)
	default:
		d.ua.resolver.MarkFailed(d.target)
	}
}

// progressed takes a 1xx, in whatever order they come.
func (d *Dialog) progressed(m *received) {
	o := d.out
	o.tx.patient(24 * time.Hour) // the timers below mind it now
	if !o.trying {
		o.trying = true
		d.emit(Trying{})
		o.setupTimer = d.after(o.inv.SetupTimeout, func() { d.tooLong(&o.why.setupTimeout) })
	}
	if o.cancelWanted {
		d.cancel(o.cancelReason)
		return
	}
	if m.Code == 100 {
		return
	}
	var f *fork
	reliably := m.RSeq()
	if m.To.Tag != "" {
		if f = d.forkOf(m); f == nil || reliably > 0 && !d.heardReliably(f, m, reliably) {
			return
		}
	}
	if o.inv.RingTimeout > timerC {
		if o.timerC == nil {
			o.timerC = d.after(timerC, func() { d.tooLong(&o.why.ringTimeout) })
		} else {
			o.timerC.Reset(timerC)
		}
	}
	if m.Code < 180 || m.Code > 189 {
		return
	}
	o.setupTimer.Stop()
	if !o.rang {
		o.rang, o.pdd = true, time.Since(o.sentAt)
		o.ringTimer = d.after(o.inv.RingTimeout, func() { d.tooLong(&o.why.ringTimeout) })
	}
	shown := &o.shown
	if f != nil {
		d.far, shown = f.far, &f.shown
	}
	show := strconv.Itoa(m.Code) + string(m.Body)
	if show == *shown || o.told >= maxProgress {
		return
	}
	*shown = show
	o.told++
	if len(m.Body) > 0 && m.ContentType == message.ContentSDP {
		d.emit(Early{Code: m.Code, Body: m.Body, Reliable: reliably > 0, State: d.state()})
		return
	}
	d.emit(Ringing{Code: m.Code, State: d.state()})
}

// tooLong gives up a leg that has been waiting too long; why remembers it.
func (d *Dialog) tooLong(why *bool) {
	if d.phase != early || d.out.cancelWanted {
		return
	}
	*why = true
	d.cancel("no answer")
}

// cancel wants the leg to stop ringing: at once if nothing was sent, by a
// CANCEL once a 1xx has come (RFC 3261 9.1).
func (d *Dialog) cancel(reason string) {
	o := d.out
	o.cancelWanted, o.cancelReason = true, reason
	if o.tx == nil {
		d.refuse(outcome.Final{})
		return
	}
	if o.cancelSent || !o.tx.answered {
		return
	}
	o.cancelSent = true
	d.sendCancel(o.tx.cseq, reason)
	// The far end owes a final answer to the INVITE; it may be gone.
	d.after(giveUp, func() { d.refuse(outcome.Final{}) })
}

// answeredBy takes the first 2xx. One that crossed our CANCEL is
// acknowledged and ended, and only then is the leg refused.
func (d *Dialog) answeredBy(m *received) {
	o := d.out
	o.final = true
	d.far = farOf(m, d.remoteURI)
	body := m.Body
	if f := o.fork(m.To.Tag); f != nil {
		d.localCSeq, d.remoteCSeq = max(d.localCSeq, f.local), f.theirs
		if len(body) == 0 {
			body = f.answer
		}
	}
	if o.cancelWanted {
		d.phase = closing
		d.onClosed = func(Ended) { d.refuse(outcome.Final{}) }
		d.acknowledge(d.far, m, nil, func() { d.sendBye(Ended{Q850: 16, Text: o.cancelReason}, nil) })
		return
	}
	d.phase, d.established = up, true
	for _, t := range []*time.Timer{o.ringTimer, o.setupTimer, o.timerC} {
		if t != nil {
			t.Stop()
		}
	}
	if o.pdd == 0 {
		o.pdd = time.Since(o.sentAt)
	}
	offered := len(o.inv.Body) == 0 && len(m.Body) > 0
	answered := Answered{Body: body, State: d.state(), PDD: o.pdd, Offer: offered}
	hold := o.inv.HoldAck
	d.session.body = o.inv.Body
	o.inv = Invite{}
	d.sessionHeard(m)
	if offered {
		d.owe(m)
		d.emit(answered)
		return
	}
	if hold {
		d.holdAck(m)
		d.emit(answered)
		return
	}
	d.announce = func() {
		d.announce = nil
		d.emit(answered)
	}
	d.acknowledge(d.far, m, nil, func() {
		if d.announce != nil {
			d.announce()
		}
	})
	d.pump()
}

// refusedBy takes a final answer that is no 2xx; a challenge is answered.
func (d *Dialog) refusedBy(m *received) {
	o := d.out
	if m.IsChallenge() && !o.cancelWanted {
		if auth := d.answerChallenge(m, message.MethodInvite, o.tries == 0, o.inv.Body); auth != nil {
			d.auth = auth
			o.tries++
			d.localCSeq++
			d.sendInvite()
			return
		}
	}
	if m.Code == 422 && !o.cancelWanted && d.lengthen(m) {
		d.localCSeq++
		d.sendInvite()
		return
	}
	final := outcome.ReadFinal(&m.Message)
	if m.Code == 503 && len(o.addrs) > 0 && !o.rang && !o.cancelWanted && !final.RateText { // RFC 3263 §4.3
		d.ua.resolver.MarkFailed(d.target)
		o.learnt = true
		d.localCSeq++
		d.nextAddress()
		return
	}
	o.final = true
	d.refuse(final)
}

// refuse ends the leg, once. It stays known for late answers.
func (d *Dialog) refuse(f outcome.Final) {
	o := d.out
	if o.refused {
		return
	}
	o.refused = true
	f.RangBefore, f.Authenticated, f.PDD, f.Sent = o.rang, o.tries > 0, o.pdd, o.tx != nil
	f.Cancelled, f.RingTimeout = o.why.cancelled, o.why.ringTimeout
	if o.why.setupTimeout && (f.Code == 0 || f.Code == 487) {
		f.Code, f.Phrase = 408, "no progress"
	}
	if o.tx != nil && !o.tx.done {
		d.drop(o.tx)
	}
	o.inv = Invite{}
	wait := d.ua.cfg.Linger
	if !o.final {
		wait += giveUp
	}
	d.retire(wait)
	d.last(Refused{Final: f})
}
