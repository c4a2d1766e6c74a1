// Package sip is a SIP user agent (RFC 3261). It makes and receives calls and keeps their dialogs until they are
// over. Of SDP it reads only the hold attributes.
//
// Transactions and dialogs are implemented here (docs/adr/0002-sip-transactions-and-dialogs.md). A message is handled on
// the goroutine that read it, and a dialog is guarded by its own lock. Events are reported to the owner after the lock
// is released.
//
// A Dialog is composed of components, each in its own file: inviteClient, inviteServer, reliableProvisionals,
// offerAnswer, sessionTimer, acknowledgements, requestQueue, responder, referClient and referNotifier. Its
// userAgentClient, with a digestClient and an eventQueue, sends their requests.
package sip

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/overload"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/sessiontimer"
	"github.com/callboard/callboard/sip/transport"
)

// Defaults of Config.
const (
	defaultMaxHalfOpen   = 2000
	defaultLinger        = 40 * time.Second
	defaultOverloadAfter = 500 * time.Millisecond
)

// UserAgent is one SIP endpoint with its listeners and dialogs.
type UserAgent struct {
	cfg       Config
	log       *slog.Logger
	id        message.Identifiers
	transport *transport.Transport
	resolver  *resolve.Resolver
	relay     *cluster.Relay // nil: there is only one node
	calls     callGate
	load      *overload.Detector
	stats     counts
	phones    *registrar.Server // nil: no phone may register
	trunks    *auth.Verifier    // challenges trunks

	onInvite  func(*Incoming)
	onMessage func(*IncomingMessage)
	messages  messageTransactions
	admit     func(transport.Source) Admission

	dialogs dialogTable
	bound   atomic.Bool
	ready   chan struct{}
	close   sync.Once

	sessions sessiontimer.Limits
}

type counts struct {
	retransmitted, unknown, rate, size, malformed, stray                     atomic.Uint64
	rejected, panics, transport, invites, incoming, refusedLate, refusedFull atomic.Uint64
}

// New returns a user agent without opening a socket.
func New(cfg Config) (*UserAgent, error) {
	if !message.IsSingleLine(cfg.UserAgent) {
		return nil, fmt.Errorf("sip: %w in the user agent's name", message.ErrControlCharacter)
	}
	if len(cfg.Secret) == 0 {
		cfg.Secret = make([]byte, 32)
		if _, err := rand.Read(cfg.Secret); err != nil {
			return nil, fmt.Errorf("sip: generate a secret: %w", err)
		}
	}
	if cfg.MaxHalfOpen <= 0 {
		cfg.MaxHalfOpen = defaultMaxHalfOpen
	}
	if cfg.Linger == 0 {
		cfg.Linger = defaultLinger
	}
	if cfg.OverloadAfter == 0 {
		cfg.OverloadAfter = defaultOverloadAfter
	}
	if cfg.Resolver == nil {
		cfg.Resolver = resolve.New(resolve.Config{})
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	u := &UserAgent{
		cfg: cfg, log: cfg.Log, id: message.NewIdentifiers(cfg.Secret), resolver: cfg.Resolver, trunks: auth.NewTrunkVerifier(cfg.Secret),
		calls:    callGate{silent: cfg.Silent, mayCall: cfg.MayCall},
		load:     overload.New(cfg.OverloadAfter, cfg.MaxHalfOpen),
		messages: messageTransactions{byKey: make(map[string]*messageTransaction)},
		dialogs:  dialogTable{byKey: make(map[dialogKey]*Dialog), pending: make(map[dialogKey]*Dialog), standalone: make(map[dialogKey]*StandaloneClient)},
		ready:    make(chan struct{}), sessions: sessiontimer.Limits{Least: sessiontimer.MinInterval, Wanted: cfg.SessionExpires},
	}
	var err error
	if u.transport, err = transport.New(u.transportConfig()); err != nil {
		return nil, err
	}
	relay := u.relayConfig()
	if err = cluster.CheckConfig(&relay); err != nil {
		return nil, err
	}
	u.relay = cluster.New(relay)
	return u, nil
}

func (u *UserAgent) transportConfig() transport.Config {
	c := &u.cfg
	return transport.Config{
		Listen: c.Listen, TLS: c.TLS, PublicIP: c.PublicIP, PublicPort: c.PublicPort, Private: c.Private, DSCP: c.DSCP, Silent: c.Silent,
		MaxConnections: c.MaxTCPConns, MaxPerHost: c.MaxPerHost, SourceRate: c.SourceRate, Log: c.Log, MayReach: c.MayReach,
		Recover: u.recovered, Handle: u.dispatch, Undelivered: u.handleUndelivered, CallGate: &u.calls,
		Admit: u.admitsMessage, AdmitConnection: u.admitsConnection,
		IsAdmitted: func(s transport.Source) bool { return u.admission(s).Allow },
		IsRegistered: func(s transport.Source) bool {
			return u.phones.Presence(s) != registrar.Absent || u.relay.KnowsSource(s, time.Now())
		},
		ReadRelayInfo: func(b []byte, now time.Time) *transport.RelayInfo { return u.relay.ReadRelayInfo(b, now) },
		SealForRemote: func(b []byte, to *transport.RemotePhone) []byte { return u.relay.SealForRemote(b, to) },
	}
}

func (u *UserAgent) relayConfig() cluster.Config {
	c := &u.cfg
	return cluster.Config{
		Key: c.RelayKey, NodeMark: cluster.Mark(c.NodeMark), OverloadAfter: c.OverloadAfter, Owner: c.Owner, CachedOwner: c.CachedOwner,
		Transport: u.transport, Resolver: u.resolver, IsDispatcher: u.isDispatcher, Recover: u.recovered,
		IsKnown: func(s transport.Source) bool { return u.isKnownSource(s) || u.phones.Presence(s) != registrar.Absent },
		Serve: func(m *transport.Received) {
			own := &received{Received: *m}
			u.dispatchOwnRequest(own, u.dialogs.ofRequest(own))
		},
		Reject: func(m *transport.Received, code int) { u.reject(&received{Received: *m}, code) },
	}
}

// OnInvite sets the function that receives inbound calls. Call it before Serve. f must not block. 100 Trying has been
// sent before f is called.
func (u *UserAgent) OnInvite(f func(*Incoming)) { u.onInvite = f }

// SetAdmission sets the function that decides which sources are answered. Call it before Serve. Default: only loopback.
func (u *UserAgent) SetAdmission(f func(transport.Source) Admission) { u.admit = f }

// Serve listens until ctx ends or Close is called.
func (u *UserAgent) Serve(ctx context.Context) error {
	if !u.bound.CompareAndSwap(false, true) {
		return errors.New("sip: Serve was called already")
	}
	if err := u.transport.Open(ctx); err != nil {
		return errors.Join(err, u.Close())
	}
	close(u.ready)
	u.transport.Start()
	select {
	case <-ctx.Done():
	case <-u.transport.Closed():
	}
	err := u.Close()
	u.transport.Wait()
	return err
}

// Ready returns a channel that is closed once all sockets are bound.
func (u *UserAgent) Ready() <-chan struct{} { return u.ready }

// isReady reports whether all sockets are bound.
func (u *UserAgent) isReady() bool {
	select {
	case <-u.ready:
		return true
	default:
		return false
	}
}

// Addr returns the bound address of the first listener of a network, once Ready is closed.
func (u *UserAgent) Addr(network string) netip.AddrPort {
	if !u.isReady() {
		return netip.AddrPort{}
	}
	return u.transport.Addr(network)
}

// Host returns the address that this user agent shows to a peer in Via, Contact and SDP. It is the public address, or
// for private peers the address of the listener. It is zero if there is no route to the peer.
func (u *UserAgent) Host(network string, peer netip.AddrPort) netip.Addr {
	at, err := netip.ParseAddrPort(u.transport.SentBy(transport.Flow{Network: network, Addr: peer}))
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}

// Close closes the listeners and stops all timers. It sends no BYE in live dialogs.
func (u *UserAgent) Close() error {
	var err error
	u.close.Do(func() {
		err = u.transport.Close()
		dialogs, standalone := u.dialogs.all()
		for _, d := range dialogs {
			d.do(d.stop)
		}
		for _, s := range standalone {
			s.do(s.stop)
		}
	})
	return err
}

// Counters returns the current counters.
func (u *UserAgent) Counters() Counters {
	dialogs, pending := u.dialogs.size()
	unanswered, hosts := u.load.Unanswered()
	s, t, r, p := &u.stats, &u.transport.Counts, u.relay.Counters(), u.phones.Totals()
	return Counters{
		Received: t.Received.Load(), Sent: t.Sent.Load(), Retransmitted: s.retransmitted.Load() + p.Retransmitted,
		DroppedUnknown: s.unknown.Load() + t.DroppedUnknown.Load(), DroppedRate: s.rate.Load() + t.DroppedRate.Load() + r.RateExceeded + p.RateExceeded,
		DroppedSize: s.size.Load() + t.DroppedSize.Load() + p.TooLarge, DroppedMalformed: s.malformed.Load() + t.DroppedMalformed.Load() + r.Malformed + p.Malformed,
		DroppedUnmatched: s.stray.Load(), Rejected: s.rejected.Load() + t.Rejected.Load() + r.Rejected + p.Rejected,
		Panics: s.panics.Load(), TransportErrors: s.transport.Load() + t.Errors.Load() + r.TransportErrors, Invites: s.invites.Load(),
		Incoming: s.incoming.Load(), Dialogs: dialogs, UnansweredCalls: unanswered, TCP: u.transport.Connections(),
		Pending: pending, UnansweredHosts: hosts, RefusedLate: s.refusedLate.Load() + r.RefusedLate, RefusedFull: s.refusedFull.Load() + r.RefusedFull,
		Relayed: r.Relayed, Returned: r.Returned, Lookups: r.Lookups, Forged: r.Forged,
	}
}

// CallID returns the Call-ID of a leg, which is known before its INVITE is sent.
func (u *UserAgent) CallID(attempt string, leg int) string { return u.id.LegCallID(attempt, leg) }

// recovered recovers a panic in the handling of one message or callback. It reports the panic and calls then.
func (u *UserAgent) recovered(where string, then func()) {
	if p := recover(); p != nil {
		u.reportPanic(p, where, then)
	}
}

func (u *UserAgent) reportPanic(p any, where string, then func()) {
	u.stats.panics.Add(1)
	u.log.Error("sip_panic", slog.String("where", where), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
	if then != nil {
		then()
	}
}
