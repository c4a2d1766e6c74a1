// Package transport is the transport layer of SIP (RFC 3261 §18): UDP sockets, TCP and TLS connections, and the
// filter that decides which messages are parsed.
//
// sipgo reads the sockets and parses messages. A message is handled on the goroutine that read it.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// Defaults of Config.
const (
	defaultSourceRate     = 20000
	defaultMaxConnections = 512
	defaultMaxPerHost     = 64
)

// ErrSilent reports that Config.Silent prevents sending a request.
var ErrSilent = errors.New("sip: this user agent sends no requests")

// ErrNoListener reports that no listener can reach a target.
var ErrNoListener = errors.New("sip: no listener for this transport")

var errOverflow = errors.New("sip: the send queue of the connection is full")

// ErrCallsSuspended reports that the CallGate does not allow an INVITE that begins a call.
var ErrCallsSuspended = errors.New("sip: outbound calls are suspended")

// Config configures a Transport. With only Listen set, no message is admitted. The functions are called by the
// goroutines that read the sockets, so they must not block.
type Config struct {
	Listen         []Listener
	TLS            *TLS           // for connections, and for listeners without their own; nil: the root certificates of the machine
	PublicIP       netip.Addr     // host of Via and Contact; zero: the listener's address
	PublicPort     int            // port of Via and Contact; 0: the listener's port
	Private        []netip.Prefix // networks whose peers, like those on loopback, get the listener's own address instead of PublicIP
	DSCP           int            // of all sockets, 0 to 63
	Silent         bool           // requests are refused with ErrSilent; responses are sent
	MaxConnections int            // inbound TCP and TLS connections. Default: 512
	MaxPerHost     int            // inbound TCP and TLS connections of one host. Default: 64
	SourceRate     int            // messages per second of one source. Default: 20000
	Log            *slog.Logger   // nil: no log

	MayReach func(netip.AddrPort) bool // egress check for addresses that a peer has named; nil allows all
	Recover  func(where string, then func())

	Handle          func(sipmsg.Message, Arrival) bool // handles a parsed message; false: the message is malformed
	Undelivered     func(datagram []byte)              // receives the beginning of a sent datagram that an ICMP error returned
	Admit           func(b []byte, s Source, relay *RelayInfo) bool
	AdmitConnection func(Source) (known, admitted bool)
	IsAdmitted      func(Source) bool // whether the unreadable requests of a source are answered
	IsRegistered    func(Source) bool // whether a phone is registered at a source
	ReadRelayInfo   func(b []byte, now time.Time) *RelayInfo
	SealForRemote   func(b []byte, to *RemotePhone) []byte
	CallGate        CallGate
}

// CallGate decides whether an INVITE that begins a call may be sent at this moment.
type CallGate interface {
	// EnterCall is called before the INVITE is written, and LeaveCall after it, even if EnterCall returned false. may is
	// an additional check of this call and may be nil.
	EnterCall(may func() bool) bool
	LeaveCall()
}

// Counts are numbers of messages since the start.
type Counts struct {
	Received, Sent, Rejected, Errors                           atomic.Uint64
	DroppedUnknown, DroppedRate, DroppedSize, DroppedMalformed atomic.Uint64
}

// Outgoing is a message to be sent.
type Outgoing struct {
	Bytes      []byte
	Failed     func(error) // called later, on another goroutine, if the delivery failed; may be nil
	BeginsCall bool        // an INVITE that begins a call: CallGate decides
	MayBegin   func() bool // the check of this call for CallGate; nil: none
}

// Transport owns the sockets of a user agent.
type Transport struct {
	Counts Counts
	Filter *IngressFilter
	// Bind opens a UDP socket. Tests replace it before Open.
	Bind func(ctx context.Context, addr string) (PacketConn, error)

	cfg       Config
	parser    *sipmsg.Parser
	layer     *sipmsg.TransportLayer
	sockets   sync.Map // socket name → *UDPSocket or *Connection
	udp       []*UDPSocket
	pool      *connectionPool
	listeners []streamListener
	addresses localAddresses
	running   sync.WaitGroup
	closing   sync.Once
	closed    chan struct{}
}

// New returns a transport without opening a socket.
func New(cfg Config) (*Transport, error) {
	if len(cfg.Listen) == 0 {
		return nil, errors.New("sip: no listener is configured")
	}
	for _, l := range cfg.Listen {
		if !slices.Contains([]string{resolve.UDP, resolve.TCP, resolve.TLS}, l.Network) {
			return nil, fmt.Errorf("sip: cannot listen on %q", l.Network)
		}
	}
	if cfg.DSCP < 0 || cfg.DSCP > 63 {
		return nil, fmt.Errorf("sip: DSCP %d is not between 0 and 63", cfg.DSCP)
	}
	cfg.SourceRate = orDefault(cfg.SourceRate, defaultSourceRate)
	cfg.MaxConnections = orDefault(cfg.MaxConnections, defaultMaxConnections)
	cfg.MaxPerHost = orDefault(cfg.MaxPerHost, defaultMaxPerHost)
	silent := slog.New(slog.DiscardHandler)
	if cfg.Log == nil {
		cfg.Log = silent
	}
	t := &Transport{
		cfg: cfg, Filter: NewIngressFilter(cfg.SourceRate), parser: sipmsg.NewParser(sipmsg.WithHeadersParsers(message.HeaderParsers())),
		addresses: localAddresses{byPeer: make(map[netip.Addr]localAddress)}, closed: make(chan struct{}),
	}
	t.Bind, t.pool = t.bindUDP, newConnectionPool(t)
	// The logger of sipgo is silenced, because sipgo would log whole messages of unknown sources.
	t.layer = sipmsg.NewTransportLayer(net.DefaultResolver, t.parser, nil, sipmsg.WithTransportLayerLogger(silent))
	t.layer.OnMessage(t.handle)
	return t, nil
}

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

// Open binds all sockets.
func (t *Transport) Open(ctx context.Context) error {
	for _, l := range t.cfg.Listen {
		if l.Network != resolve.UDP {
			if err := t.openListener(ctx, l); err != nil {
				return err
			}
			continue
		}
		conn, err := t.Bind(ctx, l.Addr)
		if err != nil {
			return err
		}
		s := newUDPSocket(t, conn)
		t.sockets.Store(string(s.name), s)
		t.udp = append(t.udp, s)
	}
	return nil
}

// Start reads all sockets until Close.
func (t *Transport) Start() {
	for _, s := range t.udp {
		t.running.Go(func() { t.read(func() error { return t.layer.ServeUDP(s) }) })
	}
	for _, l := range t.listeners {
		t.running.Go(func() { t.pool.acceptFrom(l) })
	}
	t.running.Go(func() { t.read(func() error { return t.layer.ServeTCP(t.pool) }) })
}

// Wait returns once all readers have ended.
func (t *Transport) Wait() { t.running.Wait() }

// Closed returns a channel that Close closes.
func (t *Transport) Closed() <-chan struct{} { return t.closed }

// Close closes all sockets, once.
func (t *Transport) Close() error {
	var err error
	t.closing.Do(func() {
		close(t.closed)
		for _, s := range t.udp {
			err = errors.Join(err, s.Close())
		}
		for _, l := range t.listeners {
			err = errors.Join(err, l.Close())
		}
		err = errors.Join(err, t.pool.Close())
	})
	return err
}

// read runs serve, sipgo's reader of one socket, and runs it again after a panic in the parser. Such a panic loses one
// message.
func (t *Transport) read(serve func() error) {
	for {
		func() {
			defer t.cfg.Recover("read", nil)
			if err := serve(); err != nil && !errors.Is(err, net.ErrClosed) {
				t.cfg.Log.Error("sip_listener_failed", slog.Any("error", err))
			}
		}()
		select {
		case <-t.closed:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Addr returns the bound address of the first listener of a network, once Open has returned.
func (t *Transport) Addr(network string) netip.AddrPort {
	if network == resolve.UDP && len(t.udp) > 0 {
		return t.udp[0].local
	}
	for _, l := range t.listeners {
		if l.network == network {
			return l.local
		}
	}
	return netip.AddrPort{}
}

// Connections returns the number of open TCP and TLS connections.
func (t *Transport) Connections() int { return t.pool.size() }

// HasUDP reports whether a UDP socket is open.
func (t *Transport) HasUDP() bool { return len(t.udp) > 0 }

// Network returns the given network if there is a listener for it, otherwise UDP.
func (t *Transport) Network(network string) string {
	if network != resolve.UDP && !slices.ContainsFunc(t.listeners, func(l streamListener) bool { return l.network == network }) {
		return resolve.UDP
	}
	return network
}

// Parse parses one message. It does not recover a panic of sipgo's parser.
func (t *Transport) Parse(b []byte) (sipmsg.Message, error) { return t.parser.ParseSIP(b) }

// ParserPoolSize returns the number of UDP addresses that sipgo stores, which it never removes.
func (t *Transport) ParserPoolSize() int { return t.layer.Pool(resolve.UDP).Size() }

// canParse reports whether sipgo's parser accepts a message, and recovers a panic of the parser.
func (t *Transport) canParse(b []byte) (ok bool) {
	defer t.cfg.Recover("parse", func() { ok = false })
	_, err := t.parser.ParseSIP(b)
	return err == nil
}

// handle handles one parsed message on the goroutine that read it.
func (t *Transport) handle(in sipmsg.Message) {
	defer t.cfg.Recover("handle", nil)
	found, ok := t.sockets.Load(in.Source())
	if !ok {
		return
	}
	from, ok := found.(arrivalSource)
	if !ok {
		return
	}
	t.Counts.Received.Add(1)
	a := from.arrival()
	if !t.cfg.Handle(in, a) {
		t.refuseUnreadable(a)
	}
}

// admit decides whether one message is parsed. It returns the content of the relay header, if another node has relayed
// the message.
func (t *Transport) admit(b []byte, from netip.AddrPort, network string, limit int) (relay *RelayInfo, ok bool) {
	if len(b) <= 4 {
		return nil, false // keep-alive
	}
	s := Source{Addr: from, Network: network}
	if relay = t.cfg.ReadRelayInfo(b, time.Now()); relay != nil && relay.Direction == RelayIn {
		s = relay.Peer
	}
	if !t.cfg.Admit(b, s, relay) {
		t.Counts.DroppedUnknown.Add(1)
		return nil, false
	}
	switch {
	case !t.Filter.SpendRate(s.Addr.Addr(), time.Now()):
		t.Counts.DroppedRate.Add(1)
	case len(b) > limit:
		t.Counts.DroppedSize.Add(1)
	case !IsWellFormed(b):
		t.Counts.DroppedMalformed.Add(1)
	default:
		return relay, true
	}
	return nil, false
}

// AdmitsDatagram reports whether a datagram is parsed.
func (t *Transport) AdmitsDatagram(b []byte, from netip.AddrPort) bool {
	_, ok := t.admit(b, from, resolve.UDP, maxDatagram)
	return ok
}

// refuseUnreadable answers a request that passed the filter but cannot be parsed (RFC 3261 §8.2), if its source is
// admitted. The response is not larger than the request.
func (t *Transport) refuseUnreadable(a Arrival) {
	defer t.cfg.Recover("unreadable", nil)
	t.Counts.DroppedMalformed.Add(1)
	if !t.cfg.IsAdmitted(Source{Addr: a.Flow.Addr, Network: a.Flow.Network}) {
		return
	}
	b := message.BuildParseErrorResponse(a.Raw)
	if b == nil || len(b) > len(a.Raw) {
		return
	}
	t.Counts.Rejected.Add(1)
	if err := t.Send(a.Flow, Outgoing{Bytes: b}); err != nil {
		t.Counts.Errors.Add(1)
	}
}

// Send sends a message, or queues it for a connection, without waiting.
func (t *Transport) Send(to Flow, o Outgoing) error {
	select {
	case <-t.closed:
		return net.ErrClosed
	default:
	}
	if t.cfg.Silent && !bytes.HasPrefix(o.Bytes, []byte("SIP/")) {
		return ErrSilent
	}
	if to.RemotePhone != nil {
		o.Bytes = t.cfg.SealForRemote(o.Bytes, to.RemotePhone)
	}
	if !to.IsStream() {
		return t.sendDatagram(to, o)
	}
	if to.Connection != nil {
		if err := to.Connection.send(o); err == nil {
			return nil
		}
	}
	conn := t.pool.connect(to)
	if conn == nil {
		t.Counts.Errors.Add(1)
		return errOverflow
	}
	return conn.send(o)
}

func (t *Transport) sendDatagram(to Flow, o Outgoing) error {
	s := to.Socket
	if s == nil {
		s = t.SocketTo(to.Addr)
	}
	if s == nil {
		return ErrNoListener
	}
	if o.BeginsCall {
		enters := t.cfg.CallGate.EnterCall(o.MayBegin)
		defer t.cfg.CallGate.LeaveCall()
		if !enters {
			return ErrCallsSuspended
		}
	}
	return s.write(o.Bytes, to.Addr)
}

// InboundConnection returns the connection that the peer of a flow has opened; nil if it is closed.
func (t *Transport) InboundConnection(f Flow) *Connection { return t.pool.inboundFrom(f) }

// SetTimeouts sets the time limits for the header section of a message and for a TLS handshake. Call it before
// Open.
func (t *Transport) SetTimeouts(header, handshake time.Duration) {
	t.pool.headerTimeout, t.pool.handshakeTimeout = header, handshake
}
