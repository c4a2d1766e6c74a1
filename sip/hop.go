package sip

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"
)

const (
	defaultPort   = 5060
	lookupTimeout = 2 * time.Second
	nameTTL       = 60 * time.Second
	maxNames      = 1024
)

var errNoRoute = errors.New("sip: no listener for this transport")

// flow is where messages of a dialog go to or came from.
type flow struct {
	network string
	addr    netip.AddrPort
	udp     *udpSocket // the socket to send from; nil: the first
	tcp     *tcpConn   // the connection a request came on
}

// stream tells whether the transport is reliable.
func (f flow) stream() bool { return f.network != "udp" }

// localOf is the address of our socket that a flow uses, zero while it is not known.
func (u *UserAgent) localOf(f flow) netip.AddrPort {
	switch {
	case f.tcp != nil && f.tcp.Conn != nil:
		return addrPort(f.tcp.Conn.LocalAddr())
	case f.udp != nil:
		return addrPort(f.udp.LocalAddr())
	default:
		return u.Addr(f.network)
	}
}

// send puts bytes on the wire without waiting. failed may be called later,
// from another goroutine, if they could not be delivered.
func (u *UserAgent) send(to flow, b []byte, failed func(error)) error {
	select {
	case <-u.closed:
		return net.ErrClosed
	default:
	}
	if to.network != "tcp" {
		s := to.udp
		if s == nil {
			if len(u.udp) == 0 {
				return errNoRoute
			}
			s = u.udp[0]
		}
		return s.write(b, to.addr)
	}
	if to.tcp != nil {
		if err := to.tcp.send(b, failed); err == nil {
			return nil
		}
	}
	conn := u.tcp.to(to.addr)
	if conn == nil {
		u.stats.transport.Add(1)
		return errOverflow
	}
	return conn.send(b, failed)
}

// sentBy is host:port of our Via and Contact for a flow.
func (u *UserAgent) sentBy(f flow) string {
	local := u.Addr("udp")
	switch {
	case f.network == "tcp":
		if local = u.Addr("tcp"); !local.IsValid() && f.tcp != nil && f.tcp.Conn != nil {
			local = addrPort(f.tcp.Conn.LocalAddr())
		}
	case f.udp != nil:
		local = addrPort(f.udp.LocalAddr())
	}
	ip, port := local.Addr(), int(local.Port())
	if u.cfg.PublicIP.IsValid() {
		ip = u.cfg.PublicIP
	} else if !ip.IsValid() || ip.IsUnspecified() {
		ip = u.names.outward(f.addr)
	}
	if u.cfg.PublicPort != 0 {
		port = u.cfg.PublicPort
	}
	if port == 0 {
		port = defaultPort
	}
	return netip.AddrPortFrom(ip, uint16(port&0xFFFF)).String()
}

func (u *UserAgent) publicHost(f flow) string {
	host, _, err := net.SplitHostPort(u.sentBy(f))
	if err != nil {
		return "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// place is what a URI says about where to send: an address, or a name to look up.
type place struct {
	flow
	host string
	port int
}

// placeOf reads the next hop from a URI that the far end gave. What cannot be
// used or may not be reached falls back to the flow the dialog already has.
func (u *UserAgent) placeOf(uri string, have flow) place {
	var parsed sipmsg.Uri
	if err := sipmsg.ParseUri(uri, &parsed); err != nil || parsed.Scheme != "sip" || parsed.Host == "" {
		return place{flow: have}
	}
	network := strings.ToLower(param(parsed.UriParams, "transport"))
	if network != "udp" && network != "tcp" {
		network = have.network
	}
	if maddr := param(parsed.UriParams, "maddr"); maddr != "" {
		parsed.Host = maddr
	}
	port := parsed.Port
	if port <= 0 || port > 65535 {
		port = defaultPort
	}
	ip, err := netip.ParseAddr(strings.Trim(parsed.Host, "[]"))
	if err != nil {
		return place{flow: flow{network: network}, host: parsed.Host, port: port}
	}
	return place{flow: u.reach(network, netip.AddrPortFrom(ip.Unmap(), uint16(port&0xFFFF)), have)}
}

// reach is the flow to an address that the far end named, if we may go there.
func (u *UserAgent) reach(network string, addr netip.AddrPort, have flow) flow {
	sameTCP := network == "tcp" && have.network == "tcp" && addr.Addr() == have.addr.Addr()
	if addr == have.addr && network == have.network || sameTCP {
		return have
	}
	if addr.Addr().IsUnspecified() || addr.Addr().IsMulticast() || u.cfg.MayReach != nil && !u.cfg.MayReach(addr) {
		return have
	}
	if network == "udp" {
		return flow{network: "udp", addr: addr, udp: have.udp}
	}
	return flow{network: network, addr: addr}
}

// names remembers host names for a minute, so that one Contact with a name
// does not cost a look-up per message.
type names struct {
	mu    sync.Mutex
	known map[string]nameEntry
	out   map[[2]bool]netip.Addr // by family and loopback: the address we send from
}

type nameEntry struct {
	addrs []netip.Addr
	until time.Time
}

func newNames() *names {
	return &names{known: make(map[string]nameEntry), out: make(map[[2]bool]netip.Addr)}
}

func (n *names) cached(host string) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.known[host]; time.Now().Before(e.until) {
		return e.addrs
	}
	return nil
}

// lookup resolves A and AAAA, IPv4 first. It waits: never on a reader's goroutine.
func (n *names) lookup(host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.Addr{ip.Unmap()}, nil
	}
	if found := n.cached(host); found != nil {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var four, six []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); a.Is4() {
			four = append(four, a)
		} else {
			six = append(six, a)
		}
	}
	found = append(four, six...)
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		clear(n.known)
	}
	n.known[host] = nameEntry{addrs: found, until: time.Now().Add(nameTTL)}
	return found, nil
}

// outward is the address the system would send from; asking sends nothing.
func (n *names) outward(to netip.AddrPort) netip.Addr {
	kind := [2]bool{to.Addr().Is6(), to.Addr().IsLoopback()}
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, ok := n.out[kind]; ok {
		return a
	}
	if !to.IsValid() || to.Port() == 0 {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	var d net.Dialer
	c, err := d.DialContext(context.Background(), "udp", net.JoinHostPort(to.Addr().String(), strconv.Itoa(int(to.Port()))))
	if err != nil {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	a := addrPort(c.LocalAddr()).Addr()
	_ = c.Close()
	n.out[kind] = a
	return a
}
