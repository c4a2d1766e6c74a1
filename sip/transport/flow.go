package transport

import (
	"net/netip"
	"strings"

	"github.com/callboard/callboard/sip/resolve"
)

// MaxDatagramRequest is the largest request in bytes for a datagram while nothing is known of
// the path (RFC 3261 §18.1.1).
const MaxDatagramRequest = 1300

// Source is the sender of a message.
type Source struct {
	Addr    netip.AddrPort
	Network string
}

// Flow is where messages of a dialog go to or came from.
type Flow struct {
	Network      string
	Addr         netip.AddrPort
	Socket       *UDPSocket   // to send from; nil: the one that suits the address
	Connection   *Connection  // by which a request came
	Name         string       // that the peer of a TLS connection must prove; "": its address
	ShortDial    bool         // another way exists: do not wait long for a connection
	ReuseInbound bool         // to a phone: a connection that it opened will do
	RemotePhone  *RemotePhone // a phone that is reached through another node, whose address is Addr
}

// RemotePhone is a phone that is reached through another node.
type RemotePhone struct {
	Source

	Local netip.AddrPort // socket of that node from which the message is sent
}

// IsStream tells whether the transport is reliable.
func (f Flow) IsStream() bool { return f.Network != resolve.UDP }

// TCPTarget is the address of the flow as a target over TCP.
func (f Flow) TCPTarget() resolve.Target {
	return resolve.Target{Host: f.Addr.Addr().String(), Port: int(f.Addr.Port()), Transport: resolve.TCP}
}

// FlowTo is the flow to a resolved target.
func FlowTo(t resolve.Target) Flow {
	ip, _ := netip.ParseAddr(strings.Trim(t.Host, "[]"))
	return Flow{Network: t.Transport, Addr: netip.AddrPortFrom(ip.Unmap(), uint16(t.Port&0xFFFF)), Name: t.Name}
}
