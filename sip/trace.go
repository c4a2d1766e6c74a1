package sip

import (
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// Trace receives each message of a dialog, in the order in which this process sends and receives messages. It is
// called while the message is handled, so it must not block and must not call the dialog. The first message of a
// Call-ID is its INVITE. Messages outside of dialogs are not traced. The receiver of the messages has to limit how many
// it stores.
type Trace func(callID string, m TracedMessage)

// TracedMessage is one message as it was on the wire, without its secrets. Digest responses, SRTP keys, passwords
// in URIs and pressed keys are replaced by asterisks of the same length.
type TracedMessage struct {
	At            time.Time
	Out           bool // sent by this side
	Local, Remote netip.AddrPort
	Network       string // udp, tcp or tls
	Tag           string // local tag of an inbound dialog, whose Call-ID the caller chose; "": outbound
	Data          []byte // may be kept by the receiver
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
