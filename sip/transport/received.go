package transport

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// Received is a message with the flow by which it came.
type Received struct {
	message.Message

	Flow       Flow
	QueueDelay time.Duration // until the socket was read
	Relay      *RelayInfo    // by another node, or to be relayed; nil: it came directly
	Raw        []byte        // as received; the reader's buffer, nil once the message is handled
	Traced     bool          // it belongs to a traced dialog, and so do its responses
	TraceTag   string        // the tag of that dialog
}

// ViaWithReceived is the topmost Via of a request with the address that it came from (RFC 3261
// §18.2.1, RFC 3581).
func (m *Received) ViaWithReceived() string {
	top := m.Vias[0].Clone()
	host := m.Flow.Addr.Addr().String()
	switch {
	case message.HasParam(top.Params, "rport"):
		top.Params.Add("rport", strconv.Itoa(int(m.Flow.Addr.Port())))
		top.Params.Add("received", host)
	case top.Host != host:
		top.Params.Add("received", host)
	}
	return top.Value()
}

// ResponseFlow is the flow of a response: back to the source (RFC 3581), or, without
// rport, to the port that the Via names.
func (m *Received) ResponseFlow() Flow {
	to := m.Flow
	if to.Network == resolve.UDP && !message.HasParam(m.Vias[0].Params, "rport") {
		port := m.Vias[0].Port
		if port <= 0 || port > 65535 {
			port = resolve.PortSIP
		}
		to.Addr = netip.AddrPortFrom(to.Addr.Addr(), uint16(port&0xFFFF))
	}
	return to
}

// Source is the sender of a request, to this node or to the node that relayed it.
func (m *Received) Source() Source {
	if m.Relay != nil && m.Relay.Direction == RelayIn {
		return m.Relay.Peer
	}
	return Source{Addr: m.Flow.Addr, Network: m.Flow.Network}
}

// MaxResponseSize is the largest response to a source that may be forged: the size of the
// request and of the Via that the relaying node removes.
func (m *Received) MaxResponseSize() int {
	if m.Relay != nil && m.Relay.Direction == RelayIn {
		return m.Relay.Size + len("Via: \r\n") + len(m.ViaWithReceived())
	}
	return len(m.Raw)
}

// ObservedFlow is the flow to or from the source, as a SIP trace shows it.
func (m *Received) ObservedFlow() Flow {
	f := m.Flow
	if m.Relay != nil && m.Relay.Direction == RelayIn {
		f.Network, f.Addr = m.Relay.Peer.Network, m.Relay.Peer.Addr
	}
	return f
}

// RelayNode is the UDP address of the node that relayed a request; zero: the request
// came directly.
func (m *Received) RelayNode() netip.AddrPort {
	if m.Relay == nil || m.Relay.Direction != RelayIn || m.Relay.NodePort == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(m.Flow.Addr.Addr(), m.Relay.NodePort)
}

// Clone is a copy of a message that outlives the reader's buffer.
func (m *Received) Clone() *Received {
	c := *m
	c.Raw = bytes.Clone(m.Raw)
	return &c
}

// IsChallenge tells whether a response asks for credentials.
func (m *Received) IsChallenge() bool { return m.Code == 401 || m.Code == 407 }
