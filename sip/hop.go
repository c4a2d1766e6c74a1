package sip

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

const (
	lookupTimeout = 4 * time.Second
	outwardFor    = time.Minute
	maxOutward    = 1024
)

var errNoRoute = errors.New("sip: no listener for this transport")

// flow is where messages of a dialog go to or came from.
type flow struct {
	network string
	addr    netip.AddrPort
	udp     *udpSocket // the socket to send from; nil: the one that suits the address
	tcp     *tcpConn   // the connection a request came on
	name    string     // that the far end of a TLS connection must prove; "": its address
	hurry   bool       // there is another way: do not wait long for a connection
	guest   bool       // a phone: the connection that it opened will do
	beyond  *beyond    // a phone behind another node, which addr is
}

// stream tells whether the transport is reliable.
func (f flow) stream() bool { return f.network != resolve.UDP }

// flowOf is where a target of Resolve is.
func flowOf(t resolve.Target) flow {
	ip, _ := netip.ParseAddr(strings.Trim(t.Host, "[]"))
	return flow{network: t.Transport, addr: netip.AddrPortFrom(ip.Unmap(), uint16(t.Port&0xFFFF)), name: t.Name}
}

// socketAt is our UDP socket of an address; nil: there is none.
func (u *UserAgent) socketAt(local netip.AddrPort) *udpSocket {
	for _, s := range u.udp {
		if local.IsValid() && s.local == local {
			return s
		}
	}
	return nil
}

// suits tells whether a socket bound to one address can send to another.
func suits(bound, to netip.Addr) bool {
	if bound.IsUnspecified() && bound.Is6() {
		return true // both families, unless the machine says otherwise
	}
	return bound.Is4() == to.Is4()
}

// socketTo is the UDP socket for an address: of those that suit it the one
// that is bound to the address from which the system would send.
func (u *UserAgent) socketTo(to netip.AddrPort) *udpSocket {
	if len(u.udp) == 1 {
		return u.udp[0]
	}
	bound := make([]netip.Addr, len(u.udp))
	for i, s := range u.udp {
		bound[i] = s.local.Addr()
	}
	if i := u.best(bound, to); i >= 0 {
		return u.udp[i]
	}
	return nil
}

func (u *UserAgent) best(bound []netip.Addr, to netip.AddrPort) int {
	first := -1
	for i, a := range bound {
		if !suits(a, to.Addr()) {
			continue
		}
		if first < 0 {
			first = i
		}
		if a == u.outward.to(to) {
			return i
		}
	}
	return first
}

// localOf is the address of our socket that a flow uses, zero while it is not known.
func (u *UserAgent) localOf(f flow) netip.AddrPort {
	switch {
	case f.udp != nil:
		return f.udp.local
	case f.network == resolve.UDP:
		if s := u.socketTo(f.addr); s != nil {
			return s.local
		}
		return netip.AddrPort{}
	}
	if f.tcp != nil {
		// The far end knows this connection; a request of its own comes to our listener.
		if i := slices.IndexFunc(u.streams, func(l streamListener) bool {
			return l.network == f.network && l.local.Port() == f.tcp.local.Port()
		}); i >= 0 {
			return f.tcp.local
		}
	}
	var bound []netip.Addr
	var of []netip.AddrPort
	for _, l := range u.streams {
		if l.network == f.network {
			bound, of = append(bound, l.local.Addr()), append(of, l.local)
		}
	}
	if i := u.best(bound, f.addr); i >= 0 {
		return of[i]
	}
	if f.tcp != nil {
		return f.tcp.local
	}
	return netip.AddrPort{}
}

// send puts bytes on the wire without waiting. failed may be called later,
// from another goroutine, if they could not be delivered.
func (u *UserAgent) send(to flow, b []byte, failed func(error)) error {
	return u.post(to, parcel{b: b, failed: failed})
}

// post puts a message on the wire without waiting.
func (u *UserAgent) post(to flow, p parcel) error {
	select {
	case <-u.closed:
		return net.ErrClosed
	default:
	}
	if u.cfg.Silent && !bytes.HasPrefix(p.b, []byte("SIP/")) {
		return ErrSilent
	}
	if to.beyond != nil {
		p.b = u.relay.outward(p.b, to.beyond)
	}
	if !to.stream() {
		return u.datagram(to, p)
	}
	if to.tcp != nil {
		if err := to.tcp.send(p); err == nil {
			return nil
		}
	}
	conn := u.tcp.to(to)
	if conn == nil {
		u.stats.transport.Add(1)
		return errOverflow
	}
	return conn.send(p)
}

func (u *UserAgent) datagram(to flow, p parcel) error {
	s := to.udp
	if s == nil {
		s = u.socketTo(to.addr)
	}
	if s == nil {
		return errNoRoute
	}
	if p.begins {
		leaves := u.leaves(p.may)
		defer u.sent()
		if !leaves {
			return ErrHeld
		}
	}
	return s.write(p.b, to.addr)
}

// private tells whether a far end sees our own addresses rather than the
// public one.
func (u *UserAgent) private(far netip.Addr) bool {
	return far.IsLoopback() || slices.ContainsFunc(u.cfg.Private, func(p netip.Prefix) bool { return p.Contains(far) })
}

// sentBy is host:port of our Via and Contact for a flow.
func (u *UserAgent) sentBy(f flow) string {
	local, far := u.localOf(f), f.addr.Addr()
	ip, port := local.Addr(), local.Port()
	public := u.cfg.PublicIP
	switch {
	case public.IsValid() && !u.private(far) && (!far.IsValid() || public.Is4() == far.Is4()):
		ip = public
		if u.cfg.PublicPort != 0 && f.network != resolve.TLS {
			port = uint16(u.cfg.PublicPort & 0xFFFF)
		}
	case !ip.IsValid() || ip.IsUnspecified():
		ip = u.outward.to(f.addr)
	}
	if port == 0 {
		port = uint16(resolve.DefaultPort(f.network) & 0xFFFF)
	}
	return netip.AddrPortFrom(ip, port).String()
}

// Host is our address as a far end is told it in Via and Contact, and as its
// sound finds it: the public one, or the one listened on for those near us.
// Zero: there is no way there.
func (u *UserAgent) Host(network string, far netip.AddrPort) netip.Addr {
	at, err := netip.ParseAddrPort(u.sentBy(flow{network: network, addr: far}))
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
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

// place is what a URI says about where to send: a flow, or a name to look up.
type place struct {
	flow
	ask *resolve.Target
}

// placeOf reads the next hop from a URI that the far end gave. What cannot be
// used or may not be reached falls back to the flow the dialog already has.
func (u *UserAgent) placeOf(uri string, have flow) place {
	var parsed sipmsg.Uri
	if err := sipmsg.ParseUri(uri, &parsed); err != nil || parsed.Host == "" {
		return place{flow: have}
	}
	t := resolve.Target{Host: strings.Trim(parsed.Host, "[]"), Port: parsed.Port, Transport: have.network}
	switch network := strings.ToLower(message.ParamValue(parsed.UriParams, "transport")); {
	case parsed.Scheme == "sips":
		t.Transport = resolve.TLS
	case parsed.Scheme != "sip":
		return place{flow: have}
	case network == resolve.UDP, network == resolve.TCP, network == resolve.TLS:
		t.Transport = network
	}
	if maddr := message.ParamValue(parsed.UriParams, "maddr"); maddr != "" {
		t.Host = strings.Trim(maddr, "[]")
	}
	if t.Port < 0 || t.Port > 65535 {
		t.Port = 0
	}
	if have.network == resolve.TLS && t.Transport != resolve.TLS {
		return place{flow: have} // what began secured is not taken into the open
	}
	ip, err := netip.ParseAddr(t.Host)
	if err != nil {
		t.Name = ""
		return place{flow: flow{network: t.Transport}, ask: &t}
	}
	t = resolve.WithAddress(t, ip)
	t.Name = have.name // an address proves itself by the name that the dialog was called by
	return place{flow: u.reach(t, have)}
}

// reach is the flow to an address that the far end named, if we may go there.
func (u *UserAgent) reach(t resolve.Target, have flow) flow {
	to := flowOf(t)
	sameStream := to.stream() && to.network == have.network && to.addr.Addr() == have.addr.Addr()
	if sameStream && (have.tcp == nil || !have.tcp.lost()) || to.addr == have.addr && to.network == have.network {
		return have
	}
	if to.addr.Addr().IsUnspecified() || to.addr.Addr().IsMulticast() || u.cfg.MayReach != nil && !u.cfg.MayReach(to.addr) {
		return have
	}
	if !to.stream() && have.udp != nil && suits(have.udp.local.Addr(), to.addr.Addr()) {
		to.udp = have.udp
	}
	return to
}

// resolve finds a target. It waits: never on a reader's goroutine.
func (u *UserAgent) resolve(t resolve.Target) []resolve.Target {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	found, err := u.resolver.Resolve(ctx, t)
	if err != nil {
		return nil
	}
	return found
}

// outward remembers from which address the system sends to another.
type outward struct {
	mu    sync.Mutex
	known map[netip.Addr]sentFrom
}

type sentFrom struct {
	addr  netip.Addr
	until time.Time
}

// to asks the system; asking sends nothing.
func (o *outward) to(far netip.AddrPort) netip.Addr {
	local := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if !far.IsValid() || far.Port() == 0 {
		return local
	}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.known[far.Addr()]; ok && now.Before(s.until) {
		return s.addr
	}
	var d net.Dialer
	if c, err := d.DialContext(context.Background(), "udp", far.String()); err == nil {
		local = addrPort(c.LocalAddr()).Addr()
		_ = c.Close()
	}
	if len(o.known) >= maxOutward {
		clear(o.known)
	}
	o.known[far.Addr()] = sentFrom{local, now.Add(outwardFor)}
	return local
}

// contact is ours, as a far end reaches it over a flow.
func (d *Dialog) contact(to flow) string {
	if to.beyond != nil {
		to = flow{network: d.ua.listens(to.beyond.Network), addr: to.beyond.Addr}
	}
	c := "<sip:" + d.contactUser + "@" + d.ua.sentBy(to)
	if to.stream() {
		c += ";transport=" + to.network
	}
	if mark := d.ua.cfg.NodeMark; mark != "" {
		c += ";" + nodeName + "=" + mark
	}
	return c + ">"
}
