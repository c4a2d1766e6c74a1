package sip

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
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
func (r *relay) pass(m *received, at netip.AddrPort) {
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
func (r *relay) out(m *received) {
	p := m.passed
	to := flow{network: p.peer.Network, addr: p.peer.Addr, udp: r.u.socketAt(p.local), guest: true}
	back := *m
	back.raw = nil
	r.forward(to, r.request(m, to, nil), func(error) {
		if back.Method != message.MethodAck {
			r.u.reject(&back, 503)
		}
	})
}

// request is a request with our Via on top. Its branch is made of what an
// INVITE, its CANCEL and its ACK have in common, whichever node passes them on.
func (r *relay) request(m *received, to flow, seal *passed) []byte {
	from := m.Vias[0]
	branch := message.BranchCookie + r.id.MAC(24, "relay", message.ParamValue(from.Params, "branch"), from.Host, strconv.Itoa(from.Port), m.CallID, m.From.Tag, strconv.FormatUint(uint64(m.CSeq), 10))
	return r.rewrite(m, &rewriting{
		seal: seal, top: m.viaWithReceived(),
		via: []string{"SIP/2.0/", strings.ToUpper(to.network), " ", r.u.sentBy(to), ";rport;branch=", branch, ";cb=", r.token(m.responseFlow(), branch)},
	})
}

// back sends an answer to who sent the request. A node answers only whom it
// knows, so from now on we know it too.
func (r *relay) back(m *received) {
	p := m.passed
	if len(m.Vias) < 2 || m.RepeatedHeader != "" || m.Version != "SIP/2.0" {
		r.u.stats.malformed.Add(1)
		return
	}
	if m.Code < 300 || m.CSeqMethod != message.MethodRegister {
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
func (r *relay) rewrite(m *received, w *rewriting) []byte {
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
		line, rest = message.CutHeader(rest)
		name, value, _ := bytes.Cut(line, []byte(":"))
		name = bytes.TrimSpace(name)
		switch {
		case !topped && (message.EqualHeaderName(name, "via") || message.EqualHeaderName(name, "v")):
			topped = true
			b = appendVias(b, w.top, value)
		case message.EqualHeaderName(name, "content-length"), message.EqualHeaderName(name, "l"), message.EqualHeaderName(name, message.RelayHeaderLower):
		default:
			b = append(append(b, line...), '\r', '\n')
		}
	}
	b = appendHeader(b, "Content-Length", strconv.Itoa(len(m.Body)))
	b = append(append(b, '\r', '\n'), m.Body...)
	if seal > 0 {
		b = r.sealed(b, seal)
	}
	return b
}

// appendVias writes the first Via header with another first value.
func appendVias(b []byte, top string, value []byte) []byte {
	if top != "" {
		b = appendHeader(b, "Via", top)
	}
	if bytes.IndexByte(value, ',') < 0 {
		return b
	}
	for _, one := range message.SplitList(strings.ReplaceAll(string(value), "\r\n", ""))[1:] {
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

// flowBack is where requests of ours go in a dialog that a request begins, if
// its Contact cannot be used: to its source, and to a phone behind another node
// by way of that.
func (u *UserAgent) flowBack(m *received) flow {
	if m.passed == nil {
		return m.flow
	}
	source := m.source()
	if at := m.relayNode(); at.IsValid() && m.phone != "" {
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
