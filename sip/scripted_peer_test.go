package sip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const sdp = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"

// fakeNetwork is an in-memory network of datagrams for synctest bubbles. A read from a real socket would keep the
// bubble's clock from advancing.
type fakeNetwork struct {
	mu    sync.Mutex
	ports map[netip.AddrPort]*fakeSocket
	lose  func() bool // nil: no datagram is lost
}

type datagram struct {
	b    []byte
	from netip.AddrPort
}

type fakeSocket struct {
	net   *fakeNetwork
	addr  netip.AddrPort
	in    chan datagram
	done  chan struct{}
	close sync.Once
}

func newFakeNetwork() *fakeNetwork { return &fakeNetwork{ports: make(map[netip.AddrPort]*fakeSocket)} }

func (n *fakeNetwork) open(addr string) *fakeSocket {
	p := &fakeSocket{net: n, addr: netip.MustParseAddrPort(addr), in: make(chan datagram, 4096), done: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ports[p.addr] = p
	return p
}

func (p *fakeSocket) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	select {
	case d := <-p.in:
		return copy(b, d.b), d.from, nil
	case <-p.done:
		return 0, netip.AddrPort{}, net.ErrClosed
	}
}

func (p *fakeSocket) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	p.net.mu.Lock()
	peer := p.net.ports[to]
	if p.net.lose != nil && p.net.lose() {
		peer = nil
	}
	p.net.mu.Unlock()
	if peer != nil {
		select {
		case peer.in <- datagram{bytes.Clone(b), p.addr}:
		default:
		}
	}
	return len(b), nil
}

func (p *fakeSocket) ReadFrom([]byte) (int, net.Addr, error) { return 0, nil, errors.ErrUnsupported }
func (p *fakeSocket) WriteTo([]byte, net.Addr) (int, error)  { return 0, errors.ErrUnsupported }
func (p *fakeSocket) Close() error                           { p.close.Do(func() { close(p.done) }); return nil }

func (p *fakeSocket) LocalAddr() net.Addr              { return net.UDPAddrFromAddrPort(p.addr) }
func (p *fakeSocket) SetDeadline(time.Time) error      { return nil }
func (p *fakeSocket) SetReadDeadline(time.Time) error  { return nil }
func (p *fakeSocket) SetWriteDeadline(time.Time) error { return nil }

// eventLog collects the events of a dialog.
type eventLog struct {
	ch chan sip.Event
}

func newEventLog() *eventLog { return &eventLog{make(chan sip.Event, 256)} }

func (e *eventLog) add(ev sip.Event) { e.ch <- ev }

// next returns the next event, which must be of type T.
func next[T sip.Event](t *testing.T, e *eventLog) T {
	t.Helper()
	select {
	case ev := <-e.ch:
		got, ok := ev.(T)
		require.True(t, ok, "heard %T %+v", ev, ev)
		return got
	case <-time.After(3 * time.Minute):
		require.Fail(t, "no event arrived")
	}
	panic("unreachable")
}

func (e *eventLog) requireNoEvent(t *testing.T) {
	t.Helper()
	select {
	case ev := <-e.ch:
		require.Fail(t, "unexpected", "%T %+v", ev, ev)
	default:
	}
}

// msg is a message that a scripted peer received.
type msg struct {
	text string
	from netip.AddrPort
	at   time.Time
}

func (m msg) line() string   { return strings.SplitN(m.text, "\r\n", 2)[0] }
func (m msg) method() string { return strings.SplitN(m.text, " ", 2)[0] }

func (m msg) get(name string) string {
	found := regexp.MustCompile(`(?im)^` + regexp.QuoteMeta(name) + `: *(.*?)\r$`).FindStringSubmatch(m.text)
	if found == nil {
		return ""
	}
	return found[1]
}

// reply returns a response as a simple peer would send it. tag is added to To.
func (m msg) reply(code int, tag string, extra ...string) string {
	to := m.get("To")
	if tag != "" && !strings.Contains(to, "tag=") {
		to += ";tag=" + tag
	}
	lines := []string{
		fmt.Sprintf("SIP/2.0 %d X", code), "Via: " + m.get("Via"), "From: " + m.get("From"), "To: " + to,
		"Call-ID: " + m.get("Call-ID"), "CSeq: " + m.get("CSeq"),
	}
	body := ""
	for _, e := range extra {
		if strings.HasPrefix(e, "v=0") {
			body = e
			lines = append(lines, "Content-Type: application/sdp")
			continue
		}
		lines = append(lines, e)
	}
	lines = append(lines, fmt.Sprintf("Content-Length: %d", len(body)), "", body)
	return strings.Join(lines, "\r\n")
}

// peer is a scripted remote party that sends raw datagrams.
type peer struct {
	t    *testing.T
	port *fakeSocket
}

func (p *peer) send(text string, to netip.AddrPort) {
	_, err := p.port.WriteToUDPAddrPort([]byte(text), to)
	require.NoError(p.t, err)
}

// expect returns the next message, which must begin with prefix.
func (p *peer) expect(prefix string) msg {
	p.t.Helper()
	select {
	case d := <-p.port.in:
		m := msg{string(d.b), d.from, time.Now()}
		require.True(p.t, strings.HasPrefix(m.text, prefix), "wanted %s, got\n%s", prefix, m.text)
		return m
	case <-time.After(3 * time.Minute):
		require.Fail(p.t, "no message arrived", "wanted %s", prefix)
	}
	panic("unreachable")
}

// expectWithinHour returns the next message, which must begin with prefix and arrive within an hour.
func (p *peer) expectWithinHour(prefix string) msg {
	p.t.Helper()
	select {
	case d := <-p.port.in:
		m := msg{string(d.b), d.from, time.Now()}
		require.True(p.t, strings.HasPrefix(m.text, prefix), "wanted %s, got\n%s", prefix, m.text)
		return m
	case <-time.After(time.Hour):
		require.Fail(p.t, "no message arrived", "wanted %s", prefix)
	}
	panic("unreachable")
}

func (p *peer) expectNothing(wait time.Duration) {
	p.t.Helper()
	select {
	case d := <-p.port.in:
		require.Fail(p.t, "unexpected", "%s", d.b)
	case <-time.After(wait):
	}
}

const (
	localAddr = "127.0.0.1:5060"
	peerAddr  = "127.0.0.1:5070"
)

// stage is one user agent and one scripted peer inside a synctest bubble.
type stage struct {
	t      *testing.T
	ua     *sip.UserAgent
	peer   *peer
	net    *fakeNetwork
	events *eventLog
	traces *traceLog // of ua
	stop   func()
}

func newStage(t *testing.T, set func(*sip.UserAgent)) *stage {
	t.Helper()
	n, traces := newFakeNetwork(), new(traceLog)
	ua, err := sip.New(sip.Config{
		Listen: []transport.Listener{{Network: "udp", Addr: localAddr}}, Secret: []byte("secret"), UserAgent: "Callboard/test", Trace: traces.add,
	})
	require.NoError(t, err)
	ua.UseSocket(n.open(localAddr))
	if set != nil {
		set(ua)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		_ = ua.Serve(ctx)
		close(ended)
	}()
	<-ua.Ready()
	return &stage{
		t: t, ua: ua, net: n, peer: &peer{t, n.open(peerAddr)}, events: newEventLog(), traces: traces,
		stop: func() { cancel(); <-ended },
	}
}

func (s *stage) localAddr() netip.AddrPort { return netip.MustParseAddrPort(localAddr) }

func (s *stage) invite(change func(*sip.Invite)) *sip.Dialog {
	s.t.Helper()
	in := sip.Invite{
		Attempt: "att_1", Leg: 1, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"},
		To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: s.events.add,
	}
	if change != nil {
		change(&in)
	}
	d, err := s.ua.Invite(in)
	require.NoError(s.t, err)
	return d
}

const contact = "Contact: <sip:peer@127.0.0.1:5070>"

// establishCall makes an outbound call that is answered, and returns its INVITE and ACK.
func (s *stage) establishCall() (d *sip.Dialog, inv, ack msg) {
	s.t.Helper()
	d = s.invite(nil)
	inv = s.peer.expect("INVITE")
	s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
	ack = s.peer.expect("ACK")
	next[sip.Answered](s.t, s.events)
	return d, inv, ack
}

// request returns an in-dialog request of the scripted peer for an outbound call.
func (s *stage) request(inv msg, method string, cseq int, extra ...string) string {
	return msg{text: inv.text}.requestWithin(method, cseq, extra...)
}

func (m msg) requestWithin(method string, cseq int, extra ...string) string {
	lines := []string{
		method + " sip:callboard@" + localAddr + " SIP/2.0",
		fmt.Sprintf("Via: SIP/2.0/UDP %s;rport;branch=z9hG4bKpeer%s%d", peerAddr, method, cseq),
		"From: <sip:peer@127.0.0.1>;tag=p1", "To: " + m.get("From"), "Call-ID: " + m.get("Call-ID"),
		fmt.Sprintf("CSeq: %d %s", cseq, method), "Max-Forwards: 70", contact,
	}
	body := ""
	for _, e := range extra {
		if head, content, isBody := strings.Cut(e, "\n\n"); isBody {
			lines, body = append(lines, head), content
			continue
		}
		lines = append(lines, e)
	}
	return strings.Join(append(lines, fmt.Sprintf("Content-Length: %d", len(body)), "", body), "\r\n")
}
