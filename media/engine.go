package media

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/media/record"
)

const (
	defaultPortMin    = 20000
	defaultPortMax    = 29999
	defaultQuarantine = 5 * time.Second
	defaultIdle       = time.Minute
	clocksMost        = 8
	clockFull         = 250 // sessions; serving them takes half a millisecond per turn
	writers           = 2
)

// Engine owns the RTP ports, the media clocks and the recording writers of a process.
type Engine struct {
	cfg    Config
	public netip.Addr   // default address in SDP c=
	other  netip.Addr   // default address of the other address family, if the sockets accept both; else zero
	own    []netip.Addr // addresses of this machine
	ports  *ports
	clocks []*clock
	disk   *record.Pool
	born   time.Time
	stop   chan struct{}
	work   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	sessions map[*Session]struct{}
}

// NewEngine creates an engine and starts its media clocks.
func NewEngine(cfg Config) (*Engine, error) {
	if !cfg.BindIP.IsValid() {
		cfg.BindIP = netip.IPv4Unspecified()
	}
	cfg.BindIP = cfg.BindIP.Unmap()
	if cfg.PortMin == 0 && cfg.PortMax == 0 {
		cfg.PortMin, cfg.PortMax = defaultPortMin, defaultPortMax
	}
	if cfg.Quarantine == 0 {
		cfg.Quarantine = defaultQuarantine
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	own, err := localAddresses()
	if err != nil {
		return nil, err
	}
	p, err := newPorts(cfg.BindIP, cfg.PortMin, cfg.PortMax, cfg.Quarantine)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, own: own, ports: p, disk: record.NewPool(writers, cfg.Recording), born: time.Now(),
		stop: make(chan struct{}), sessions: make(map[*Session]struct{}),
	}
	e.public, e.other = publicAddresses(cfg, own)
	for range min(runtime.GOMAXPROCS(0), clocksMost) {
		c := newClock(e)
		e.clocks = append(e.clocks, c)
		e.work.Go(func() { c.run(e.stop) })
	}
	return e, nil
}

// Open takes an RTP port pair for a new session. The error wraps ErrNoPorts if no pair is free. A session whose SDP is
// not agreed yet uses almost no CPU.
func (e *Engine) Open(o Options) (*Session, error) {
	if o.SRTP == SRTPRequired && !o.Confidential && !o.KeysInClear {
		return nil, ErrConfidential
	}
	o.Codecs = supportedCodecs(o.Codecs)
	if o.PTime == 0 {
		o.PTime = 20
	}
	if o.IdleAfter == 0 {
		o.IdleAfter = defaultIdle
	}
	if o.KeyLife == 0 {
		o.KeyLife = defaultKeyLife
	}
	if !e.receivesOn(o.Address) {
		o.Address = netip.Addr{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	port, sound, control, err := e.ports.takePair(e.now())
	if err != nil {
		return nil, err
	}
	s := newSession(e, o, port, sound, control)
	e.sessions[s] = struct{}{}
	return s, nil
}

// Live returns the number of open sessions.
func (e *Engine) Live() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.sessions)
}

// PortUse counts an engine's RTP port pairs by state. Each pair that is Taken or Bound has two sockets.
type PortUse struct {
	Pairs   int // all pairs of the port range
	Taken   int // used by open sessions
	Resting int // freed and in quarantine
	Bound   int // unused, with open sockets that a later session can reuse
}

// Ports returns the current numbers of port pairs by state. Its cost does not depend on the size of the port range.
func (e *Engine) Ports() PortUse { return e.ports.use(e.now()) }

// Close closes every session and returns when all recordings are on disk.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	live := make([]*Session, 0, len(e.sessions))
	for s := range e.sessions {
		live = append(live, s)
	}
	e.mu.Unlock()
	var failed error
	for _, s := range live {
		_, done := s.Close()
		failed = errors.Join(failed, (<-done).Err)
	}
	close(e.stop)
	e.work.Wait()
	e.ports.close()
	e.disk.Close()
	return failed
}

// release removes a session from the engine and frees its ports.
func (e *Engine) release(s *Session) {
	e.mu.Lock()
	delete(e.sessions, s)
	e.mu.Unlock()
	e.ports.free(s.port, s.sound, s.report.socket, e.now())
}

// now returns the monotonic time since the engine was created.
func (e *Engine) now() time.Duration { return time.Since(e.born) }

// chooseClock returns the clock for a new session: the first one that is not full, because fewer active clocks wake the
// machine less often. If all are full, it returns the one with the fewest sessions.
func (e *Engine) chooseClock() *clock {
	for _, c := range e.clocks {
		if c.load.Load() < clockFull {
			return c
		}
	}
	return slices.MinFunc(e.clocks, func(a, b *clock) int { return int(a.load.Load() - b.load.Load()) })
}

func isWithin(ip netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// randomID returns a random number for RTP identifiers. It must rarely repeat but need not be secret.
func randomID() uint32 { return rand.Uint32() } //nolint:gosec // as above; the source is seeded by the system
