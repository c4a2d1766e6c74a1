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

// The default ports (RFC 3261 §19.1.2).
const (
	PortSIP  = 5060
	PortSIPS = 5061
)

// Target is the destination of a request: a proxy of a trunk, or a phone.
type Target struct {
	Host      string `json:"host"`
	Port      int    `json:"port"`      // 0: by SRV if Host is a name, otherwise 5060, over TLS 5061
	Transport string `json:"transport"` // udp, tcp or tls; "": by NAPTR and SRV if Host is a name and Port is 0, otherwise udp
	TrunkID   string `json:"trunk_id,omitempty"`
	// Local is the UDP socket to send from, because the NAT of a phone may require it. Zero: any suitable socket.
	Local netip.AddrPort `json:"local,omitzero"`
	Name  string         `json:"name,omitempty"` // name that a TLS certificate must carry; "": Host
	// Through is the node that a phone is connected to. Messages to the phone are sent to this node first, and
	// Local is a socket of that node.
	Through netip.AddrPort `json:"through,omitzero"`
}

// String returns the target as host:port;transport and omits the port and the transport if they are not set.
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

// HostPort returns the host and port as they are written in a URI. A default port is omitted.
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

// WithName returns the target as it is written in a URI. Its host is the name from which DNS found the address.
func (t Target) WithName() Target {
	if t.Name != "" {
		t.Host = t.Name
	}
	return t
}

// TransportParam returns the transport parameter for a URI, such as ";transport=tcp"; "" for UDP.
func (t Target) TransportParam() string {
	if t.Transport == "" || t.Transport == UDP {
		return ""
	}
	return ";transport=" + t.Transport
}

// WithAddress returns t with an address and, if they are not set, the default transport and port.
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

// DefaultPort returns the default port of a transport.
func DefaultPort(network string) int {
	if network == TLS {
		return PortSIPS
	}
	return PortSIP
}
