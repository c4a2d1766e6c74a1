package resolve

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The transports of a target.
const (
	UDP = "udp"
	TCP = "tcp"
	TLS = "tls"
)

// The ports of a target that names none (RFC 3261 §19.1.2).
const (
	PortSIP  = 5060
	PortSIPS = 5061
)

// Target is where a request goes: a proxy of a trunk, or a phone.
type Target struct {
	Host      string `json:"host"`
	Port      int    `json:"port"`      // 0: by SRV where Host is a name, else 5060, over TLS 5061
	Transport string `json:"transport"` // udp, tcp or tls; "": by NAPTR and SRV where Host is a name and Port is 0, else udp
	TrunkID   string `json:"trunk_id,omitempty"`
	// Local is our UDP socket to send from, which a phone's NAT may insist on;
	// zero: the one that suits.
	Local netip.AddrPort `json:"local,omitzero"`
	Name  string         `json:"name,omitempty"` // that a TLS certificate must carry; "" is Host
	// Through is the node behind which a phone is: what goes to it goes there
	// first, and Local is a socket of that node's.
	Through netip.AddrPort `json:"through,omitzero"`
}

// String names a target: host:port;transport, less what is left open.
func (t Target) String() string {
	s := t.Host
	if t.Port != 0 {
		s = net.JoinHostPort(strings.Trim(t.Host, "[]"), strconv.Itoa(t.Port))
	}
	if t.Transport != "" {
		s += ";" + t.Transport
	}
	return s
}

// HostPort is the host of a URI, with the port if it is not the default one.
func (t Target) HostPort() string {
	host := t.Host
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	if t.Port == 0 || t.Port == DefaultPort(t.Transport) {
		return host
	}
	return host + ":" + strconv.Itoa(t.Port)
}

// WithName returns the target as it is written in a URI: with the name that DNS resolved.
func (t Target) WithName() Target {
	if t.Name != "" {
		t.Host = t.Name
	}
	return t
}

// TransportParam is the transport parameter of a URI: "" for UDP.
func (t Target) TransportParam() string {
	if t.Transport == "" || t.Transport == UDP {
		return ""
	}
	return ";transport=" + t.Transport
}

// WithAddress returns t with an address and, where it has none, the default transport and port.
func WithAddress(t Target, ip netip.Addr) Target {
	t.Host = ip.Unmap().WithZone("").String()
	if t.Transport == "" {
		t.Transport = UDP
	}
	if t.Port == 0 {
		t.Port = DefaultPort(t.Transport)
	}
	return t
}

// DefaultPort is the default port of a transport.
func DefaultPort(network string) int {
	if network == TLS {
		return PortSIPS
	}
	return PortSIP
}
