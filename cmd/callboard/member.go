package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/etcd"
	"github.com/callboard/callboard/persistence/lease/redis"
	"github.com/callboard/callboard/sip"
)

// theWork is the one shard of an install: the node that holds it has all of the
// work.
const theWork = 0

// How a member keeps time.
const (
	pulseEvery   = 250 * time.Millisecond // its actors are asked whether they answer
	pulseLimit   = 3 * time.Second        // that they may be silent
	goodbyeLimit = 5 * time.Second        // to say goodbye to the store of leases
	frontLimit   = 10 * time.Second       // for requests that are passed on when the process ends
)

// member is a process that is one of several nodes. While it holds the work it
// is the service; otherwise it passes requests on to the node that does.
type member struct {
	cfg     *configs.Config
	log     *slog.Logger
	self    lease.Node
	master  []byte
	nodes   *forward.Credential
	front   *kept // where clients connect
	door    *kept // where other nodes connect
	passes  *forward.Forwarder
	engine  lease.Engine
	holder  *lease.Holder
	ended   chan error
	pulse   atomic.Int64 // when the actors answered last, in nanoseconds since born
	born    time.Time
	fails   atomic.Int32 // to take the work up, one after the other
	resting atomic.Int64 // until then it leaves the work to others, in nanoseconds since born
	unlock  func()

	mu      sync.Mutex
	service *service // nil: another node has the work
	waiting *bench   // nil: this node has it
}

// bench is what a node serves that has not the work.
type bench struct{ front, door *http.Server }

// serveAmong runs one node of several until ctx is done.
func serveAmong(ctx context.Context, cfg *configs.Config, log *slog.Logger, again func()) error {
	m, err := newMember(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer m.close()
	if err = m.holder.Join(ctx); err != nil {
		return fmt.Errorf("the store of leases: %w", err)
	}
	log.LogAttrs(ctx, slog.LevelInfo, "joined", append(cfg.Attrs(), slog.String("node", m.self.ID), slog.String("version", version))...)
	go tendHeap(ctx)
	select {
	case <-ctx.Done():
	case err = <-m.ended:
	}
	again()
	log.Info("stopping: no new calls, live ones may end", slog.Duration("limit", cfg.Drain))
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Drain+2*lastlyLimit)
	defer cancel()
	if gone := m.holder.Leave(bound); gone != nil {
		log.Warn("the other nodes will learn of the end when the lease does", slog.Any("error", gone))
	}
	log.Info("stopped")
	return err
}

// lastlyLimit is for what closes once the calls have ended.
const lastlyLimit = 15 * time.Second

func newMember(ctx context.Context, cfg *configs.Config, log *slog.Logger) (m *member, err error) {
	m = &member{cfg: cfg, log: log, ended: make(chan error, 1), born: time.Now()}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if m.unlock, err = lockData(cfg.Data); err != nil {
		return nil, err
	}
	if m.master, err = masterKey(cfg, log); err != nil {
		return nil, err
	}
	if m.nodes, err = forward.NewCredential(derive(m.master, "callboard nodes")); err != nil {
		return nil, err
	}
	if m.front, err = listenKept(ctx, cfg.HTTPAddr.String()); err != nil {
		return nil, fmt.Errorf("http_addr: %w", err)
	}
	if m.door, err = listenKept(ctx, cfg.NodeAddr.String()); err != nil {
		return nil, fmt.Errorf("node_addr: %w", err)
	}
	m.self = about(lease.Node{ID: mailbox.NewID("node"), Addr: m.door.Addr().String(), SIP: strings.TrimPrefix(sipURI(cfg), "sip:")}, cfg)
	m.passes = forward.New(forward.Config{Owner: func(int) (string, bool) { return m.active() }, Credential: m.nodes, Log: log})
	engine, err := leases(cfg, lease.Options{Lease: cfg.Lease, Healthy: m.healthy, Logger: log})
	if err != nil {
		return nil, err
	}
	m.engine = engine
	m.holder = lease.NewHolder(m.engine, lease.Config{
		Self: m.self, Shards: 1, Stay: true, Start: m.rise, Stop: m.fall, Logger: log,
		Reach: func(ctx context.Context, n lease.Node) error {
			if m.may() { // whom the others do not reach keeps the work: to give it up would end its calls
				return nil
			}
			return m.passes.Reach(ctx, n.Addr)
		},
	})
	return m, m.sit()
}

// active is the door of the node that has the work.
func (m *member) active() (string, bool) {
	n, ok := m.engine.Owner(theWork)
	return n.Addr, ok && n.Addr != ""
}

// may says whether this node has the work now.
func (m *member) may() bool {
	_, ok := m.holder.Use(theWork)
	return ok
}

// sit begins to pass requests on.
func (m *member) sit() error {
	front, err := m.front.lend()
	if err != nil {
		return err
	}
	door, err := m.door.lend()
	if err != nil {
		return errors.Join(err, front.Close())
	}
	b := &bench{front: forward.Server(m.passes, m.log), door: forward.Server(forward.Idle(), m.log)}
	m.mu.Lock()
	m.waiting = b
	m.mu.Unlock()
	if front, err = secured(m.cfg, forward.Clients(front), m.log); err != nil {
		return errors.Join(err, door.Close())
	}
	go m.serve(b.front, front)
	go m.serve(b.door, forward.Door(door, m.nodes))
	return nil
}

func (m *member) serve(s *http.Server, ln net.Listener) {
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		m.end(err)
	}
}

// end ends the process.
func (m *member) end(err error) {
	select {
	case m.ended <- err:
	default:
	}
}

// rise takes the work up.
func (m *member) rise(ctx context.Context, _ int, t lease.Token) error {
	began := time.Now()
	m.beat()
	s, err := start(ctx, m.cfg, m.log, extras{seat: &seat{member: m, token: t}})
	if err != nil {
		m.log.Error("this node cannot take the work up: another one may try", slog.Any("error", err))
		m.failed()
		return err
	}
	m.fails.Store(0)
	m.beat() // the start may have been long
	m.mu.Lock()
	m.service = s
	b := m.waiting
	m.waiting = nil
	m.mu.Unlock()
	b.stand()
	go m.watch(s) //nolint:gosec // it lives as long as the service
	m.log.Info("this node has the work", slog.String("token", string(t)), slog.Duration("after", time.Since(began).Round(time.Millisecond)))
	s.welcome()
	return nil
}

// stand lets what is being passed on end: to the service, which has its own
// listeners by now.
func (b *bench) stand() {
	for _, s := range []*http.Server{b.front, b.door} {
		go func() {
			bound, cancel := context.WithTimeout(context.Background(), frontLimit)
			defer cancel()
			if s.Shutdown(bound) != nil {
				_ = s.Close()
			}
		}()
	}
}

// watch asks the actors whether they answer, until the service has ended.
func (m *member) watch(s *service) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		m.mu.Lock()
		over := m.service != s
		m.mu.Unlock()
		if over {
			return
		}
		select {
		case err := <-s.ended:
			if err == nil {
				err = errors.New("a listener ended")
			}
			m.mu.Lock()
			over = m.service != s
			m.mu.Unlock()
			if !over {
				m.end(err)
			}
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), pulseLimit)
		if s.node.Pulse(ctx) == nil {
			m.beat()
		}
		cancel()
	}
}

// failed lets the lease end, so that another node is the next one to try; longer
// each time that this one fails.
func (m *member) failed() {
	pause := min(2*m.cfg.Lease<<min(m.fails.Add(1), 5), time.Minute)
	m.resting.Store(int64(time.Since(m.born) + pause))
}

func (m *member) beat() { m.pulse.Store(int64(time.Since(m.born))) }

// healthy is an error while this node has the work and its actors are silent:
// then it must not keep it.
func (m *member) healthy() error {
	if time.Since(m.born) < time.Duration(m.resting.Load()) {
		return errors.New("this node could not take the work up")
	}
	m.mu.Lock()
	working := m.service != nil
	m.mu.Unlock()
	if silent := time.Since(m.born) - time.Duration(m.pulse.Load()); working && silent > pulseLimit {
		return fmt.Errorf("the actors have not answered for %s", silent.Round(time.Millisecond))
	}
	return nil
}

// fall gives the work back: live calls may end before that. lost: another node
// may have it, and nothing can be kept any more.
func (m *member) fall(_ int, lost bool) {
	if _, looks := fence(""); lost && !looks {
		return
	}
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if !lost {
		lost = m.drain(s)
	}
	s.inHaste = lost
	m.mu.Lock()
	m.service = nil
	m.mu.Unlock()
	if err := m.sit(); err != nil { // from now on requests go to whoever is next
		m.end(err)
	}
	s.drainEnds = time.Time{} // whoever downloads still has the least time
	s.close()
	m.log.Info("this node no longer has the work", slog.Bool("lost", lost))
}

// drain lets live calls end; true: another node has the work meanwhile.
func (m *member) drain(s *service) (lost bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.drain(ctx)
	}()
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return lost
		case <-tick.C:
		}
		if n, ok := m.engine.Owner(theWork); ok && n.ID != m.self.ID {
			lost = true
			cancel()
		}
	}
}

// close ends what is left once the holder has left.
func (m *member) close() {
	m.mu.Lock()
	b := m.waiting
	m.waiting = nil
	m.mu.Unlock()
	if b != nil {
		bound, cancel := context.WithTimeout(context.Background(), frontLimit)
		defer cancel()
		if b.front.Shutdown(bound) != nil {
			_ = b.front.Close()
		}
		_ = b.door.Close()
	}
	for _, ln := range []*kept{m.front, m.door} {
		if ln != nil {
			_ = ln.Close()
		}
	}
	if m.holder == nil && m.engine != nil {
		bound, cancel := context.WithTimeout(context.Background(), goodbyeLimit)
		defer cancel()
		_ = m.engine.Leave(bound)
	}
	if m.passes != nil {
		m.passes.Close()
	}
	if m.unlock != nil {
		m.unlock()
	}
}

// kept is a listener that is never closed while the process serves by turns in
// different ways: who connects in between waits.
type kept struct{ *net.TCPListener }

func listenKept(ctx context.Context, addr string) (*kept, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return nil, errors.Join(errors.New("no TCP listener"), ln.Close())
	}
	return &kept{tcp}, nil
}

// lend is the same socket as a listener that may be closed.
func (k *kept) lend() (net.Listener, error) {
	f, err := k.File()
	if err != nil {
		return nil, err
	}
	ln, err := net.FileListener(f)
	return ln, errors.Join(err, f.Close())
}

// secured speaks TLS on a listener of clients where that is set up.
func secured(cfg *configs.Config, ln net.Listener, log *slog.Logger) (net.Listener, error) {
	if cfg.TLSCert == "" {
		return ln, nil
	}
	certificate := sip.CertificateFiles(cfg.TLSCert, cfg.TLSKey, log)
	if _, err := certificate(); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
	}), nil
}

// leases is the engine that the settings name.
func leases(cfg *configs.Config, o lease.Options) (*lease.Beat, error) {
	if cfg.LeaseURL != "" {
		return etcd.New(cfg.LeaseURL, etcd.Options{Options: o})
	}
	return redis.New(cfg.RedisURL.Reveal(), redis.Options{Options: o})
}

// nobodyElse is an error while nodes of several live on the store: whoever takes
// it for itself alone would take the work from them.
func nobodyElse(ctx context.Context, cfg *configs.Config) error {
	if cfg.RedisURL.Reveal() == "" && cfg.LeaseURL == "" {
		return nil
	}
	look, err := leases(cfg, lease.Options{Lease: cfg.Lease})
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, goodbyeLimit)
	defer cancel()
	nodes, err := look.Look(bound)
	if err = errors.Join(err, look.Leave(bound)); err != nil {
		return fmt.Errorf("redis_url: who has the work cannot be asked: %w", err)
	}
	if len(nodes) > 0 {
		return fmt.Errorf("%d nodes live on this store, among them %s at %s: run commands on the node that has the work, and set node_addr to be one of them", len(nodes), nodes[0].ID, nodes[0].Addr)
	}
	return nil
}
