package sip

import (
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// lateAnswer takes an answer to an INVITE that is finished for us.
func (d *Dialog) lateAnswer(m *received) {
	o := d.out
	if d.remoteURI == "" || d.localURI == "" {
		d.remoteURI, d.localURI = m.To.URI.String(), m.From.URI.String()
		d.localParty = "<" + d.localURI + ">"
	}
	switch {
	case d.established && m.To.Tag == d.far.tag: // to a re-INVITE of ours, after the end
		if m.Code >= 300 {
			d.ackRefusal(d.far, d.flow, m)
		} else if m.Code >= 200 && !d.acknowledged(m) {
			d.acknowledge(d.far, m, nil, func() {})
		}
	case m.Code >= 300:
		if o != nil {
			o.final = true
		}
		d.ackRefusal(d.before(), d.flow, m)
		d.settled()
	case m.Code >= 200:
		if !d.acknowledged(m) {
			d.endFork(m)
		}
	case o != nil && o.refused && !o.final && !o.cancelSent && o.tx != nil && m.CSeq >= o.tx.cseq:
		// It rings although we have given it up.
		o.cancelSent = true
		d.sendCancel(m.CSeq, "too late")
	}
}

// endFork acknowledges and ends the dialog of a surplus 2xx.
func (d *Dialog) endFork(m *received) {
	if d.forks >= maxForks {
		d.ua.stats.stray.Add(1)
		return
	}
	d.forks++
	if d.phase == over {
		d.expires = time.Now().Add(d.ua.cfg.Linger)
	}
	far := farOf(m, d.remoteURI)
	cseq := m.CSeq
	if d.out != nil {
		if f := d.out.fork(far.tag); f != nil {
			cseq = max(cseq, f.local)
		}
	}
	d.acknowledge(far, m, nil, func() {
		d.withHop(far, func(to transport.Flow) {
			d.start(&clientTx{
				method: message.MethodBye, cseq: cseq + 1, far: far, to: to, fork: far.tag,
			}, func(_ *clientTx, m *received, _ error) {
				if m != nil && m.Code >= 200 {
					d.settled()
				}
			})
		})
	})
}

// settled reports that a call of an earlier process is over.
func (d *Dialog) settled() {
	if d.onStray != nil {
		d.onStray()
	}
}

func (d *Dialog) sendCancel(cseq uint32, reason string) {
	d.cancelThen(cseq, reason, func(*clientTx, *received, error) {})
}

// cancelThen also tells what was answered to the CANCEL.
func (d *Dialog) cancelThen(cseq uint32, reason string, heard func(*clientTx, *received, error)) {
	var extra []message.Header
	if reason != "" {
		extra = []message.Header{{Name: "Reason", Value: "SIP;cause=487;text=" + message.QuoteString(strings.Map(message.ReplaceControlChar, reason))}}
	}
	to := d.flow
	if d.out != nil && d.out.tx != nil && d.out.tx.to.Network != "" {
		to = d.out.tx.to // the way its INVITE went
	}
	d.start(&clientTx{
		method: message.MethodCancel, cseq: cseq, far: d.before(), to: to, extra: extra,
	}, heard)
}
