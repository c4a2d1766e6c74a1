package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shakeLimit = 5 * time.Second // for the handshake of a connection of a node
	shakeMost  = 512             // handshakes at a time; whoever is no node gets no further
	openMost   = 16384           // connections of nodes
	seatWait   = 2 * time.Second // for a seat that is to rise to take a connection
	partEvery  = 2 * time.Millisecond
	acceptMost = time.Second // between two attempts to accept, where there is nothing to accept with
)

const nodeItself = -1 // is no shard's seat but the door of a node

// doorDomain ends the names by which connections between nodes say what they
// are for: s7.callboard.invalid is the seat of shard 7.
const doorDomain = ".callboard.invalid"

func doorName(shard int) string {
	if shard == nodeItself {
		return "node" + doorDomain
	}
	return "s" + strconv.Itoa(shard) + doorDomain
}

// shardOf is what a connection is for. One that says nothing comes from a node
// that knows of one shard only.
func shardOf(name string) int {
	label, ours := strings.CutSuffix(name, doorDomain)
	switch {
	case !ours:
		return 0
	case label == "node":
		return nodeItself
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(label, "s"), 10, 16)
	if err != nil || "s"+strconv.FormatUint(n, 10) != label {
		return nodeItself
	}
	return int(n)
}

// errNoSeat: this node has none for the shard.
var errNoSeat = errors.New("forward: no seat for the shard here")

// Doors part what comes to a node among its seats: connections of other nodes,
// which say which shard they are for, and those of the node's own Forwarder. A
// connection for a shard without a seat here is answered as Idle does.
type Doors struct {
	tls     *tls.Config
	idle    *http.Server
	shaking chan struct{}
	serving sync.WaitGroup
	open    atomic.Int64 // connections of nodes
	byes    atomic.Int64 // handshakes, and goodbyes that are being said
	asked   *http.Server // answers what nodes ask this one, whatever shards it has; nil: nothing
	log     *slog.Logger
	ctx     context.Context //nolint:containedctx // ends with the Doors
	end     context.CancelFunc

	mu     sync.Mutex
	seats  map[int]*Lent
	named  map[string]*Lent // by Lent.name
	lent   int              // how many there were
	nobody *Lent
	closed bool
}

// NewDoors makes them. Other nodes get in by Serve.
func NewDoors(c *Credential, log *slog.Logger) *Doors {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Doors{shaking: make(chan struct{}, shakeMost), seats: make(map[int]*Lent), named: make(map[string]*Lent), idle: Server(Idle(), log), log: log}
	if c != nil {
		d.tls = c.config()
	}
	d.ctx, d.end = context.WithCancel(context.Background())
	d.nobody = d.listener(nodeItself, "")
	go func() { _ = d.idle.Serve(d.nobody) }()
	return d
}

func (d *Doors) listener(shard int, name string) *Lent {
	return &Lent{of: d, shard: shard, name: name, come: make(chan net.Conn), done: make(chan struct{}), open: make(map[*given]struct{})}
}

// Lend is the listener of a shard's seat, until that closes it. The seat of
// before has none any more.
func (d *Doors) Lend(shard int) *Lent {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.seats[shard]; before != nil {
		before.closeLocked()
	}
	d.lent++
	l := d.listener(shard, "s"+strconv.Itoa(shard)+"-"+strconv.Itoa(d.lent)) // so that nobody takes an old seat's connection for the new one's
	if d.closed {
		l.closeLocked()
		return l
	}
	d.seats[shard], d.named[l.name] = l, l
	return l
}

// Answer serves requests that other nodes send to this node by Forwarder.AskNode. Call it
// before Serve. Requests of clients do not arrive here.
func (d *Doors) Answer(question http.Handler) {
	mux := http.NewServeMux()
	mux.Handle("POST "+questions, question)
	mux.Handle("/", Idle())
	d.asked = Server(mux, d.log)
	ln := d.Lend(nodeItself)
	go func() { _ = d.asked.Serve(ln) }()
}

// seat is a shard's; nil: it has none here.
func (d *Doors) seat(shard int) *Lent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seats[shard]
}

// dial is a connection to a seat of this node by its name.
func (d *Doors) dial(ctx context.Context, name string) (net.Conn, error) {
	d.mu.Lock()
	l := d.named[name]
	d.mu.Unlock()
	if l == nil {
		return nil, errNoSeat
	}
	here, there := pipe()
	g := l.gives(there)
	late := time.NewTimer(seatWait)
	defer late.Stop()
	select {
	case l.come <- g:
		return here, nil
	case <-l.done:
	case <-late.C:
	case <-ctx.Done():
	}
	_, _ = here.Close(), g.Close()
	return nil, errors.Join(errNoSeat, ctx.Err())
}

// Serve takes the connections of other nodes from a listener until that or the
// Doors are closed. Whoever has not the key gets no further than the handshake,
// and takes no connection from clients.
func (d *Doors) Serve(ln net.Listener) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return ln.Close()
	}
	d.serving.Add(1)
	d.mu.Unlock()
	defer d.serving.Done()
	stop := context.AfterFunc(d.ctx, func() { _ = ln.Close() })
	defer stop()
	for delay := 5 * time.Millisecond; ; {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			delay = 5 * time.Millisecond
		case d.ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		default: // no descriptors, say
			wait := time.NewTimer(delay)
			select {
			case <-wait.C:
			case <-d.ctx.Done():
				wait.Stop()
			}
			delay = min(2*delay, acceptMost)
			continue
		}
		select {
		case d.shaking <- struct{}{}:
			d.byes.Add(1)
			go d.welcome(conn)
		default:
			_ = conn.Close()
		}
	}
}

// welcome finds out whether a node has come, and gives its connection to the
// seat that it is for.
func (d *Doors) welcome(conn net.Conn) {
	defer d.byes.Add(-1)
	secure := tls.Server(conn, d.tls)
	bound, cancel := context.WithTimeout(context.Background(), shakeLimit) // also while the doors close: the far end may send already
	err := secure.HandshakeContext(bound)
	cancel()
	<-d.shaking
	if err != nil || d.open.Load() >= openMost {
		_ = conn.Close()
		return
	}
	l := d.seat(shardOf(secure.ConnectionState().ServerName))
	for _, to := range []*Lent{l, d.nobody} {
		if to == nil {
			continue
		}
		g := to.gives(secure)
		late := time.NewTimer(seatWait)
		select {
		case to.come <- g:
			late.Stop()
			return
		case <-to.done:
		case <-late.C: // whoever waits is told so, and comes again
		}
		late.Stop()
		g.leave()
	}
	farewell(secure)
}

// farewell tells a node, whatever it has sent, that nobody has read it.
func farewell(secure *tls.Conn) {
	_ = secure.SetDeadline(time.Now().Add(goodbyeLimit))
	_, _ = io.WriteString(secure, goodbye)
	_, _ = io.Copy(io.Discard, secure)
	_ = secure.NetConn().Close()
}

// Close ends all listeners, and what they have given.
func (d *Doors) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	d.serving.Wait() // who was accepted until now is told, too
	d.mu.Lock()
	all := []*Lent{d.nobody}
	for _, l := range d.seats {
		all = append(all, l)
	}
	d.mu.Unlock()
	for _, l := range all {
		_ = l.Close()
	}
	d.part()
	for _, l := range all {
		l.Sever()
	}
	_ = d.idle.Close()
	if d.asked != nil {
		_ = d.asked.Close()
	}
}

// part lets what was asked of the node itself be answered, which takes no time, and
// waits until the others have heard that it goes: a process that ended before that
// would leave them without an answer that says that nothing was done.
func (d *Doors) part() {
	bound, cancel := context.WithTimeout(context.Background(), goodbyeLimit)
	defer cancel()
	_ = d.idle.Shutdown(bound)
	if d.asked != nil {
		_ = d.asked.Shutdown(bound)
	}
	tick := time.NewTicker(partEvery)
	defer tick.Stop()
	for d.byes.Load() > 0 {
		select {
		case <-tick.C:
		case <-bound.Done():
			return
		}
	}
}

// Lent is the listener of a seat. What it accepts comes from nodes: see
// NodeAddr.
type Lent struct {
	of    *Doors
	shard int
	name  string
	come  chan net.Conn
	done  chan struct{}

	closed bool        // under Doors.mu
	serves atomic.Bool // somebody accepts

	mu   sync.Mutex
	open map[*given]struct{}
}

// Accept is a net.Listener's.
func (l *Lent) Accept() (net.Conn, error) {
	l.serves.Store(true)
	if l.ends() {
		return nil, net.ErrClosed
	}
	select {
	case conn := <-l.come:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close gives no connection any more. Those that were given live on, but for
// those that nothing has come by: no server takes such a one for idle.
func (l *Lent) Close() error {
	l.of.mu.Lock()
	l.closeLocked()
	l.of.mu.Unlock()
	for _, g := range l.all() {
		if g.unused() {
			_ = g.Close()
		}
	}
	return nil
}

// all are the connections that were given and are open.
func (l *Lent) all() []*given {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.open))
}

func (l *Lent) closeLocked() {
	if l.closed {
		return
	}
	l.closed = true
	close(l.done)
	if l.of.seats[l.shard] == l {
		delete(l.of.seats, l.shard)
	}
	delete(l.of.named, l.name)
}

// ends says whether it was closed.
func (l *Lent) ends() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Sever ends the connections that were given and are open still. A server that
// was shut down has none but those that it has waited for in vain, and those that
// hear the goodbye, which end by themselves.
func (l *Lent) Sever() {
	for _, g := range l.all() {
		if g.unused() {
			_ = g.Close() // accepted while the server ended
		}
		if !g.says() {
			_ = g.cut()
		}
	}
}

// Addr is a net.Listener's; nobody can dial it.
func (l *Lent) Addr() net.Addr { return within(l.shard) }

func (l *Lent) gives(conn net.Conn) *given {
	g := &given{Conn: conn, of: l, fresh: true}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[g] = struct{}{}
	if _, secure := conn.(*tls.Conn); secure {
		l.of.open.Add(1)
	}
	return g
}
