package sip

import (
	"cmp"
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
	maxProgress = 32 // Ringing and Early events of one leg

	timerC = 3 * time.Minute // RFC 3261 §16.6
)

var errNotReady = errors.New("sip: not listening")

// inviteClient sends the INVITE of an outbound leg to the addresses of its target, one after another (RFC 3261 §13.2).
// It stops when an address answers or the leg is refused, and stays in memory for late responses.
type inviteClient struct {
	d              *Dialog
	in             Invite           // zero once the leg is answered or refused
	addresses      []resolve.Target // addresses not tried yet
	fromResolver   bool             // the addresses come from the resolver, which learns which of them answer
	tx             *clientTransaction
	forks          []*fork // early dialogs
	sentAt         time.Time
	pdd            time.Duration // post-dial delay; 0: not known yet
	reported       string        // the last Ringing event for a response without a To tag
	reports        int           // number of Ringing and Early events
	challenges     int           // challenges that were answered
	trying         bool          // a provisional response arrived
	rang           bool
	refused        bool // Refused was reported
	final          bool // a final response arrived: nothing rings any more
	cancelWanted   bool
	cancelSent     bool
	cancelReason   string
	why            struct{ cancelled, ringTimeout, setupTimeout bool }
	ringTimer      *time.Timer
	setupTimer     *time.Timer
	refreshedTimer *time.Timer // timer C (RFC 3261 §16.6)
}

// Invite starts an outbound leg. It returns an error for invalid input. All later failures, including a host name that
// does not resolve, are reported by Invite.Notify.
func (u *UserAgent) Invite(in Invite) (*Dialog, error) {
	if !u.isReady() {
		return nil, errNotReady
	}
	if u.calls.isSuspended(in.MayBegin) {
		return nil, transport.ErrCallsSuspended
	}
	d, err := u.newOutbound(&in)
	if err != nil {
		return nil, err
	}
	if err = u.checkEnvironment(in.Environment, d.target); err != nil {
		return nil, err
	}
	if !u.dialogs.add(d) {
		return nil, fmt.Errorf("sip: attempt %s leg %d was already sent", in.Attempt, in.Leg)
	}
	u.stats.invites.Add(1)
	go d.invite.resolveTarget()
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
		routes = []string{proxyRoute(hop)}
	}
	callID, flow := u.id.LegCallID(in.Attempt, in.Leg), flowBeforeLookup(hop)
	d := u.newDialog(dialogKey{callID, u.id.FromTag(callID)})
	d.setLocal("sip:" + from + "@" + cmp.Or(in.FromDomain, u.transport.PublicHost(flow)))
	if in.FromName != "" {
		d.localParty = message.QuoteString(in.FromName) + " " + d.localParty
	}
	d.remoteURI = "sip:" + to + "@" + in.Target.WithName().HostPort()
	if in.URI != "" {
		d.remoteURI, d.pinned = in.URI, !in.Redirected
	}
	d.remote.target = d.remoteURI
	d.contactUser, d.target, d.flow, d.preloaded, d.environment = from, hop, flow, routes, in.Environment
	d.notify, d.digest.credentials, d.localCSeq = in.Notify, in.Credentials, 1
	d.invite = &inviteClient{d: d, in: *in}
	return d, nil
}

// resolveTarget looks up the target and sends the first INVITE.
func (c *inviteClient) resolveTarget() {
	d := c.d
	defer d.ua.recovered("launch", nil)
	found := d.ua.resolve(d.target)
	_, err := netip.ParseAddr(strings.Trim(d.target.Host, "[]"))
	d.do(func() {
		if c.refused {
			return
		}
		c.fromResolver, c.addresses = err != nil, d.ua.reachable(found)
		if len(c.addresses) == 0 {
			c.refuse(outcome.Final{TransportFailure: true, Phrase: "no address for the target"})
			return
		}
		c.tryNextAddress()
	})
}

func (c *inviteClient) tryNextAddress() {
	d := c.d
	d.target = c.addresses[0]
	d.flow = d.ua.flowTo(d.target, d.pinned)
	c.addresses = c.addresses[1:]
	d.admitFlow()
	c.sendInvite()
}

// sendAgain sends the INVITE to the same address with the next CSeq.
func (c *inviteClient) sendAgain() {
	c.d.localCSeq++
	c.sendInvite()
}

func (c *inviteClient) sendInvite() {
	d := c.d
	leaves := d.ua.calls.EnterCall(c.in.MayBegin)
	defer d.ua.calls.LeaveCall()
	if !leaves {
		c.refuse(outcome.Final{CallsSuspended: true, Phrase: transport.ErrCallsSuspended.Error()})
		return
	}
	if c.sentAt.IsZero() {
		c.sentAt = time.Now()
	}
	headers := slices.Concat(c.in.Headers, d.digest.headers, d.session.terms.InviteHeaders(c.in.SessionExpires))
	if c.in.Replaces != nil {
		if value, err := message.FormatReplaces(c.in.Replaces); err == nil {
			headers = append(headers, message.Header{Name: "Replaces", Value: value})
		}
	}
	c.forks = nil
	c.tx = &clientTransaction{
		method: message.MethodInvite, cseq: d.localCSeq, remote: d.beforeDialog(), to: d.flow, timeout: c.in.SilentAfter, headers: headers, body: c.in.Body,
		reliable: c.in.Reliable && len(c.in.Body) > 0, beginsCall: true, mayBegin: c.in.MayBegin,
	}
	d.start(c.tx, c.handleResponse)
}

// handleResponse handles a response to the INVITE. m is nil if no final response arrived; err is then the reason.
func (c *inviteClient) handleResponse(m *received, err error) {
	if m == nil && errors.Is(err, transport.ErrCallsSuspended) { // not a failure of the address
		c.refuse(outcome.Final{CallsSuspended: true, Phrase: transport.ErrCallsSuspended.Error()})
		return
	}
	c.rateAddress(m != nil)
	switch {
	case m == nil && len(c.addresses) > 0 && !c.cancelWanted:
		c.d.localCSeq++
		c.tryNextAddress()
	case m == nil && errors.Is(err, ErrTimeout):
		c.refuse(outcome.Final{NoResponse: true})
	case m == nil:
		c.refuse(outcome.Final{TransportFailure: true, Phrase: err.Error()})
	case m.Code < 200:
		c.handleProvisional(m)
	case m.Code < 300:
		c.handleSuccess(m)
	default:
		c.handleFailure(m)
	}
}

// rateAddress tells the resolver whether the current address has answered.
func (c *inviteClient) rateAddress(hasAnswered bool) {
	switch {
	case !c.fromResolver:
	case hasAnswered:
		c.fromResolver = false // each address is rated once
		c.d.ua.resolver.MarkReachable(c.d.target)
	default:
		c.d.ua.resolver.MarkFailed(c.d.target)
	}
}

// handleProvisional handles a 1xx response to the INVITE. Provisional responses may arrive in any order.
func (c *inviteClient) handleProvisional(m *received) {
	d := c.d
	c.tx.extend(24 * time.Hour) // from now on the timers below limit the wait
	if !c.trying {
		c.trying = true
		d.emit(Trying{})
		c.setupTimer = d.after(c.in.SetupTimeout, func() { c.timeOut(&c.why.setupTimeout) })
	}
	if c.cancelWanted {
		c.cancel(c.cancelReason)
		return
	}
	if m.Code == 100 {
		return
	}
	var f *fork
	rseq := m.RSeq()
	if m.To.Tag != "" {
		if f = c.forkOf(m); f == nil || rseq > 0 && !c.sendPrack(f, m, rseq) {
			return
		}
	}
	c.restartTimerC()
	if m.Code < 180 || m.Code > 189 {
		return
	}
	c.setupTimer.Stop()
	if !c.rang {
		c.rang, c.pdd = true, time.Since(c.sentAt)
		c.ringTimer = d.after(c.in.RingTimeout, func() { c.timeOut(&c.why.ringTimeout) })
	}
	reported := &c.reported
	if f != nil {
		d.remote, reported = f.remote, &f.reported
	}
	report := strconv.Itoa(m.Code) + string(m.Body)
	if report == *reported || c.reports >= maxProgress {
		return
	}
	*reported = report
	c.reports++
	if len(m.Body) > 0 && m.ContentType == message.ContentSDP {
		d.emit(Early{Code: m.Code, Body: m.Body, Reliable: rseq > 0, State: d.state()})
		return
	}
	d.emit(Ringing{Code: m.Code, State: d.state()})
}

// restartTimerC starts timer C (RFC 3261 §16.6) again, if RingTimeout is longer. It limits the time between two
// provisional responses.
func (c *inviteClient) restartTimerC() {
	switch {
	case c.in.RingTimeout <= timerC:
	case c.refreshedTimer == nil:
		c.refreshedTimer = c.d.after(timerC, func() { c.timeOut(&c.why.ringTimeout) })
	default:
		c.refreshedTimer.Reset(timerC)
	}
}

// timeOut cancels a leg that has waited too long. It sets reason to true, which names the time limit that was exceeded.
func (c *inviteClient) timeOut(reason *bool) {
	if c.d.phase != early || c.cancelWanted {
		return
	}
	*reason = true
	c.cancel("no answer")
}

// cancel ends the leg before its answer. If no INVITE was sent, the leg ends at once. Otherwise a CANCEL is sent after
// the first 1xx (RFC 3261 §9.1).
func (c *inviteClient) cancel(reason string) {
	c.cancelWanted, c.cancelReason = true, reason
	if c.tx == nil {
		c.refuse(outcome.Final{})
		return
	}
	if c.cancelSent || !c.tx.proceeding {
		return
	}
	c.cancelSent = true
	c.sendCancel(c.tx.cseq, reason, func(*received, error) {})
	// The remote party has to send a final response to the INVITE. This timer ends the leg if no response comes.
	c.d.after(transactionTimeout, func() { c.refuse(outcome.Final{}) })
}

// sendCancel sends a CANCEL over the flow of the INVITE. done receives its response.
func (c *inviteClient) sendCancel(cseq uint32, reason string, done func(*received, error)) {
	d := c.d
	var headers []message.Header
	if reason != "" {
		headers = []message.Header{{Name: "Reason", Value: "SIP;cause=487;text=" + message.QuoteString(strings.Map(message.ReplaceControlChar, reason))}}
	}
	to := d.flow
	if c.tx != nil && c.tx.to.Network != "" {
		to = c.tx.to
	}
	d.start(&clientTransaction{method: message.MethodCancel, cseq: cseq, remote: d.beforeDialog(), to: to, headers: headers}, done)
}

// handleSuccess handles the first 2xx. If the leg was cancelled meanwhile, the call gets ACK and BYE, and Refused is
// reported after the BYE.
func (c *inviteClient) handleSuccess(m *received) {
	d := c.d
	c.final = true
	d.remote = remoteOfResponse(m, d.remoteURI)
	body := m.Body
	if f := c.fork(m.To.Tag); f != nil {
		d.localCSeq, d.remoteCSeq = max(d.localCSeq, f.localCSeq), f.remoteCSeq
		if len(body) == 0 {
			body = f.answer
		}
	}
	if c.cancelWanted {
		d.phase = closing
		d.onClosed = func(Ended) { c.refuse(outcome.Final{}) }
		d.acks.acknowledge(d.remote, m, nil, func() { d.sendBye(Ended{Q850: 16, Text: c.cancelReason}, nil) })
		return
	}
	d.phase, d.established = answered, true
	for _, t := range []*time.Timer{c.ringTimer, c.setupTimer, c.refreshedTimer} {
		if t != nil {
			t.Stop()
		}
	}
	if c.pdd == 0 {
		c.pdd = time.Since(c.sentAt)
	}
	event := Answered{Body: body, State: d.state(), PDD: c.pdd, Offer: len(c.in.Body) == 0 && len(m.Body) > 0}
	holdAck := c.in.HoldAck
	d.session.localSDP = c.in.Body
	c.in = Invite{}
	d.session.agree(m)
	switch {
	case event.Offer:
		d.acks.awaitAnswer(m)
		d.emit(event)
	case holdAck:
		d.acks.holdForOwner(m)
		d.emit(event)
	default:
		d.acks.onSent = func() { d.emit(event) }
		d.acks.acknowledge(d.remote, m, nil, d.acks.reportSent)
		d.offers.sendNext()
	}
}

// handleFailure handles a final response other than 2xx. It sends the INVITE again after a challenge, a 422, or a 503
// of an address, and otherwise ends the leg.
func (c *inviteClient) handleFailure(m *received) {
	d := c.d
	if m.IsChallenge() && !c.cancelWanted {
		if credentials := d.answerChallenge(m, message.MethodInvite, c.challenges == 0, c.in.Body); credentials != nil {
			d.digest.headers = credentials
			c.challenges++
			c.sendAgain()
			return
		}
	}
	if m.Code == 422 && !c.cancelWanted && d.session.terms.Raise(&m.Message) {
		c.sendAgain()
		return
	}
	final := outcome.ReadFinal(&m.Message)
	if m.Code == 503 && len(c.addresses) > 0 && !c.rang && !c.cancelWanted && !final.MentionsRateLimit { // RFC 3263 §4.3
		d.ua.resolver.MarkFailed(d.target)
		c.fromResolver = true
		d.localCSeq++
		c.tryNextAddress()
		return
	}
	c.final = true
	c.refuse(final)
}

// refuse ends the leg once and reports Refused. The leg stays in memory for late responses.
func (c *inviteClient) refuse(f outcome.Final) {
	d := c.d
	if c.refused {
		return
	}
	c.refused = true
	f.RangBefore, f.Authenticated, f.PDD, f.Sent = c.rang, c.challenges > 0, c.pdd, c.tx != nil
	f.Cancelled, f.RingTimeout = c.why.cancelled, c.why.ringTimeout
	if c.why.setupTimeout && (f.Code == 0 || f.Code == 487) {
		f.Code, f.Phrase = 408, "no progress"
	}
	if c.tx != nil && !c.tx.terminated {
		d.terminate(c.tx)
	}
	c.in = Invite{}
	wait := d.ua.cfg.Linger
	if !c.final {
		wait += transactionTimeout
	}
	d.markOver(wait)
	d.emitLast(Refused{Final: f})
}
