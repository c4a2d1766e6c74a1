package lend

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
)

// LenderConfig is what a lender's end needs.
type LenderConfig struct {
	Engine *media.Engine
	Load   func() Load // of the node now; Free is shared evenly among the borrowers; must not block
	Spool  string      // folder for recordings until they are fetched
	// Host is our address as a far end sees it that signals from another one; nil: the engine's public one.
	Host func(far netip.Addr) netip.Addr
	Log  *slog.Logger // nil: silent
}

// Lender carries the sound of other nodes' calls on an engine.
type Lender struct {
	cfg   LenderConfig
	spool *spool
	stop  chan struct{}
	kick  chan struct{} // the load may have changed
	work  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	leaving bool
	guests  map[*guest]Load // what each was told
	conns   map[net.Conn]struct{}
	doors   map[net.Listener]struct{}
}

// NewLender makes a lender. The engine stays the caller's, and is closed after the lender.
func NewLender(cfg LenderConfig) *Lender {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Lender{
		cfg: cfg, spool: newSpool(cfg.Spool, cfg.Log), stop: make(chan struct{}), kick: make(chan struct{}, 1),
		guests: make(map[*guest]Load), conns: make(map[net.Conn]struct{}), doors: make(map[net.Listener]struct{}),
	}
	l.work.Go(l.watch)
	l.work.Go(func() { l.spool.sweepUntil(l.stop) })
	return l
}

// Serve takes connections, which are authenticated already, until the listener is closed; Close closes it.
func (l *Lender) Serve(ln net.Listener) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		_ = ln.Close()
		return media.ErrClosed
	}
	l.doors[ln] = struct{}{}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.doors, ln)
		l.mu.Unlock()
	}()
	for {
		conn, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("lend: %w", err)
		}
		if !l.welcome(conn) {
			_ = conn.Close()
			return media.ErrClosed
		}
	}
}

// welcome serves a connection beside others.
func (l *Lender) welcome(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.conns[conn] = struct{}{}
	l.work.Go(func() {
		defer func() {
			_ = conn.Close()
			l.mu.Lock()
			delete(l.conns, conn)
			l.mu.Unlock()
		}()
		if err := l.serve(conn); err != nil {
			l.cfg.Log.Warn("a node that borrows sound was refused", slog.String("remote", conn.RemoteAddr().String()), slog.Any("error", err))
		}
	})
	return true
}

// serve speaks with one borrower until its connection ends. An error is one of the first words.
func (l *Lender) serve(conn net.Conn) error {
	in := newReader(conn)
	var theirs hello
	if err := expect(conn, in, kindHello, &theirs, helloLimit); err != nil {
		return err
	}
	ours := hello{Protocol: protocol}
	if theirs.Protocol != protocol { // it is to know why
		_ = send(conn, kindHello, &ours, helloLimit)
		return sameProtocol(theirs.Protocol)
	}
	switch theirs.For {
	case forFiles:
		if err := send(conn, kindHello, &ours, helloLimit); err != nil {
			return err
		}
		l.spool.serve(conn, in)
		return nil
	case forSound:
	default:
		return fmt.Errorf("%w: a connection for %q", ErrProtocol, theirs.For)
	}
	if theirs.Beat < time.Millisecond || theirs.Beat > time.Minute {
		return fmt.Errorf("%w: a beat each %v", ErrProtocol, theirs.Beat)
	}
	g := newGuest(l)
	load := l.join(g)
	ours.Load = &load
	if err := send(conn, kindHello, &ours, helloLimit); err != nil {
		l.part(g)
		return err
	}
	g.run(newPipe(conn, in, theirs.Beat))
	return nil
}

// join counts a borrower in and says what it may have.
func (l *Lender) join(g *guest) Load {
	l.mu.Lock()
	l.guests[g] = Load{}
	l.mu.Unlock()
	load := l.load()
	l.mu.Lock()
	load = l.share(load)
	l.guests[g] = load
	l.mu.Unlock()
	l.look()
	return load
}

func (l *Lender) part(g *guest) {
	l.mu.Lock()
	delete(l.guests, g)
	l.mu.Unlock()
	l.look()
}

// load is the node's.
func (l *Lender) load() Load {
	if l.cfg.Load == nil {
		use := l.cfg.Engine.Ports()
		return Load{Most: use.Pairs, Live: use.Taken, Free: use.Pairs - use.Taken - use.Resting}
	}
	return l.cfg.Load()
}

// share is one borrower's part. The lock is held.
func (l *Lender) share(load Load) Load {
	load.Free /= max(len(l.guests), 1)
	load.Leaving = load.Leaving || l.leaving
	return load
}

// look has the load told, where it has changed.
func (l *Lender) look() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// watch tells borrowers of a load that has changed.
func (l *Lender) watch() {
	t := time.NewTicker(loadEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-l.kick:
		case <-l.stop:
			return
		}
		l.announce()
	}
}

func (l *Lender) announce() {
	l.mu.Lock()
	none := len(l.guests) == 0
	l.mu.Unlock()
	if none {
		return
	}
	load := l.load()
	l.mu.Lock()
	defer l.mu.Unlock()
	load = l.share(load)
	for g, before := range l.guests {
		if before != load && g.tellLoad(load) {
			l.guests[g] = load
		}
	}
}

// Live counts the sessions of others.
func (l *Lender) Live() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for g := range l.guests {
		n += g.live()
	}
	return n
}

// Leave tells everybody that no session is opened here any more; those that are open live on.
func (l *Lender) Leave() {
	l.mu.Lock()
	l.leaving = true
	l.mu.Unlock()
	l.announce()
}

func (l *Lender) leaves() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaving || l.closed
}

// Adopt renames a recording that a borrower who is gone has left here, to go on with it here or to keep it; false: there is
// none, or a session still writes it. name is the folder and the file.
func (l *Lender) Adopt(name, to string) bool { return l.spool.adopt(name, to) }

// Close ends all sessions of others, and returns when their recordings are on the disk.
func (l *Lender) Close() {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	if first {
		close(l.stop)
	}
	for ln := range l.doors {
		_ = ln.Close()
	}
	for conn := range l.conns {
		go func() { _ = conn.Close() }() // TLS may want to say goodbye
	}
	l.mu.Unlock()
	l.work.Wait()
}

// attend waits for a recording to be complete; it ends with the lender's engine at the latest.
func (l *Lender) attend(done <-chan media.Recording, then func(r media.Recording)) {
	l.work.Go(func() { then(<-done) })
}
