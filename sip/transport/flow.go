package transport

import (
	"net/netip"
	"strings"

	"github.com/callboard/callboard/sip/resolve"
)

// MaxDatagramRequest is the maximum size in bytes of a request over UDP, because the path MTU is unknown (RFC 3261
// §18.1.1).
const MaxDatagramRequest = 1300

// Source is the sender of a message.
type Source struct {
	Addr    netip.AddrPort
	Network string
}

// Flow is the network path to or from a peer: transport, address and, if known, the socket or connection.
type Flow struct {
	Network      string
	Addr         netip.AddrPort
	Socket       *UDPSocket   // socket to send from; nil: any suitable socket
	Connection   *Connection  // connection on which a request was received
	Name         string       // name that the peer of a TLS connection must prove; "": its address
	ShortDial    bool         // another path exists, so do not wait long for a connection
	ReuseInbound bool         // to a phone: a connection that the phone opened may be used
	RemotePhone  *RemotePhone // a phone that is connected to another node, whose address is Addr
}

// RemotePhone is a phone that is connected to another node.
type RemotePhone struct {
	Source

	Local netip.AddrPort // socket of that node from which the message is sent
}

// IsStream reports whether the transport is a stream (TCP or TLS).
func (f Flow) IsStream() bool { return f.Network != resolve.UDP }

// TCPTarget returns the address of the flow as a target over TCP.
func (f Flow) TCPTarget() resolve.Target {
	return resolve.Target{Host: f.Addr.Addr().String(), Port: int(f.Addr.Port()), Transport: resolve.TCP}
}

// FlowTo returns the flow to a resolved target.
func FlowTo(t resolve.Target) Flow {
	ip, _ := netip.ParseAddr(strings.Trim(t.Host, "[]"))
	return Flow{Network: t.Transport, Addr: netip.AddrPortFrom(ip.Unmap(), uint16(t.Port&0xFFFF)), Name: t.Name}
}
