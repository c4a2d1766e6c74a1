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

// sipSocketBuffer is the buffer size that the SIP sockets request.
const sipSocketBuffer = 4 << 20

// nameLookupTimeout bounds a DNS lookup.
const nameLookupTimeout = 5 * time.Second

// minMediaPairs is the number of RTP port pairs, one per call, below which the doctor warns.
const minMediaPairs = 50

// networkChecker checks listeners, RTP ports, socket buffers and public addresses.
type networkChecker struct {
	report       *report
	config       *configs.Config
	running      bool // whether the service holds its ports
	wantedBuffer int  // wanted buffer of a SIP socket in bytes
}

// checkPorts checks that every port of the service is free by binding it. If the service already runs, it holds the
// ports itself and the check is skipped.
func (n *networkChecker) checkPorts(ctx context.Context) {
	if n.running {
		n.report.ok("http_port", "the running service holds its ports")
		return
	}
	c := n.config
	n.checkTCPPort(ctx, "http_port", "http_addr", c.HTTP.Addr)
	if c.HTTP.AdminAddr.IsValid() {
		n.checkTCPPort(ctx, "admin_port", "admin_addr", c.HTTP.AdminAddr)
	}
	if c.Node.Addr.IsValid() {
		n.checkTCPPort(ctx, "node_port", "node_addr", c.Node.Addr)
	}
	for _, l := range c.SIP.Listeners {
		for _, network := range l.Networks() {
			if network == "udp" {
				n.checkUDPPort(ctx, l.Addr)
			} else {
				n.checkTCPPort(ctx, "sip_port", "sip_addr", l.Addr)
			}
		}
	}
}

func (n *networkChecker) checkTCPPort(ctx context.Context, check, setting string, at netip.AddrPort) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if n.reportBindResult(check, setting, "tcp "+at.String(), err) {
		_ = ln.Close()
	}
}

func (n *networkChecker) checkUDPPort(ctx context.Context, at netip.AddrPort) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", at.String())
	if n.reportBindResult("sip_port", "sip_addr", "udp "+at.String(), err) {
		_ = conn.Close()
	}
}

func (n *networkChecker) reportBindResult(check, setting, at string, err error) bool {
	switch {
	case err == nil:
		n.report.ok(check, "%s is free", at)
		return true
	case errors.Is(err, unix.EADDRINUSE):
		n.report.bad(check, "find the process with ss -lntup and stop it, or change "+setting, "another process uses %s", at)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		n.report.bad("address_elsewhere", "find the addresses of this machine with ip addr; behind a NAT listen on the private address and set public_ip", "%s = %s: this machine does not have the address", setting, at)
	case errors.Is(err, unix.EACCES):
		n.report.bad("port_privileged", "set AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or use a port of at least 1024", "this user may not open %s", at)
	default:
		n.report.bad(check, "change "+setting, "%s: %v", at, err)
	}
	return false
}

func (n *networkChecker) checkMediaPorts(ctx context.Context) {
	r := n.config.Media.Ports
	pairs := (int(r.High) - int(r.Low) + 1) / 2
	if pairs < minMediaPairs {
		n.report.warn("media_port_count", "widen media_ports", "media_ports suffices for only %d concurrent calls", pairs)
	}
	if low, high, ok := ephemeralPortRange(); ok && int(r.Low) <= high && int(r.High) >= low {
		n.report.warn("media_ephemeral", fmt.Sprintf("move media_ports below %d, or change net.ipv4.ip_local_port_range", low), "media_ports %d-%d overlaps the ephemeral ports of the kernel (%d-%d): other connections will take some", r.Low, r.High, low, high)
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
		n.report.bad("media_ports", "change media_ports; another service uses the ports, perhaps a second Callboard", "%d of the ports %d-%d are in use", taken, r.Low, r.High)
	default:
		n.report.warn("media_ports", "find the processes with ss -lnup", "%d of the ports %d-%d are in use: calls skip them", taken, r.Low, r.High)
	}
}

// ephemeralPortRange returns the range of ports that the kernel assigns to outgoing connections.
func ephemeralPortRange() (low, high int, ok bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, 0, false
	}
	n, err := fmt.Sscan(string(text), &low, &high)
	return low, high, err == nil && n == 2
}

// checkSocketBuffers checks whether the kernel grants the buffers that the SIP sockets request.
func (n *networkChecker) checkSocketBuffers(ctx context.Context) {
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
		_ = b.set(n.wantedBuffer)
		got := 0
		_ = raw.Control(func(fd uintptr) { got, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, b.opt) })
		if got /= 2; got < n.wantedBuffer { // the kernel reports twice the granted size
			n.report.warn("socket_buffers", fmt.Sprintf("run sysctl -w net.core.%s=%d, and set the same in /etc/sysctl.d", b.name, n.wantedBuffer), "a SIP socket gets a buffer of %d instead of %d bytes: bursts of messages may be lost", got, n.wantedBuffer)
			continue
		}
		n.report.ok("socket_buffers", "net.core.%s permits %d bytes", b.name, n.wantedBuffer)
	}
}

// checkAddresses checks the addresses that Callboard announces to peers.
func (n *networkChecker) checkAddresses(ctx context.Context) {
	c := n.config
	ip := c.SIP.Addr.Addr().Unmap()
	switch {
	case ip.IsLoopback():
		n.report.warn("sip_loopback", "set sip_addr to the address of this machine, for example with callboard init", "SIP listens on loopback only: carriers and phones cannot reach it")
	case !c.PublicIP.IsValid() && ip.IsPrivate():
		n.report.warn("nat", "set public_ip to the public address of the NAT; for carriers in the same network change nothing, or list the network in sip_private", "SIP announces the private address %s, which carriers outside cannot reach", ip)
	default:
		n.report.ok("nat", "SIP announces %s to carriers", advertisedSIPAddress(c))
	}
	if c.PublicIP.IsValid() && c.PublicIP.IsPrivate() {
		n.report.warn("public_ip", "set public_ip to the public address of the NAT", "public_ip = %s is a private address", c.PublicIP)
	}
	if c.HTTP.AllowPlain && !c.HTTP.Addr.Addr().IsLoopback() && c.HTTP.CertFile == "" {
		n.report.warn("http_unencrypted", "set tls_cert and tls_key, or list a proxy in trusted_proxies", "insecure_http is set: API keys cross the network unencrypted")
	}
	host := publicHost(c)
	if host == "" {
		return
	}
	if strings.HasPrefix(c.HTTP.PublicURL, "http://") && !isLoopbackHost(host) {
		n.report.warn("public_url", "use https:// when there is a certificate", "links to recordings and sign-in links begin with %s", c.HTTP.PublicURL)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nameLookupTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		n.report.bad("public_url_name", "add an address record to the DNS", "the DNS has no address for the host %s of public_url: %v", host, err)
		return
	}
	n.report.ok("public_url_name", "%s resolves to %s", host, found[0])
}

func advertisedSIPAddress(c *configs.Config) netip.Addr {
	if c.PublicIP.IsValid() {
		return c.PublicIP
	}
	return c.SIP.Addr.Addr()
}

func isLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
