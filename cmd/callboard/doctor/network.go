package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/configs"
)

// sipBuffer is what the SIP sockets ask for.
const sipBuffer = 4 << 20

// nameLimit bounds the search for a name.
const nameLimit = 5 * time.Second

// leastPairs is how many calls there ought to be room for at least.
const leastPairs = 50

// networkChecker looks at listeners, RTP ports, socket buffers and public addresses.
type networkChecker struct {
	report  *report
	config  *configs.Config
	running bool // the service holds its ports
	buffer  int  // bytes of a SIP socket's buffer
}

// ports binds what the service will bind.
func (n *networkChecker) ports(ctx context.Context) {
	if n.running {
		n.report.ok("http_port", "the service listens")
		return
	}
	c := n.config
	n.tcp(ctx, "http_port", "http_addr", c.HTTP.Addr)
	if c.HTTP.AdminAddr.IsValid() {
		n.tcp(ctx, "admin_port", "admin_addr", c.HTTP.AdminAddr)
	}
	if c.Node.Addr.IsValid() {
		n.tcp(ctx, "node_port", "node_addr", c.Node.Addr)
	}
	for _, l := range c.SIP.Listeners {
		for _, network := range l.Networks() {
			if network == "udp" {
				n.udp(ctx, l.Addr)
			} else {
				n.tcp(ctx, "sip_port", "sip_addr", l.Addr)
			}
		}
	}
}

func (n *networkChecker) tcp(ctx context.Context, check, setting string, at netip.AddrPort) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if n.bound(check, setting, "tcp "+at.String(), err) {
		_ = ln.Close()
	}
}

func (n *networkChecker) udp(ctx context.Context, at netip.AddrPort) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", at.String())
	if n.bound("sip_port", "sip_addr", "udp "+at.String(), err) {
		_ = conn.Close()
	}
}

func (n *networkChecker) bound(check, setting, at string, err error) bool {
	switch {
	case err == nil:
		n.report.ok(check, "%s is free", at)
		return true
	case errors.Is(err, unix.EADDRINUSE):
		n.report.bad(check, "ss -lntup shows who has it; stop that, or change "+setting, "%s is taken by another process", at)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		n.report.bad("address_elsewhere", "ip addr shows the addresses of this machine; behind a NAT listen on the inner one and set public_ip", "%s = %s: this machine has no such address", setting, at)
	case errors.Is(err, unix.EACCES):
		n.report.bad("port_privileged", "AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or a port from 1024 on", "%s may not be opened by this user", at)
	default:
		n.report.bad(check, "change "+setting, "%s: %v", at, err)
	}
	return false
}

func (n *networkChecker) mediaPorts(ctx context.Context) {
	r := n.config.Media.Ports
	pairs := (int(r.High) - int(r.Low) + 1) / 2
	if pairs < leastPairs {
		n.report.warn("media_room", "widen media_ports", "media_ports has room for %d calls at once", pairs)
	}
	if low, high, ok := ephemeral(); ok && int(r.Low) <= high && int(r.High) >= low {
		n.report.warn("media_ephemeral", fmt.Sprintf("move media_ports below %d, or set net.ipv4.ip_local_port_range", low), "media_ports %d-%d lies within the ports that the kernel gives to connections (%d-%d): some will be taken", r.Low, r.High, low, high)
	}
	if n.running {
		return
	}
	taken := 0
	ip := n.config.SIP.Addr.Addr()
	for port := int(r.Low); port <= int(r.High) && ctx.Err() == nil; port++ {
		conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", netip.AddrPortFrom(ip, uint16(port)).String()) //nolint:gosec // a port
		if err == nil {
			_ = conn.Close()
		} else if errors.Is(err, unix.EADDRINUSE) {
			taken++
		}
	}
	switch {
	case taken == 0:
		n.report.ok("media_ports", "ports %d-%d are free", r.Low, r.High)
	case taken > int(r.High-r.Low)/2:
		n.report.bad("media_ports", "another service, a second Callboard perhaps, uses them: change media_ports", "%d of the ports %d-%d are taken", taken, r.Low, r.High)
	default:
		n.report.warn("media_ports", "ss -lnup shows who has them", "%d of the ports %d-%d are taken: calls pass over them", taken, r.Low, r.High)
	}
}

// ephemeral are the ports that the kernel gives to connections.
func ephemeral() (low, high int, ok bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, 0, false
	}
	n, err := fmt.Sscan(string(text), &low, &high)
	return low, high, err == nil && n == 2
}

// buffers asks the kernel for the buffers that the SIP sockets want.
func (n *networkChecker) buffers(ctx context.Context) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err != nil {
		n.report.warn("socket_buffers", "", "%v", err)
		return
	}
	defer func() { _ = conn.Close() }()
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		return
	}
	raw, err := udp.SyscallConn()
	if err != nil {
		return
	}
	for _, b := range []struct {
		name string
		set  func(int) error
		opt  int
	}{{"rmem_max", udp.SetReadBuffer, unix.SO_RCVBUF}, {"wmem_max", udp.SetWriteBuffer, unix.SO_SNDBUF}} {
		_ = b.set(n.buffer)
		got := 0
		_ = raw.Control(func(fd uintptr) { got, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, b.opt) })
		if got /= 2; got < n.buffer { // the kernel counts twice what it grants
			n.report.warn("socket_buffers", fmt.Sprintf("sysctl -w net.core.%s=%d, and the same in /etc/sysctl.d", b.name, n.buffer), "a SIP socket is given %d bytes of the %d that it wants: bursts of messages get lost", got, n.buffer)
			continue
		}
		n.report.ok("socket_buffers", "net.core.%s has room for %d bytes", b.name, n.buffer)
	}
}

// addresses looks at what others are told about where we are.
func (n *networkChecker) addresses(ctx context.Context) {
	c := n.config
	ip := c.SIP.Addr.Addr().Unmap()
	switch {
	case ip.IsLoopback():
		n.report.warn("sip_loopback", "set sip_addr to the address of this machine, callboard init helps", "SIP listens on loopback only: no carrier and no phone reaches it")
	case !c.PublicIP.IsValid() && ip.IsPrivate():
		n.report.warn("nat", "set public_ip to the outer address of the NAT; inside one network leave it, or name the network in sip_private", "SIP tells %s to carriers, which those outside cannot answer", ip)
	default:
		n.report.ok("nat", "carriers are told %s", advertisedAddress(c))
	}
	if c.PublicIP.IsValid() && c.PublicIP.IsPrivate() {
		n.report.warn("public_ip", "the outer address of the NAT", "public_ip = %s is an address of a private network", c.PublicIP)
	}
	if c.HTTP.AllowPlain && !c.HTTP.Addr.Addr().IsLoopback() && c.HTTP.CertFile == "" {
		n.report.warn("http_clear", "tls_cert and tls_key, or a proxy in trusted_proxies", "keys cross the network in the clear: insecure_http")
	}
	host := publicHost(c)
	if host == "" {
		return
	}
	if strings.HasPrefix(c.HTTP.PublicURL, "http://") && !loopbackName(host) {
		n.report.warn("public_url", "https:// once there is a certificate", "links to recordings and for signing in are made with %s", c.HTTP.PublicURL)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nameLimit)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		n.report.bad("public_url_name", "give the name an address in the DNS", "public_url names %s, which nobody finds: %v", host, err)
		return
	}
	n.report.ok("public_url_name", "%s is %s", host, found[0])
}

func advertisedAddress(c *configs.Config) netip.Addr {
	if c.PublicIP.IsValid() {
		return c.PublicIP
	}
	return c.SIP.Addr.Addr()
}

func loopbackName(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
