package sip

import (
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// afterCrash lifts the CSeq of a dialog above whatever was sent after its
// state was stored.
const afterCrash = 64

// How long the far end of what rang has for its final answer, before it is ended
// as if it had answered: after that to our CANCEL, or in all.
const (
	finalWithin  = time.Second
	cancelWithin = t2
)

// Orphan ends a dialog of an earlier process: BYE for an answered call; CANCEL
// for one that rang, and ACK and BYE in case it was answered meanwhile, which
// only that process was told; and for one of which nothing was heard CANCEL, where
// its Opening is known. It waits and ends what still comes. done is called once: when the far end has answered for
// it, or after 32 s.
func (u *UserAgent) Orphan(s DialogState, done func(answered bool)) {
	finished := false
	d := u.fromState(s)
	report := func(answered bool) {
		if finished {
			return
		}
		finished = true
		d.queue = append(d.queue, told{func(Event) { done(answered) }, nil})
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
				d.holdFlow()
			}
			d.orphaned(s, report)
		})
	}()
}

func (d *Dialog) orphaned(s DialogState, report func(bool)) {
	// The call was never announced in this process: its end is not told but reported.
	d.onClosed = func(e Ended) { report(!e.Fault) }
	time.AfterFunc(giveUp, func() { d.do(func() { report(false) }) })
	if s.Confirmed {
		d.phase = closing
		d.confirmed = true
		d.sendBye(Ended{Q850: 41, Text: restarted}, nil)
		return
	}
	d.out = &outbound{refused: true, tx: &clientTx{cseq: s.LocalCSeq, done: true}}
	d.onStray = func() { report(true) }
	d.retire(d.ua.cfg.Linger + giveUp)
	switch {
	case s.RemoteTag != "":
		d.endEarly(s.LocalCSeq)
	case s.SentBy != "":
		d.giveUpUnheard(s)
	}
}

// endEarly ends what rang when its process ended. A far end that answered
// meanwhile has told so to where that was, and takes a CANCEL without heeding it
// (RFC 3261 9.2): nobody but it knows that the call is up. So where no final
// answer comes here either, it gets what would end that call. A caller may send
// BYE in an early dialog, too (15): who rings yet stops, and who does not any more
// answers 481.
func (d *Dialog) endEarly(invite uint32) {
	cancelled, ended := false, false
	end := func() {
		if !ended {
			ended = true
			d.endUnheard(invite, func() bool { return cancelled })
		}
	}
	d.out.cancelSent = true
	d.cancelThen(invite, restarted, func(_ *clientTx, m *received, _ error) {
		if m != nil && m.Code >= 200 {
			cancelled = m.Code < 300
			d.after(finalWithin, end)
		}
	})
	d.after(cancelWithin, end)
}

// endUnheard acknowledges an answer that may have been given, and says BYE. The
// call is over once the far end has taken that, or our CANCEL before it.
func (d *Dialog) endUnheard(invite uint32, cancelled func() bool) {
	if d.out.final || d.forks > 0 {
		return // its answer came here
	}
	answer := &received{Received: transport.Received{Message: message.Message{CSeq: invite, To: &message.Party{Tag: d.far.tag}}}}
	d.acknowledge(d.far, answer, nil, func() {
		d.withHop(d.far, func(to transport.Flow) {
			d.start(&clientTx{
				method: message.MethodBye, cseq: invite + afterCrash, far: d.far, to: to,
				extra: []message.Header{{Name: "Reason", Value: message.FormatReason(41, restarted)}},
			}, func(_ *clientTx, m *received, _ error) {
				if m != nil && m.Code >= 200 && (m.Code < 300 || cancelled()) {
					d.settled()
				}
			})
		})
	})
}

func (u *UserAgent) fromState(s DialogState) *Dialog {
	t := s.Target
	if t.Transport == "" {
		t.Transport = resolve.UDP
	}
	if s.LocalTag == "" {
		s.LocalTag = u.id.FromTag(s.CallID)
	}
	if s.LocalCSeq == 0 {
		s.LocalCSeq = 1
	}
	d := &Dialog{
		ua: u, key: dialogKey{s.CallID, s.LocalTag}, inbound: s.Inbound, pinned: s.Pinned, remoteCSeq: -1, contactUser: "callboard",
		localURI: s.LocalURI, localParty: "<" + s.LocalURI + ">", remoteURI: s.RemoteURI, target: t, phase: early, environment: s.Environment,
		flow: transport.Flow{Network: t.Transport}, localCSeq: s.LocalCSeq, sentBy: s.SentBy, preset: s.Route,
		far: remote{tag: s.RemoteTag, target: s.RemoteTarget, routes: s.Routes},
	}
	if s.Confirmed {
		d.localCSeq += afterCrash
	}
	return d
}

// endStranded acknowledges and ends a call that an earlier process began and
// that is answered now. All that is needed stands in the answer.
func (u *UserAgent) endStranded(m *received) {
	d := &Dialog{
		ua: u, key: m.key(), remoteCSeq: -1, contactUser: "callboard", phase: over, flow: m.Flow, localCSeq: m.CSeq,
		environment: domain.Live, // the answer came from where our INVITE went, which was permitted then
		localURI:    m.From.URI.String(), remoteURI: m.To.URI.String(),
		target: resolve.Target{
			Host: m.Flow.Addr.Addr().String(), Port: int(m.Flow.Addr.Port()), Transport: strings.ToLower(m.Flow.Network),
		},
	}
	d.localParty = "<" + d.localURI + ">"
	d.far = remote{target: d.remoteURI}
	if !u.dialogs.add(d) {
		return
	}
	d.do(func() {
		d.hold(m.Flow.Addr.Addr())
		d.retire(d.ua.cfg.Linger)
		d.lateAnswer(m)
	})
}
