// Package sip is one SIP user agent: it calls, is called, and keeps the
// dialogs of both until they are over. Of SDP it reads only whether it is put on
// hold; it knows no sound, no campaign and no actor.
//
// Sipgo reads the sockets and parses; transactions and dialogs are ours
// (docs/adr/0002-sip-transactions.md). A message is handled on the goroutine
// that read it, a dialog under its own lock, and its owner is told after the
// lock is gone.
package sip

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// UserAgent is one SIP endpoint with its listeners and dialogs.
type UserAgent struct {
	cfg      Config
	log      *slog.Logger
	id       message.Identifiers
	gate     *gate
	parser   *sipmsg.Parser
	layer    *sipmsg.TransportLayer
	resolver *resolve.Resolver
	outward  outward
	stats    counts
	draining atomic.Bool
	held     atomic.Bool     // no call is begun
	leaving  atomic.Int64    // INVITEs that are being sent
	phones   *phoneRegistrar // nil: nobody may register here
	trunks   *auth.Verifier  // asks trunks for proofs
	relay    *relay          // nil: what comes here is ours

	onInvite func(*Incoming)
	onText   func(*IncomingText)
	texts    texts
	admit    func(Source) Admission
	bind     func(ctx context.Context, addr string) (packetConn, error)

	sources sync.Map // endpoint name → *udpSocket or *tcpConn
	udp     []*udpSocket
	tcp     *tcpPool
	streams []streamListener
	bound   atomic.Bool
	behind  atomic.Int64 // Unix nanoseconds: messages had to wait, and that counts until then
	ready   chan struct{}
	close   sync.Once
	closed  chan struct{}

	leastSession time.Duration // minSession; shorter in tests

	mu      sync.RWMutex
	dialogs map[dialogKey]*Dialog
	halfBy  map[netip.Addr]int    // unanswered inbound calls by host
	pending map[dialogKey]*Dialog // inbound INVITEs by Call-ID and From-tag
}

type counts struct {
	received, sent, retransmitted, unknown, rate, size, malformed, stray atomic.Uint64
	rejected, panics, transport, invites, incoming, late, full           atomic.Uint64
	relayed, returned, lookups, forged                                   atomic.Uint64
	halfOpen                                                             atomic.Int64
}

// New prepares a user agent; it opens no socket yet.
func New(cfg Config) (*UserAgent, error) {
	if len(cfg.Listen) == 0 {
		return nil, errors.New("sip: nothing to listen on")
	}
	for _, l := range cfg.Listen {
		if !slices.Contains([]string{resolve.UDP, resolve.TCP, resolve.TLS}, l.Network) {
			return nil, fmt.Errorf("sip: cannot listen on %q", l.Network)
		}
	}
	if cfg.DSCP < 0 || cfg.DSCP > 63 {
		return nil, fmt.Errorf("sip: %d is no DSCP", cfg.DSCP)
	}
	if !message.IsSingleLine(cfg.UserAgent) {
		return nil, fmt.Errorf("sip: %w in the user agent's name", message.ErrControlCharacter)
	}
	if err := cfg.checkRelay(); err != nil {
		return nil, err
	}
	if len(cfg.Secret) == 0 {
		cfg.Secret = make([]byte, 32)
		if _, err := rand.Read(cfg.Secret); err != nil {
			return nil, fmt.Errorf("sip: draw a secret: %w", err)
		}
	}
	cfg.SourceRate = orDefault(cfg.SourceRate, defaultRate)
	cfg.MaxHalfOpen = orDefault(cfg.MaxHalfOpen, defaultOpen)
	cfg.MaxTCPConns = orDefault(cfg.MaxTCPConns, defaultTCPMax)
	cfg.MaxPerHost = orDefault(cfg.MaxPerHost, defaultPerHost)
	if cfg.Linger == 0 {
		cfg.Linger = linger
	}
	if cfg.OverloadAfter == 0 {
		cfg.OverloadAfter = defaultOverload
	}
	if cfg.Resolver == nil {
		cfg.Resolver = resolve.New(resolve.Config{})
	}
	silent := slog.New(slog.DiscardHandler)
	if cfg.Log == nil {
		cfg.Log = silent
	}
	u := &UserAgent{
		cfg: cfg, log: cfg.Log, id: message.NewIdentifiers(cfg.Secret), leastSession: minSession, gate: newGate(cfg.SourceRate),
		parser: sipmsg.NewParser(sipmsg.WithHeadersParsers(message.HeaderParsers())), resolver: cfg.Resolver,
		outward: outward{known: make(map[netip.Addr]sentFrom)}, halfBy: make(map[netip.Addr]int),
		ready: make(chan struct{}), closed: make(chan struct{}),
		dialogs: make(map[dialogKey]*Dialog), pending: make(map[dialogKey]*Dialog), texts: texts{of: make(map[string]*serverText)},
	}
	u.bind, u.tcp, u.trunks = u.bindUDP, newPool(u), auth.NewTrunkVerifier(cfg.Secret)
	if len(cfg.RelayKey) > 0 {
		u.relay = newRelay(u)
	}
	// Sipgo logs whole messages of strangers: silenced.
	u.layer = sipmsg.NewTransportLayer(net.DefaultResolver, u.parser, nil, sipmsg.WithTransportLayerLogger(silent))
	u.layer.OnMessage(u.handle)
	return u, nil
}

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

// OnInvite sets who takes inbound calls; before Serve. It must not block.
// 100 Trying has been sent.
func (u *UserAgent) OnInvite(f func(*Incoming)) { u.onInvite = f }

// Admit sets who decides which sources are answered at all; before Serve.
// Without it only loopback is.
func (u *UserAgent) Admit(f func(Source) Admission) { u.admit = f }

// Serve listens until ctx ends or Close is called.
func (u *UserAgent) Serve(ctx context.Context) error {
	if !u.bound.CompareAndSwap(false, true) {
		return errors.New("sip: already served")
	}
	if err := u.open(ctx); err != nil {
		return errors.Join(err, u.Close())
	}
	close(u.ready)
	var wg sync.WaitGroup
	for _, s := range u.udp {
		wg.Go(func() { u.read(func() error { return u.layer.ServeUDP(s) }) })
	}
	for _, l := range u.streams {
		wg.Go(func() { u.tcp.listen(l) })
	}
	wg.Go(func() { u.read(func() error { return u.layer.ServeTCP(u.tcp) }) })
	select {
	case <-ctx.Done():
	case <-u.closed:
	}
	err := u.Close()
	wg.Wait()
	return err
}

// Ready is closed once all sockets are bound.
func (u *UserAgent) Ready() <-chan struct{} { return u.ready }

// Addr is the bound address of the first listener of a network, once Ready.
func (u *UserAgent) Addr(network string) netip.AddrPort {
	select {
	case <-u.ready:
	default:
		return netip.AddrPort{}
	}
	if network == resolve.UDP && len(u.udp) > 0 {
		return u.udp[0].local
	}
	for _, l := range u.streams {
		if l.network == network {
			return l.local
		}
	}
	return netip.AddrPort{}
}

// Close ends the listeners. Live dialogs are not ended: end them first.
func (u *UserAgent) Close() error {
	var err error
	u.close.Do(func() {
		close(u.closed)
		for _, s := range u.udp {
			err = errors.Join(err, s.Close())
		}
		for _, l := range u.streams {
			err = errors.Join(err, l.Close())
		}
		err = errors.Join(err, u.tcp.Close())
		for _, d := range u.live() {
			d.do(d.stop)
		}
	})
	return err
}

func (u *UserAgent) live() []*Dialog {
	u.mu.RLock()
	defer u.mu.RUnlock()
	all := make([]*Dialog, 0, len(u.dialogs))
	for _, d := range u.dialogs {
		all = append(all, d)
	}
	return all
}

// Counters tells totals and what is live.
func (u *UserAgent) Counters() Counters {
	u.mu.RLock()
	dialogs, pending, hosts := len(u.dialogs), len(u.pending), len(u.halfBy)
	u.mu.RUnlock()
	s := &u.stats
	return Counters{
		Received: s.received.Load(), Sent: s.sent.Load(), Retransmitted: s.retransmitted.Load(),
		DroppedUnknown: s.unknown.Load(), DroppedRate: s.rate.Load(), DroppedSize: s.size.Load(),
		DroppedMalformed: s.malformed.Load(), DroppedStray: s.stray.Load(), Rejected: s.rejected.Load(),
		Panics: s.panics.Load(), TransportErrors: s.transport.Load(), Invites: s.invites.Load(),
		Incoming: s.incoming.Load(), Dialogs: dialogs, HalfOpen: int(s.halfOpen.Load()), TCP: u.tcp.size(),
		Pending: pending, HalfHosts: hosts, RefusedLate: s.late.Load(), RefusedFull: s.full.Load(),
		Relayed: s.relayed.Load(), Returned: s.returned.Load(), Lookups: s.lookups.Load(), Forged: s.forged.Load(),
	}
}

// CallID is the Call-ID of a leg, known before its INVITE is sent.
func (u *UserAgent) CallID(attempt string, leg int) string { return u.id.LegCallID(attempt, leg) }

// recovered keeps a panic to the message or callback that caused it.
func (u *UserAgent) recovered(where string, then func()) {
	if p := recover(); p != nil {
		u.stats.panics.Add(1)
		u.log.Error("sip_panic", slog.String("where", where), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		if then != nil {
			then()
		}
	}
}

// parses tries the parser where a panic can be recovered.
func (u *UserAgent) parses(b []byte) (ok bool) {
	defer u.recovered("parse", func() { ok = false })
	_, err := u.parser.ParseSIP(b)
	return err == nil
}

// source is a socket; taken tells of the message being handled.
type source interface{ taken() arrival }

// arrival is where a message came from, its bytes, which are the socket's
// own, and how long it waited until we read it.
type arrival struct {
	flow   flow
	raw    []byte
	waited time.Duration
	passed *passed // what another node says of it
}

// handle takes one parsed message, on the goroutine that read it.
func (u *UserAgent) handle(in sipmsg.Message) {
	defer u.recovered("handle", nil)
	found, ok := u.sources.Load(in.Source())
	if !ok {
		return
	}
	from, ok := found.(source)
	if !ok {
		return
	}
	u.stats.received.Add(1)
	came := from.taken()
	m := new(received)
	if !m.Parse(in) {
		u.unreadable(came)
		return
	}
	m.flow, m.raw, m.waited, m.passed = came.flow, came.raw, came.waited, came.passed
	m.Relayed = came.passed != nil && came.passed.way == passedIn
	m.RestoreMethodCase(came.raw)
	u.fellBehind(m.waited)
	defer func() { m.raw = nil }()
	if m.IsRequest() {
		u.request(m)
	} else {
		u.response(m)
	}
}

func (u *UserAgent) lookup(k dialogKey) *Dialog {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.dialogs[k]
}

// response hands an answer to its dialog. An answer to nothing is dropped,
// unless it is a call of ours that an earlier process has begun.
func (u *UserAgent) response(m *received) {
	if m.passed != nil {
		u.relay.back(m)
		return
	}
	if len(m.Vias) != 1 || m.RepeatedHeader != "" || m.Version != "SIP/2.0" {
		u.stats.malformed.Add(1)
		return
	}
	if d := u.lookup(m.key()); d != nil {
		d.heard(m)
		m.SelectBodyPart()
		d.do(func() { d.response(m) })
		return
	}
	if m.CSeqMethod == message.MethodInvite && m.Code >= 200 && m.Code < 300 && u.ours(m) {
		u.endStranded(m)
		return
	}
	u.stats.stray.Add(1)
}

// ours tells whether an answer belongs to an INVITE that only we can have sent.
func (u *UserAgent) ours(m *received) bool {
	return u.id.IsLegCallID(m.CallID) && m.From.Tag == u.id.FromTag(m.CallID) && m.To.Tag != "" &&
		m.Branch() == u.id.Branch(m.CallID, m.From.Tag, m.CSeq, message.MethodInvite, "")
}

func (u *UserAgent) request(m *received) {
	if m.passed != nil && m.passed.way == passedOut {
		u.relay.out(m)
		return
	}
	d := u.owner(m)
	if d == nil && u.relay.takes(m) {
		return
	}
	u.serve(m, d)
}

// serve takes a request that is ours; d is its dialog, if there is one.
func (u *UserAgent) serve(m *received, d *Dialog) {
	source := m.source()
	admission := u.admitted(source)
	m.trunk = admission.TrunkID
	phone := u.phones.isPhone(source, admission.Allow)
	stranger := d == nil && !admission.Allow && !phone && !u.probe(m)
	if stranger && (u.phones == nil || m.Method != message.MethodRegister) {
		u.stats.unknown.Add(1)
		return
	}
	if d != nil {
		d.heard(m)
	}
	m.SelectBodyPart()
	if code, _ := m.Validate(); code != 0 {
		u.stats.rejected.Add(1)
		if m.Method != message.MethodAck && !stranger {
			u.reject(m, code)
		}
		return
	}
	switch {
	case d != nil && m.Method == message.MethodCancel:
		d.do(func() { d.cancelled(m) })
	case d != nil && m.To.Tag == "":
		fresh := false
		d.do(func() { fresh = d.inviteAgain(m) })
		if fresh && (admission.Allow || phone) {
			u.unfile(d)
			u.invited(m, phone, admission)
		}
	case d != nil:
		d.do(func() { d.request(m) })
	case m.Method == message.MethodAck:
		u.stats.stray.Add(1)
	case m.Method == message.MethodOptions && m.To.Tag == "":
		u.asked(m)
	case m.Method == message.MethodInvite && m.To.Tag == "":
		u.invited(m, phone, admission)
	case m.Method == message.MethodMessage && m.To.Tag == "":
		u.texted(m, phone, admission)
	case m.Method == message.MethodRegister && u.phones != nil:
		u.phones.register(m, stranger)
	case m.Method == message.MethodRegister:
		u.stats.rejected.Add(1)
		u.reject(m, 405)
	default:
		u.stats.rejected.Add(1)
		u.reject(m, 481)
	}
}

// invited begins an inbound call: of a trunk, or of a phone that has proved
// which one it is.
func (u *UserAgent) invited(m *received, phone bool, admission Admission) {
	if phone {
		var ok bool
		if m.phone, ok = u.phones.invite(m); !ok {
			return
		}
		m.trunk = ""
	} else if !u.demanded(m, admission) {
		return
	}
	u.incoming(m, admission)
}

// owner finds the dialog of a request: by our tag, or, for an INVITE and its
// CANCEL, by the caller's.
func (u *UserAgent) owner(m *received) *Dialog {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if m.To.Tag != "" && m.Method != message.MethodCancel {
		return u.dialogs[m.key()]
	}
	if m.Method != message.MethodInvite && m.Method != message.MethodCancel {
		return nil
	}
	d := u.pending[dialogKey{m.CallID, m.From.Tag}]
	if m.Method == message.MethodCancel && (d == nil || d.inviteBranch != m.Branch()) {
		return nil
	}
	return d
}

// reject answers without keeping anything: a retransmission is answered alike.
func (u *UserAgent) reject(m *received, code int) {
	var extra []message.Header
	switch code {
	case 405:
		extra = []message.Header{{Name: "Allow", Value: message.AllowedMethods}}
	case 415:
		extra = []message.Header{{Name: "Accept", Value: message.ContentSDP + ", " + message.ContentMixed}}
	case 420:
		extra = []message.Header{{Name: "Unsupported", Value: strings.Join(m.UnsupportedExtensions(), ", ")}}
	case 422:
		extra = []message.Header{{Name: "Min-SE", Value: seconds(u.leastSession)}}
	case 503:
		extra = []message.Header{{Name: "Retry-After", Value: "5"}}
	}
	u.reply(m, code, "", extra)
}

// undelivered reads the beginning of a datagram of ours that ICMP returned.
func (u *UserAgent) undelivered(payload []byte) {
	defer u.recovered("icmp", nil)
	method, rest, _ := bytes.Cut(payload, []byte(" "))
	_, head, found := bytes.Cut(rest, []byte("\r\n"))
	if !found || bytes.HasPrefix(method, []byte("SIP/")) {
		return
	}
	var key dialogKey
	var branch string
	for line := range strings.SplitSeq(string(head), "\r\n") {
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "Via":
			_, branch, _ = strings.Cut(value, ";branch=")
		case "From":
			_, key.tag, _ = strings.Cut(value, ";tag=")
		case "Call-ID":
			key.callID = value
		}
	}
	if d := u.lookup(key); d != nil {
		u.stats.transport.Add(1)
		d.do(func() { d.undelivered(string(method), branch) })
	}
}
