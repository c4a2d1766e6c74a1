package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/locate"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
)

// How a member keeps time.
const (
	pulseEvery   = 250 * time.Millisecond // its actors are asked whether they answer
	pulseLimit   = 3 * time.Second        // that they may be silent
	goodbyeLimit = 5 * time.Second        // to say goodbye to the store of leases
	joinTries    = 5                      // that a start takes to get a lease
	frontLimit   = 10 * time.Second       // for requests that are passed on when the process ends
)

// member is a process that is one of several nodes: it takes requests for all
// shards, passes them on to the seats that have them, and has seats of its own
// for the shards that it holds.
type member struct {
	cfg     *configs.Config
	log     *slog.Logger
	self    lease.Node
	master  []byte
	nodes   *forward.Credential
	front   net.Listener // where clients connect
	door    net.Listener // where other nodes connect
	clients *http.Server
	doors   *forward.Doors
	passes  *forward.Forwarder
	driver  persistence.Driver // of an install with several shards; nil: the seat opens it
	engine  lease.Engine
	holder  *lease.Holder
	ended   chan error
	born    time.Time
	fails   atomic.Int32 // to take a shard up, one after the other
	resting atomic.Int64 // until then it leaves the work to others, in nanoseconds since born
	unlock  func()
	meters  *metrics.Meters                    // of the process, whatever work it has
	reader  atomic.Pointer[persistence.Reader] // of a node that has had no work yet; nil: it needs none
	tools   *adminHTTP
	root    []byte // of the store
	spool   *spoolTransfer

	mu      sync.Mutex
	service *service // nil: it has had no seat yet
	seats   map[int]*chair
	rising  int // seats that are being made
}

// chair is a seat as its node watches it.
type chair struct {
	*seat
	pulse atomic.Int64 // when its actors answered last, in nanoseconds since born
	asked atomic.Bool  // whether it is busy: another node waits for it
	quiet atomic.Int64 // when it was looked at and had no live call, or none that could not be handed over, in nanoseconds since born; 0: it had, or nobody has looked
	since atomic.Int64 // when another node began to wait, in nanoseconds since born
	again atomic.Int64 // and was seen to wait last
	heir  string       // its ID; for the holder's questions alone
}

// serveAmong runs one node of several until ctx is done.
func (p *process) serveAmong(ctx context.Context) error {
	m, err := newMember(ctx, p.cfg, p.log, p.wait)
	if err != nil {
		return p.stoppedEarly(ctx, err)
	}
	defer m.close()
	err = p.wait.untilBehindHTTP(ctx, func() error { return joinLease(ctx, p.cfg, p.log, m.holder.Join) })
	if err != nil {
		return p.stoppedEarly(ctx, err)
	}
	p.log.LogAttrs(ctx, slog.LevelInfo, "joined", append(p.cfg.Attrs(), slog.String("node", m.self.ID), slog.String("version", version))...)
	defer p.up(func(context.Context) error { return m.silent() })()
	transferring, stopTransfer := context.WithCancel(ctx)
	defer stopTransfer()
	go m.spool.run(transferring)
	attended := m.attend(ctx)
	select {
	case <-ctx.Done():
	case err = <-m.ended:
	}
	attended()
	m.leaves()
	p.stopping()
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.Drain+2*lastlyLimit)
	defer cancel()
	if gone := m.holder.Leave(bound); gone != nil {
		p.log.Warn("the other nodes will learn of the end when the lease does", slog.Any("error", gone))
	}
	stopTransfer()
	m.spool.pushRemaining()
	p.log.Info("stopped")
	return err
}

// lastlyLimit is for what closes once the calls have ended.
const lastlyLimit = 15 * time.Second

func newMember(ctx context.Context, cfg *configs.Config, log *slog.Logger, wait *startWait) (m *member, err error) {
	m = &member{cfg: cfg, log: log, ended: make(chan error, 1), born: time.Now(), seats: make(map[int]*chair)}
	made := m // an error answers with none
	defer func() {
		if err != nil {
			made.close()
		}
	}()
	if m.unlock, err = lockData(cfg.Data); err != nil {
		return nil, err
	}
	if err = checkBlobsConfig(cfg); err != nil {
		return nil, err
	}
	if m.master, err = masterKey(cfg, log); err != nil {
		return nil, err
	}
	if m.nodes, err = forward.NewCredential(derive(m.master, "callboard nodes")); err != nil {
		return nil, err
	}
	listen := new(net.ListenConfig)
	if m.door, err = listen.Listen(ctx, "tcp", cfg.NodeAddr.String()); err != nil {
		return nil, fmt.Errorf("node_addr: %w", err)
	}
	m.self = about(lease.Node{ID: mailbox.NewID("node"), Addr: m.door.Addr().String(), SIP: strings.TrimPrefix(sipURI(cfg), "sip:")}, cfg)
	if err = wait.until(ctx, func() error { return m.openStore(ctx) }); err != nil {
		return nil, err
	}
	if err = m.openTransfer(); err != nil {
		return nil, err
	}
	if m.front, err = listen.Listen(ctx, "tcp", cfg.HTTPAddr.String()); err != nil {
		return nil, fmt.Errorf("http_addr: %w", err)
	}
	httpapi.Prepare() // once, and not when a shard waits for its seat
	m.doors = forward.NewDoors(m.nodes, log)
	m.doors.Answer(http.HandlerFunc(m.asked))
	m.passes = forward.New(m.routes())
	engine, err := leases(cfg, lease.Options{Lease: cfg.Lease, Healthy: m.healthy, Refused: m.end, Logger: log})
	if err != nil {
		return nil, err
	}
	m.engine = engine
	m.holder = lease.NewHolder(m.engine, lease.Config{
		Self: m.self, Shards: cfg.Shards, AtOnce: max(16, cfg.Shards), Lease: cfg.Lease, Stay: m.stays, Start: m.rise, Stop: m.fall, Logger: log,
		Reach: func(ctx context.Context, n lease.Node) error {
			if away := parted(); away != nil {
				return away
			}
			if !looksAround() || m.cfg.Shards == 1 && m.may(0) { // whom the others do not reach keeps the work: to give it up would end its calls
				return nil
			}
			return m.passes.Reach(ctx, n.Addr)
		},
	})
	m.meters = metrics.New(version)
	m.meters.Read(m.read)
	if m.tools, err = openAdminHTTP(ctx, cfg.AdminAddr, adminPages(m.count, m.meters.Handler()), log); err != nil {
		return nil, err
	}
	front, err := secured(cfg, forward.Clients(m.front), log)
	if err != nil {
		return nil, err
	}
	m.clients = forward.Server(m.passes, log)
	go m.serve(func() error { return m.clients.Serve(front) })
	go m.serve(func() error { return m.doors.Serve(m.door) })
	return m, nil
}

// openStore opens the store of an install with several shards, in which
// credentials are looked up, and sees to it that it is divided as the settings say.
func (m *member) openStore(ctx context.Context) (err error) {
	driver := m.driver
	if driver == nil {
		if driver, err = openDriver(ctx, m.cfg, m.log); err != nil {
			return err
		}
	}
	if m.cfg.Shards > 1 {
		m.driver = driver
	} else {
		defer func() { err = errors.Join(err, driver.Close()) }()
	}
	if err = divided(ctx, m.cfg, m.log, driver); err != nil {
		return err
	}
	reader, err := persistence.NewReader(ctx, driver, m.master)
	if errors.Is(err, domain.ErrNotFound) { // nobody has the store yet: the master key will be the root
		m.root = m.master
		return nil
	}
	if err == nil {
		m.root = reader.Root()
	}
	return err
}

// routes say where requests go.
func (m *member) routes() forward.Config {
	c := forward.Config{Shards: m.cfg.Shards, Owner: m.owner, Self: m.self.Addr, Doors: m.doors, Credential: m.nodes, Log: m.log}
	if m.cfg.Shards > 1 {
		finder := locate.New(m, m.cfg.Shards)
		c.Shard, c.Form = finder.Shard, locate.Form
	}
	return c
}

// WorkspaceOf is the workspace of a credential, for locate.
func (m *member) WorkspaceOf(ctx context.Context, id string) (string, error) {
	for _, t := range m.sitting() { // each believes the store as far as its own shard goes: one that is refused holds up no other
		workspace, err := t.vault.store.WorkspaceOf(ctx, id)
		if err == nil || errors.Is(err, domain.ErrNotFound) {
			return workspace, err
		}
	}
	return persistence.WorkspaceOf(ctx, m.driver, id)
}

// owner is the door of the node that has a shard.
func (m *member) owner(shard int) (string, bool) {
	n, ok := m.engine.Owner(shard)
	return n.Addr, ok && n.Addr != ""
}

// may says whether this node has a shard now.
func (m *member) may(shard int) bool {
	_, ok := m.holder.Use(shard)
	return ok
}

func (m *member) serve(until func() error) {
	if err := until(); err != nil && !errors.Is(err, http.ErrServerClosed) {
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

// rise takes a shard up.
func (m *member) rise(ctx context.Context, shard int, t lease.Token) error {
	began := time.Now()
	c := &chair{seat: &seat{shard: shard, token: t}}
	m.beat(c)
	err := m.process().sit(ctx, c.seat)
	if err == nil {
		m.beat(c) // the start may have been long
	}
	m.mu.Lock()
	if m.rising--; err == nil {
		m.seats[shard] = c
	}
	m.mu.Unlock()
	if err != nil {
		m.log.Error("this node cannot take the work up: another one may try", slog.Int("shard", shard), slog.Any("error", err))
		if ctx.Err() == nil && len(m.sitting()) == 0 { // one that has other seats keeps them: the shard alone is tried again
			m.failed()
		}
		m.clear(true)
		return err
	}
	m.fails.Store(0)
	go m.watch(c)
	m.log.Info("this node has the work", slog.Int("shard", shard), slog.String("token", string(t)), slog.Duration("after", time.Since(began).Round(time.Millisecond)))
	c.welcome()
	return nil
}

// process is what all seats share, for one that is being made; the first of
// them builds it.
func (m *member) process() *service {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rising++
	if m.service == nil {
		m.service = newService(context.Background(), m.cfg, m.log, extras{})
		m.service.member, m.service.driver, m.service.meters = m, m.driver, m.meters
		m.service.front = netip.MustParseAddrPort(m.front.Addr().String())
		go m.faults(m.service)
	}
	return m.service
}

// takes says whether a shard's seat is here and takes calls.
func (m *member) takes(shard int) bool {
	m.mu.Lock()
	c := m.seats[shard]
	m.mu.Unlock()
	return c != nil && !c.falling.Load()
}

// sitting are the seats of this node.
func (m *member) sitting() []*seat {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.all()
}

// faults ends the process where something that all seats share has ended.
func (m *member) faults(s *service) {
	select {
	case err := <-s.ended:
		if err == nil {
			err = errors.New("a listener ended")
		}
		m.end(err)
	case <-s.run.Done():
	}
}

// clear ends what the seats have shared, once there is none: where the install
// has one shard, for nobody else's calls come here then, and where it could not
// be built. With several shards SIP stays open otherwise, for what comes to
// other nodes.
func (m *member) clear(failed bool) {
	m.mu.Lock()
	s := m.service
	if m.cfg.Shards > 1 && !failed || len(m.seats)+m.rising > 0 || s == nil {
		m.mu.Unlock()
		return
	}
	m.service = nil
	m.mu.Unlock()
	s.close()
}

// watch asks the actors of a seat whether they answer, until the seat has ended.
func (m *member) watch(c *chair) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case err := <-c.gone:
			if c.life.Err() == nil && !c.leaving.Load() {
				m.end(errors.Join(errors.New("a listener ended"), err))
			}
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(c.life, pulseLimit)
		if c.node.Pulse(ctx) == nil {
			m.beat(c)
		}
		if c.asked.Swap(false) {
			at := int64(time.Since(m.born))
			if now, err := c.node.Moving(ctx); err != nil || !c.mayGo(now, m.cfg.SurviveCalls, moveAfter()) {
				at = 0
			}
			c.quiet.Store(at)
		}
		cancel()
	}
}

func (m *member) beat(c *chair) { c.pulse.Store(int64(time.Since(m.born))) }

// healthy is an error while the actors of a seat are silent: then the node must
// not keep what it has.
func (m *member) healthy() error {
	now := time.Since(m.born)
	if now < time.Duration(m.resting.Load()) {
		return errors.New("this node could not take the work up")
	}
	return m.silent()
}

// silent is an error while the actors of a seat do not answer.
func (m *member) silent() error {
	now := time.Since(m.born)
	m.mu.Lock()
	defer m.mu.Unlock()
	for shard, c := range m.seats {
		if silent := now - time.Duration(c.pulse.Load()); silent > pulseLimit {
			return fmt.Errorf("the actors of shard %d have not answered for %s", shard, silent.Round(time.Millisecond))
		}
	}
	return nil
}

// failed lets the lease end, so that another node is the next one to try; longer
// each time that this one fails.
func (m *member) failed() {
	pause := min(2*m.cfg.Lease<<min(m.fails.Add(1), 5), time.Minute)
	m.resting.Store(int64(time.Since(m.born) + pause))
}

// close ends what is left once the holder has left.
func (m *member) close() {
	m.tools.close()
	if m.clients != nil {
		bound, cancel := context.WithTimeout(context.Background(), frontLimit)
		defer cancel()
		if m.clients.Shutdown(bound) != nil {
			_ = m.clients.Close()
		}
	}
	if m.doors != nil {
		m.doors.Close()
	}
	for _, ln := range []net.Listener{m.front, m.door} {
		if ln != nil {
			_ = ln.Close()
		}
	}
	m.mu.Lock()
	s := m.service
	m.service = nil
	m.mu.Unlock()
	if s != nil {
		s.close()
	}
	if m.holder == nil && m.engine != nil {
		bound, cancel := context.WithTimeout(context.Background(), goodbyeLimit)
		defer cancel()
		_ = m.engine.Leave(bound)
	}
	if m.passes != nil {
		m.passes.Close()
	}
	if m.driver != nil {
		_ = m.driver.Close()
	}
	if m.unlock != nil {
		m.unlock()
	}
}
