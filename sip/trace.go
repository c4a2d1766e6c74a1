package sip

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// Trace hears each message of a dialog, in the order in which this process
// sends and takes them. It runs on the path of the message: it must not block
// and must not call the dialog. The first message of a Call-ID is its INVITE;
// messages that belong to no dialog are not told. Whoever keeps them sets the
// bound.
type Trace func(callID string, m TracedMessage)

// TracedMessage is one message as it stood on the wire, but for its secrets:
// digest answers, SRTP keys, passwords in URIs and pressed keys are stars of
// the same length.
type TracedMessage struct {
	At            time.Time
	Out           bool // sent by us
	Local, Remote netip.AddrPort
	Network       string // udp, tcp or tls
	Tag           string // ours, of a dialog that came in, for others choose its Call-ID; "" of one of ours
	Data          []byte // the receiver's to keep
}

// send puts a message of the dialog on the wire.
func (d *Dialog) send(to transport.Flow, b []byte) error {
	return d.post(to, transport.Outgoing{Bytes: b})
}

// post sends a parcel and traces it, unless the environment forbids the flow.
func (d *Dialog) post(to transport.Flow, p transport.Outgoing) error {
	if !d.inbound && !d.ua.allowsTarget(d.environment, to) {
		return ErrTestEnvironment
	}
	if !d.untold {
		d.ua.trace(d.key.callID, d.traceTag(), to, true, p.Bytes)
	}
	return d.ua.transport.Send(to, p)
}

// traceTag tells dialogs that came in with the same Call-ID apart. That of a
// dialog of ours nobody else can have made.
func (d *Dialog) traceTag() string {
	if d.inbound {
		return d.key.tag
	}
	return ""
}

func (u *UserAgent) trace(callID, tag string, f transport.Flow, out bool, b []byte) {
	if u.cfg.Trace == nil || len(b) == 0 {
		return
	}
	defer u.recovered("trace", nil)
	u.cfg.Trace(callID, TracedMessage{
		At: time.Now(), Out: out, Local: u.transport.LocalAddr(f), Remote: f.Addr, Network: f.Network, Tag: tag, Data: message.MaskSecrets(b),
	})
}

// heard traces a received message once it is known to belong to a dialog.
func (d *Dialog) heard(m *received) {
	if d.untold {
		return
	}
	m.traced, m.traceTag = true, d.traceTag()
	d.ua.trace(m.CallID, m.traceTag, m.ObservedFlow(), false, m.Raw)
}
