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

func (u *UserAgent) trace(callID, tag string, f transport.Flow, out bool, b []byte) {
	if u.cfg.Trace == nil || len(b) == 0 {
		return
	}
	defer u.recovered("trace", nil)
	u.cfg.Trace(callID, TracedMessage{
		At: time.Now(), Out: out, Local: u.transport.LocalAddr(f), Remote: f.Addr, Network: f.Network, Tag: tag, Data: message.MaskSecrets(b),
	})
}
