package transport

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// Received is a message with the flow on which it arrived.
type Received struct {
	message.Message

	Flow       Flow
	QueueDelay time.Duration // how long the message waited before it was read
	Relay      *RelayInfo    // content of the relay header; nil: the message was not relayed
	Raw        []byte        // bytes as received, in the reader's buffer; nil once the message is handled
	Traced     bool          // the message and its responses belong to a traced dialog
	TraceTag   string        // tag of that dialog
}

// ViaWithReceived returns the topmost Via of a request with the source address added (RFC 3261 §18.2.1, RFC 3581).
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

// ResponseFlow returns the flow of a response to m. It leads back to the source (RFC 3581) or, if the Via has no rport,
// to the port in the Via.
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

// Source returns the original sender of a request, also if another node relayed it.
func (m *Received) Source() Source {
	if m.Relay != nil && m.Relay.Direction == RelayIn {
		return m.Relay.Peer
	}
	return Source{Addr: m.Flow.Addr, Network: m.Flow.Network}
}

// MaxResponseSize returns the maximum size of a response to a source that may be forged, so that it is not larger than
// the request. For a relayed request, the Via that the relaying node removes from the response is added.
func (m *Received) MaxResponseSize() int {
	if m.Relay != nil && m.Relay.Direction == RelayIn {
		return m.Relay.Size + len("Via: \r\n") + len(m.ViaWithReceived())
	}
	return len(m.Raw)
}

// ObservedFlow returns the flow to the original source, as a SIP trace shows it.
func (m *Received) ObservedFlow() Flow {
	f := m.Flow
	if m.Relay != nil && m.Relay.Direction == RelayIn {
		f.Network, f.Addr = m.Relay.Peer.Network, m.Relay.Peer.Addr
	}
	return f
}

// RelayNode returns the UDP address of the node that relayed a request; zero if the request was not relayed.
func (m *Received) RelayNode() netip.AddrPort {
	if m.Relay == nil || m.Relay.Direction != RelayIn || m.Relay.NodePort == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(m.Flow.Addr.Addr(), m.Relay.NodePort)
}

// Clone returns a copy of a message that stays valid after the reader has reused its buffer.
func (m *Received) Clone() *Received {
	c := *m
	c.Raw = bytes.Clone(m.Raw)
	return &c
}

// IsChallenge reports whether a response asks for credentials.
func (m *Received) IsChallenge() bool { return m.Code == 401 || m.Code == 407 }
