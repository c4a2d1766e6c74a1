package sip

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// received is a message with where it came from, and what the user agent knows
// of its sender.
type received struct {
	message.Message

	flow     flow
	waited   time.Duration // until the socket was read
	passed   *passed       // by another node, or to be passed on; nil: it is for us
	trunk    string        // of the source, as admitted
	proved   bool          // the trunk, by digest
	phone    string        // the account of the phone that calls, once proved
	traced   bool          // belongs to a dialog, and so do its answers
	traceTag string
	raw      []byte // as received; the reader's, gone once the message is handled
}

// dialogKey names a dialog, or a dialog to be, by Call-ID and our own tag.
type dialogKey struct{ callID, tag string }

// key names the dialog at our side: by From-tag for answers to our requests,
// by To-tag for requests of the far end.
func (m *received) key() dialogKey {
	if m.IsRequest() {
		return dialogKey{m.CallID, m.To.Tag}
	}
	return dialogKey{m.CallID, m.From.Tag}
}

// viaWithReceived is the topmost Via of a request with where it came from (RFC 3261
// 18.2.1, RFC 3581).
func (m *received) viaWithReceived() string {
	top := m.Vias[0].Clone()
	host := m.flow.addr.Addr().String()
	switch {
	case message.HasParam(top.Params, "rport"):
		top.Params.Add("rport", strconv.Itoa(int(m.flow.addr.Port())))
		top.Params.Add("received", host)
	case top.Host != host:
		top.Params.Add("received", host)
	}
	return top.Value()
}

// responseFlow is where an answer goes: back to the source (RFC 3581), or, without
// rport, to the port that the Via names.
func (m *received) responseFlow() flow {
	to := m.flow
	if to.network == resolve.UDP && !message.HasParam(m.Vias[0].Params, "rport") {
		port := m.Vias[0].Port
		if port <= 0 || port > 65535 {
			port = resolve.PortSIP
		}
		to.addr = netip.AddrPortFrom(to.addr.Addr(), uint16(port&0xFFFF))
	}
	return to
}

// source is who sent a request, to us or to the node that passed it on.
func (m *received) source() Source {
	if m.passed != nil && m.passed.way == passedIn {
		return m.passed.peer
	}
	return Source{Addr: m.flow.addr, Network: m.flow.network}
}

// maxResponseSize is the largest response to a source that may be forged: the size of the
// request and of the Via that the relaying node removes.
func (m *received) maxResponseSize() int {
	if m.passed != nil && m.passed.way == passedIn {
		return m.passed.size + len("Via: \r\n") + len(m.viaWithReceived())
	}
	return len(m.raw)
}

// observedFlow is a flow to or from the source, as whoever reads a trace knows it.
func (m *received) observedFlow() flow {
	f := m.flow
	if m.passed != nil && m.passed.way == passedIn {
		f.network, f.addr = m.passed.peer.Network, m.passed.peer.Addr
	}
	return f
}

// relayNode is the node that passed a request on, at which it listens; zero: it
// came directly.
func (m *received) relayNode() netip.AddrPort {
	if m.passed == nil || m.passed.way != passedIn || m.passed.port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(m.flow.addr.Addr(), m.passed.port)
}

// clone is a copy of a message that outlives the reader's buffer.
func (m *received) clone() *received {
	c := *m
	c.raw = bytes.Clone(m.raw)
	return &c
}

// isChallenge tells whether an answer asks for credentials.
func (m *received) isChallenge() bool { return m.Code == 401 || m.Code == 407 }
