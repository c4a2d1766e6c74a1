package sip

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/resolve"
)

// beyond is a phone behind another node: what goes to it goes there first.
type beyond struct {
	Source

	local netip.AddrPort // the socket of that node from which it is sent
}

// rewriting is what becomes of the head of a message that is passed on.
type rewriting struct {
	seal *passed
	via  []string // ours, on top
	top  string   // in place of the first value of Via; "": that goes
}

// pass sends a request to the node that has it.
func (r *relay) pass(m *message, at netip.AddrPort) {
	seal := &passed{way: passedIn, peer: m.source(), size: len(m.raw)}
	if m.flow.udp != nil {
		seal.local = m.flow.udp.local
	}
	if len(r.u.udp) > 0 {
		seal.port = r.u.udp[0].local.Port()
	}
	to := flow{network: resolve.UDP, addr: at}
	if s := r.u.socketTo(at); s != nil {
		seal.port = s.local.Port()
	} else {
		to.network = resolve.TCP
	}
	b := r.request(m, to, seal)
	if len(b) <= maxNarrow || to.stream() || r.u.resolver.FailedRecently(tcpAt(to), time.Now()) {
		r.forward(to, b, nil)
		return
	}
	narrow := b
	wide := flow{network: resolve.TCP, addr: at, hurry: true}
	r.forward(wide, r.request(m, wide, seal), func(error) {
		r.u.resolver.MarkFailed(tcpAt(wide))
		r.forward(to, narrow, nil)
	})
}

// out sends a request of another node to the phone that it is for.
func (r *relay) out(m *message) {
	p := m.passed
	to := flow{network: p.peer.Network, addr: p.peer.Addr, udp: r.u.socketAt(p.local), guest: true}
	back := *m
	back.raw = nil
	r.forward(to, r.request(m, to, nil), func(error) {
		if back.method != methodAck {
			r.u.reject(&back, 503)
		}
	})
}

// request is a request with our Via on top. Its branch is made of what an
// INVITE, its CANCEL and its ACK have in common, whichever node passes them on.
func (r *relay) request(m *message, to flow, seal *passed) []byte {
	from := m.vias[0]
	branch := branchCookie + r.id.mac(24, "relay", param(from.Params, "branch"), from.Host, strconv.Itoa(from.Port), m.callID, m.from.tag, strconv.FormatUint(uint64(m.cseq), 10))
	return r.rewrite(m, &rewriting{
		seal: seal, top: m.stamped(),
		via: []string{"SIP/2.0/", strings.ToUpper(to.network), " ", r.u.sentBy(to), ";rport;branch=", branch, ";cb=", r.token(m.answerTo(), branch)},
	})
}

// back sends an answer to who sent the request. A node answers only whom it
// knows, so from now on we know it too.
func (r *relay) back(m *message) {
	p := m.passed
	if len(m.vias) < 2 || m.repeated != "" || m.version != "SIP/2.0" {
		r.u.stats.malformed.Add(1)
		return
	}
	if m.code < 300 || m.cseqMethod != methodRegister {
		r.remote.add(p.peer.Addr.Addr(), time.Now())
	}
	to := flow{network: p.peer.Network, addr: p.peer.Addr, udp: p.socket}
	if to.stream() {
		if to.tcp = r.u.tcp.have(to); to.tcp == nil {
			r.u.stats.transport.Add(1)
			return
		}
	}
	r.u.stats.returned.Add(1)
	if err := r.u.send(to, r.rewrite(m, &rewriting{}), nil); err != nil {
		r.u.stats.transport.Add(1)
	}
}

func (r *relay) forward(to flow, b []byte, failed func(error)) {
	r.u.stats.relayed.Add(1)
	if err := r.u.send(to, b, failed); err != nil {
		r.u.stats.transport.Add(1)
		if failed != nil {
			failed(err)
		}
	}
}

// rewrite copies a message as it came, but for what a proxy has to change.
func (r *relay) rewrite(m *message, w *rewriting) []byte {
	raw := m.raw
	head, _, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	first := bytes.Index(raw, []byte("\r\n"))
	if !found || first < 0 {
		return nil
	}
	b := make([]byte, 0, len(raw)+512)
	b = append(b, raw[:first+2]...)
	seal := 0
	if w.seal != nil {
		b = appendSeal(b, w.seal, time.Now())
		seal = len(b)
	}
	if w.via != nil {
		b = appendHeader(b, "Via", w.via...)
	}
	topped := false
	for rest := head[min(first+2, len(head)):]; len(rest) > 0; {
		var line []byte
		line, rest = firstHeader(rest)
		name, value, _ := bytes.Cut(line, []byte(":"))
		name = bytes.TrimSpace(name)
		switch {
		case !topped && (isName(name, "via") || isName(name, "v")):
			topped = true
			b = appendVias(b, w.top, value)
		case isName(name, "content-length"), isName(name, "l"), isName(name, sealLower):
		default:
			b = append(append(b, line...), '\r', '\n')
		}
	}
	b = appendHeader(b, "Content-Length", strconv.Itoa(len(m.body)))
	b = append(append(b, '\r', '\n'), m.body...)
	if seal > 0 {
		b = r.sealed(b, seal)
	}
	return b
}

const sealLower = "callboard-relay"

// appendVias writes the first Via header with another first value.
func appendVias(b []byte, top string, value []byte) []byte {
	if top != "" {
		b = appendHeader(b, "Via", top)
	}
	if bytes.IndexByte(value, ',') < 0 {
		return b
	}
	for _, one := range list(strings.ReplaceAll(string(value), "\r\n", ""))[1:] {
		b = appendHeader(b, "Via", one)
	}
	return b
}

func appendHeader(b []byte, name string, value ...string) []byte {
	b = append(append(b, name...), ':', ' ')
	for _, v := range value {
		b = append(b, v...)
	}
	return append(b, '\r', '\n')
}

// outward seals a request of ours for a phone behind another node.
func (r *relay) outward(b []byte, to *beyond) []byte {
	first := bytes.Index(b, []byte("\r\n"))
	if first < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+160)
	out = appendSeal(append(out, b[:first+2]...), &passed{way: passedOut, peer: to.Source, local: to.local}, time.Now())
	at := len(out)
	return r.sealed(append(out, b[first+2:]...), at)
}

// stamped is the topmost Via of a request with where it came from (RFC 3261
// 18.2.1, RFC 3581).
func (m *message) stamped() string {
	top := m.vias[0].Clone()
	host := m.flow.addr.Addr().String()
	switch {
	case hasParam(top.Params, "rport"):
		top.Params.Add("rport", strconv.Itoa(int(m.flow.addr.Port())))
		top.Params.Add("received", host)
	case top.Host != host:
		top.Params.Add("received", host)
	}
	return top.Value()
}

// answerTo is where an answer goes: back to the source (RFC 3581), or, without
// rport, to the port that the Via names.
func (m *message) answerTo() flow {
	to := m.flow
	if to.network == resolve.UDP && !hasParam(m.vias[0].Params, "rport") {
		port := m.vias[0].Port
		if port <= 0 || port > 65535 {
			port = resolve.PortSIP
		}
		to.addr = netip.AddrPortFrom(to.addr.Addr(), uint16(port&0xFFFF))
	}
	return to
}

// source is who sent a request, to us or to the node that passed it on.
func (m *message) source() Source {
	if m.passed != nil && m.passed.way == passedIn {
		return m.passed.peer
	}
	return Source{Addr: m.flow.addr, Network: m.flow.network}
}

// via is the one that its sender has written.
func (m *message) via() *sipmsg.ViaHeader {
	if m.passed != nil && m.passed.way == passedIn && len(m.vias) > 1 {
		return m.vias[1]
	}
	return m.vias[0]
}

// room is how large an answer may be that its sender gets for it where the
// source may be forged: not larger than what it has sent, and the Via of the
// node between, which takes that off.
func (m *message) room() int {
	if m.passed != nil && m.passed.way == passedIn {
		return m.passed.size + len("Via: \r\n") + len(m.stamped())
	}
	return len(m.raw)
}

// seen is a flow to or from the source, as whoever reads a trace knows it.
func (m *message) seen() flow {
	f := m.flow
	if m.passed != nil && m.passed.way == passedIn {
		f.network, f.addr = m.passed.peer.Network, m.passed.peer.Addr
	}
	return f
}

// through is the node that passed a request on, at which it listens; zero: it
// came directly.
func (m *message) through() netip.AddrPort {
	if m.passed == nil || m.passed.way != passedIn || m.passed.port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(m.flow.addr.Addr(), m.passed.port)
}

// flowBack is where requests of ours go in a dialog that a request begins, if
// its Contact cannot be used: to its source, and to a phone behind another node
// by way of that.
func (u *UserAgent) flowBack(m *message) flow {
	if m.passed == nil {
		return m.flow
	}
	source := m.source()
	if at := m.through(); at.IsValid() && m.phone != "" {
		return flow{network: resolve.UDP, addr: at, beyond: &beyond{source, m.passed.local}}
	}
	return flow{network: u.listens(source.Network), addr: source.Addr}
}

// flowTo is the way to a target: to a phone behind another node by way of that.
func (u *UserAgent) flowTo(t resolve.Target, phone bool) flow {
	f := flowOf(t)
	if t.Through.IsValid() && u.relay != nil {
		return flow{network: resolve.UDP, addr: t.Through, beyond: &beyond{Source{f.addr, f.network}, t.Local}}
	}
	f.udp, f.guest = u.socketAt(t.Local), phone
	return f
}

// listens is the network if we listen on it, where we can be told to be; else
// UDP.
func (u *UserAgent) listens(network string) string {
	if network != resolve.UDP && !slices.ContainsFunc(u.streams, func(l streamListener) bool { return l.network == network }) {
		return resolve.UDP
	}
	return network
}

// holdFlow lets packets through the gate of where the dialog's messages go.
func (d *Dialog) holdFlow() {
	d.hold(d.flow.addr.Addr())
	if d.flow.beyond != nil {
		d.hold(d.flow.beyond.Addr.Addr())
	}
}

// checkRelay refuses what could not work among nodes.
func (c *Config) checkRelay() error {
	if c.Elsewhere != nil && len(c.RelayKey) == 0 {
		return errors.New("sip: nothing is passed on without a key")
	}
	return checkMark(c.NodeMark)
}
