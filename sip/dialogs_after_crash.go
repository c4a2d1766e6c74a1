package sip

import (
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// maxUnstoredRequests is added to the CSeq of an abandoned dialog. It is the maximum number of requests that the
// earlier process can have sent after it stored the state.
const maxUnstoredRequests = 64

// Time limits for the final response to the INVITE of a cancelled leg that rang: finalTimeout starts with the response
// to the CANCEL, cancelTimeout with the CANCEL. After them the leg gets ACK and BYE, as if it had been answered.
const (
	finalTimeout  = time.Second
	cancelTimeout = t2
)

// reasonRestart is the text in the Reason header of requests that end the legs of an earlier process.
const reasonRestart = "service restarted"

// InitialState returns the state of a leg before its INVITE is sent. With this state another process can cancel the
// leg (EndAbandoned) although no response was stored. If the INVITE goes to a phone, a redirect target or a host name,
// its content is not known yet, and the state has only the Call-ID and the target.
func (u *UserAgent) InitialState(in Invite) DialogState {
	s := DialogState{CallID: u.id.LegCallID(in.Attempt, in.Leg), Target: in.Target}
	if !u.isReady() {
		return s
	}
	d, err := u.newOutbound(&in)
	if err != nil || in.URI != "" || !d.flow.Addr.IsValid() { // a phone, a redirected call or a host name
		return s
	}
	s.Target = d.target
	s.LocalURI, s.RemoteURI, s.Route, s.SentBy = d.localURI, d.remoteURI, d.preloaded, u.transport.SentBy(d.flow)
	s.HasCredentials = in.Credentials != nil
	return s
}

// EndAbandoned ends a dialog of an earlier process. An answered call gets BYE. A leg that rang gets CANCEL, and
// also ACK and BYE, because only the earlier process received a 2xx sent meanwhile. A leg without any response gets
// CANCEL if its InitialState is complete. Late responses are handled. done is called once: after the response of
// the remote party, or after 32 s.
func (u *UserAgent) EndAbandoned(s DialogState, done func(answered bool)) {
	finished := false
	d := u.fromState(s)
	report := func(answered bool) {
		if finished {
			return
		}
		finished = true
		d.later(func() { done(answered) })
	}
	if !u.isReady() {
		d.do(func() { report(false) })
		return
	}
	if s.CallID == "" || s.Inbound && !s.Confirmed || !u.dialogs.add(d) {
		d.do(func() { report(false) })
		return
	}
	go func() {
		defer u.recovered("orphan", nil)
		found := u.resolve(d.target)
		d.do(func() {
			if len(found) > 0 {
				d.flow = d.ua.flowTo(found[0], d.pinned)
				d.admitFlow()
			}
			d.endAbandoned(s, report)
		})
	}()
}

func (d *Dialog) endAbandoned(s DialogState, report func(bool)) {
	// In this process the call has no owner that receives events. Therefore the end of the call goes to report.
	d.onClosed = func(e Ended) { report(!e.Fault) }
	time.AfterFunc(transactionTimeout, func() { d.do(func() { report(false) }) })
	if s.Confirmed {
		d.phase = closing
		d.server.confirmed = true
		d.sendBye(Ended{Q850: 41, Text: reasonRestart}, nil)
		return
	}
	d.invite = &inviteClient{d: d, refused: true, tx: &clientTransaction{cseq: s.LocalCSeq, terminated: true}}
	d.onAbandoned = func() { report(true) }
	d.markOver(d.ua.cfg.Linger + transactionTimeout)
	switch {
	case s.RemoteTag != "":
		d.invite.endEarly(s.LocalCSeq)
	case s.SentBy != "":
		d.invite.cancelInitial(s)
	}
}

// endEarly ends a leg that rang when its process ended. A remote party that answered meanwhile sent its 2xx to that
// process and ignores a CANCEL (RFC 3261 §9.2). If no final response arrives here, the remote party therefore gets
// the ACK and BYE that would end such a call. A caller may send BYE in an early dialog, too (§15): a phone that
// still rings stops, and a phone that does not ring answers 481.
func (c *inviteClient) endEarly(cseq uint32) {
	d, cancelled, ended := c.d, false, false
	end := func() {
		if !ended {
			ended = true
			c.endUnreceivedAnswer(cseq, func() bool { return cancelled })
		}
	}
	c.cancelSent = true
	c.sendCancel(cseq, reasonRestart, func(m *received, _ error) {
		if m != nil && m.Code >= 200 {
			cancelled = m.Code < 300
			d.after(finalTimeout, end)
		}
	})
	d.after(cancelTimeout, end)
}

// endUnreceivedAnswer sends the ACK and BYE for a 2xx that may have gone to the earlier process. The call is over once
// the remote party has accepted the BYE, or has rejected the BYE after it accepted the CANCEL.
func (c *inviteClient) endUnreceivedAnswer(cseq uint32, cancelled func() bool) {
	d := c.d
	if c.final || d.acks.surplus > 0 {
		return // this process received the final response
	}
	success := &received{Received: transport.Received{Message: message.Message{CSeq: cseq, To: &message.Party{Tag: d.remote.tag}}}}
	d.acks.acknowledge(d.remote, success, nil, func() {
		d.withNextHop(d.remote, func(to transport.Flow) {
			d.start(&clientTransaction{
				method: message.MethodBye, cseq: cseq + maxUnstoredRequests, remote: d.remote, to: to,
				headers: []message.Header{{Name: "Reason", Value: message.FormatReason(41, reasonRestart)}},
			}, func(m *received, _ error) {
				if m != nil && m.Code >= 200 && (m.Code < 300 || cancelled()) {
					d.reportAbandoned()
				}
			})
		})
	})
}

// cancelInitial cancels a leg of which only the InitialState was stored, so it may not ring yet. RFC 3261 §9.1 delays
// a CANCEL until a 1xx, so that it cannot overtake its INVITE. Here no delay is needed, because the INVITE was sent
// before the restart or take-over. If the call has credentials, the target may have challenged it and received a
// second INVITE, which gets a CANCEL too. A late 18x or 2xx is ended when it arrives.
func (c *inviteClient) cancelInitial(s DialogState) {
	c.sendCancel(c.d.localCSeq, reasonRestart, func(*received, error) {})
	if s.HasCredentials {
		c.sendCancel(c.d.localCSeq+1, reasonRestart, func(*received, error) {})
	}
}

// fromState returns the dialog of an earlier process from its stored state. The caller adds it to the dialog table.
func (u *UserAgent) fromState(s DialogState) *Dialog {
	if s.Target.Transport == "" {
		s.Target.Transport = resolve.UDP
	}
	if s.LocalTag == "" {
		s.LocalTag = u.id.FromTag(s.CallID)
	}
	if s.Inbound {
		s.Environment = domain.Live // as in newInbound
	}
	d := u.newDialog(dialogKey{s.CallID, s.LocalTag})
	d.setLocal(s.LocalURI)
	d.inbound, d.pinned, d.environment, d.remoteURI, d.target, d.preloaded, d.sentBy = s.Inbound, s.Pinned, s.Environment, s.RemoteURI, s.Target, s.Route, s.SentBy
	d.flow, d.localCSeq = transport.Flow{Network: s.Target.Transport}, max(s.LocalCSeq, 1)
	d.remote = remoteParty{tag: s.RemoteTag, target: s.RemoteTarget, routes: s.Routes}
	if s.Inbound {
		d.traceTag = d.key.tag
	}
	if s.Confirmed {
		d.localCSeq += maxUnstoredRequests
	}
	return d
}

// endUnknownCall acknowledges and ends a call that an earlier process began and whose 2xx arrives now. The response m
// contains everything that the ACK and the BYE need.
func (u *UserAgent) endUnknownCall(m *received) {
	d := u.newDialog(m.key())
	d.setLocal(m.From.URI.String())
	d.phase, d.flow, d.localCSeq, d.remoteURI = over, m.Flow, m.CSeq, m.To.URI.String()
	d.environment = domain.Live // the response came from the target of the INVITE, which was checked then
	d.target = resolve.Target{
		Host: m.Flow.Addr.Addr().String(), Port: int(m.Flow.Addr.Port()), Transport: strings.ToLower(m.Flow.Network),
	}
	d.remote = remoteParty{target: d.remoteURI}
	if !u.dialogs.add(d) {
		return
	}
	d.do(func() {
		d.admitPeer(m.Flow.Addr.Addr())
		d.markOver(d.ua.cfg.Linger)
		d.handleLateResponse(m)
	})
}
