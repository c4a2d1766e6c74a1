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
	handshakeTimeout  = 5 * time.Second // of a connection from a node
	maxHandshakes     = 512             // concurrent handshakes
	maxNodeConns      = 16384           // connections from nodes
	acceptTimeout     = 2 * time.Second // time for a starting shard to accept a connection
	closePollInterval = 2 * time.Millisecond
	maxAcceptDelay    = time.Second // between two attempts to accept while file descriptors are exhausted
)

// nodeShard is used in place of a shard number for requests to a node itself.
const nodeShard = -1

// serverNameSuffix ends the TLS server names of connections between nodes. For example, s7.callboard.invalid selects
// shard 7.
const serverNameSuffix = ".callboard.invalid"

func serverName(shard int) string {
	if shard == nodeShard {
		return "node" + serverNameSuffix
	}
	return "s" + strconv.Itoa(shard) + serverNameSuffix
}

// shardOfServerName returns the shard that a TLS server name selects. Without a server name it is shard 0: a node of
// an installation with one shard sends no name.
func shardOfServerName(name string) int {
	label, ours := strings.CutSuffix(name, serverNameSuffix)
	switch {
	case !ours:
		return 0
	case label == "node":
		return nodeShard
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(label, "s"), 10, 16)
	if err != nil || "s"+strconv.FormatUint(n, 10) != label {
		return nodeShard
	}
	return int(n)
}

// errNoListener is returned for a shard that this node does not own.
var errNoListener = errors.New("forward: this node does not own the shard")

// ConnRouter passes incoming connections to the shards of a node. The connections come from the node's own Forwarder
// and from other nodes, which select a shard. NotOwnerHandler answers connections for a shard that this node does not own.
type ConnRouter struct {
	tls        *tls.Config
	idleServer *http.Server
	handshakes chan struct{}
	serving    sync.WaitGroup
	nodeConns  atomic.Int64 // connections from nodes
	closing    atomic.Int64 // handshakes and close notices in progress
	nodeServer *http.Server // serves requests to the node itself; nil: there are none
	log        *slog.Logger
	ctx        context.Context //nolint:containedctx // the context ends with the ConnRouter
	end        context.CancelFunc

	mu           sync.Mutex
	listeners    map[int]*ShardListener
	byName       map[string]*ShardListener // listeners by ShardListener.name
	created      int                       // number of listeners created so far
	idleListener *ShardListener
	closed       bool
}

// NewConnRouter returns a ConnRouter. The caller must call Serve to accept connections of other nodes.
func NewConnRouter(c *Credential, log *slog.Logger) *ConnRouter {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &ConnRouter{handshakes: make(chan struct{}, maxHandshakes), listeners: make(map[int]*ShardListener), byName: make(map[string]*ShardListener), idleServer: NewServer(NotOwnerHandler(), log), log: log}
	if c != nil {
		d.tls = c.config()
	}
	d.ctx, d.end = context.WithCancel(context.Background())
	d.idleListener = d.newListener(nodeShard, "")
	go func() { _ = d.idleServer.Serve(d.idleListener) }()
	return d
}

func (d *ConnRouter) newListener(shard int, name string) *ShardListener {
	return &ShardListener{router: d, shard: shard, name: name, conns: make(chan net.Conn), done: make(chan struct{}), open: make(map[*shardConn]struct{})}
}

// Listen returns a new listener for a shard. It closes the shard's previous listener.
func (d *ConnRouter) Listen(shard int) *ShardListener {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.listeners[shard]; before != nil {
		before.closeLocked()
	}
	d.created++
	l := d.newListener(shard, "s"+strconv.Itoa(shard)+"-"+strconv.Itoa(d.created)) // a unique name, so that connections to the previous listener are not reused
	if d.closed {
		l.closeLocked()
		return l
	}
	d.listeners[shard], d.byName[l.name] = l, l
	return l
}

// HandleNodeRequests serves requests that other nodes send with Forwarder.RequestNode. Call it before Serve. Client
// requests never reach the handler.
func (d *ConnRouter) HandleNodeRequests(handler http.Handler) {
	mux := http.NewServeMux()
	mux.Handle("POST "+nodeRequestPath, handler)
	mux.Handle("/", NotOwnerHandler())
	d.nodeServer = NewServer(mux, d.log)
	ln := d.Listen(nodeShard)
	go func() { _ = d.nodeServer.Serve(ln) }()
}

// listenerOf returns the listener of a shard, nil if this node does not own the shard.
func (d *ConnRouter) listenerOf(shard int) *ShardListener {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.listeners[shard]
}

// dial connects within the process to the listener that has the given name.
func (d *ConnRouter) dial(ctx context.Context, name string) (net.Conn, error) {
	d.mu.Lock()
	l := d.byName[name]
	d.mu.Unlock()
	if l == nil {
		return nil, errNoListener
	}
	here, there := pipe()
	g := l.wrapConn(there)
	late := time.NewTimer(acceptTimeout)
	defer late.Stop()
	select {
	case l.conns <- g:
		return here, nil
	case <-l.done:
	case <-late.C:
	case <-ctx.Done():
	}
	_, _ = here.Close(), g.Close()
	return nil, errors.Join(errNoListener, ctx.Err())
}

// Serve accepts connections of other nodes until the listener or the ConnRouter is closed. It refuses peers without the
// key of the installation in the TLS handshake.
func (d *ConnRouter) Serve(ln net.Listener) error {
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
		default: // for example, no file descriptor is free
			wait := time.NewTimer(delay)
			select {
			case <-wait.C:
			case <-d.ctx.Done():
				wait.Stop()
			}
			delay = min(2*delay, maxAcceptDelay)
			continue
		}
		select {
		case d.handshakes <- struct{}{}:
			d.closing.Add(1)
			go d.acceptNode(conn)
		default:
			_ = conn.Close()
		}
	}
}

// acceptNode authenticates the node that has connected and passes its connection to the listener of the shard.
func (d *ConnRouter) acceptNode(conn net.Conn) {
	defer d.closing.Add(-1)
	secure := tls.Server(conn, d.tls)
	bound, cancel := context.WithTimeout(context.Background(), handshakeTimeout) // not ended by Close: the peer may have sent a request
	err := secure.HandshakeContext(bound)
	cancel()
	<-d.handshakes
	if err != nil || d.nodeConns.Load() >= maxNodeConns {
		_ = conn.Close()
		return
	}
	l := d.listenerOf(shardOfServerName(secure.ConnectionState().ServerName))
	for _, to := range []*ShardListener{l, d.idleListener} {
		if to == nil {
			continue
		}
		g := to.wrapConn(secure)
		late := time.NewTimer(acceptTimeout)
		select {
		case to.conns <- g:
			late.Stop()
			return
		case <-to.done:
		case <-late.C: // the peer gets a close notice and tries again
		}
		late.Stop()
		g.remove()
	}
	sendCloseNotice(secure)
}

// sendCloseNotice tells a node that none of its data was read, and closes the connection.
func sendCloseNotice(secure *tls.Conn) {
	_ = secure.SetDeadline(time.Now().Add(closeNoticeTimeout))
	_, _ = io.WriteString(secure, closeNotice)
	_, _ = io.Copy(io.Discard, secure)
	_ = secure.NetConn().Close()
}

// Close closes all listeners and their connections.
func (d *ConnRouter) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	d.serving.Wait() // accepted connections get a close notice
	d.mu.Lock()
	all := []*ShardListener{d.idleListener}
	for _, l := range d.listeners {
		all = append(all, l)
	}
	d.mu.Unlock()
	for _, l := range all {
		_ = l.Close()
	}
	d.awaitClosed()
	for _, l := range all {
		l.CloseConns()
	}
	_ = d.idleServer.Close()
	if d.nodeServer != nil {
		_ = d.nodeServer.Close()
	}
}

// awaitClosed waits until running requests to the node itself have ended and the peers have read their close notices.
// A peer without a notice does not know whether its request was read.
func (d *ConnRouter) awaitClosed() {
	bound, cancel := context.WithTimeout(context.Background(), closeNoticeTimeout)
	defer cancel()
	_ = d.idleServer.Shutdown(bound)
	if d.nodeServer != nil {
		_ = d.nodeServer.Shutdown(bound)
	}
	tick := time.NewTicker(closePollInterval)
	defer tick.Stop()
	for d.closing.Load() > 0 {
		select {
		case <-tick.C:
		case <-bound.Done():
			return
		}
	}
}

// ShardListener is the net.Listener of one shard. Its connections come from nodes, and their remote address is a
// NodeAddr.
type ShardListener struct {
	router *ConnRouter
	shard  int
	name   string
	conns  chan net.Conn
	done   chan struct{}

	closed    bool        // guarded by ConnRouter.mu
	accepting atomic.Bool // Accept was called

	mu   sync.Mutex
	open map[*shardConn]struct{}
}

// Accept implements net.Listener.
func (l *ShardListener) Accept() (net.Conn, error) {
	l.accepting.Store(true)
	if l.isClosed() {
		return nil, net.ErrClosed
	}
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close stops accepting connections. Accepted connections stay open, except those without any data: a server would
// not close them, because it does not treat them as idle.
func (l *ShardListener) Close() error {
	l.router.mu.Lock()
	l.closeLocked()
	l.router.mu.Unlock()
	for _, g := range l.openConns() {
		if g.isUnused() {
			_ = g.Close()
		}
	}
	return nil
}

// openConns returns the open connections.
func (l *ShardListener) openConns() []*shardConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.open))
}

func (l *ShardListener) closeLocked() {
	if l.closed {
		return
	}
	l.closed = true
	close(l.done)
	if l.router.listeners[l.shard] == l {
		delete(l.router.listeners, l.shard)
	}
	delete(l.router.byName, l.name)
}

// isClosed reports whether the listener is closed.
func (l *ShardListener) isClosed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// CloseConns closes the connections that are still open after the server has shut down, because their requests have
// not ended in time. It skips connections with a close notice, which close by themselves.
func (l *ShardListener) CloseConns() {
	for _, g := range l.openConns() {
		if g.isUnused() {
			_ = g.Close() // accepted during the shutdown of the server
		}
		if !g.isClosing() {
			_ = g.closeNow()
		}
	}
}

// Addr implements net.Listener. The address is for logs and cannot be dialed.
func (l *ShardListener) Addr() net.Addr { return pipeAddr(l.shard) }

func (l *ShardListener) wrapConn(conn net.Conn) *shardConn {
	g := &shardConn{Conn: conn, listener: l, hasNoData: true}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[g] = struct{}{}
	if _, secure := conn.(*tls.Conn); secure {
		l.router.nodeConns.Add(1)
	}
	return g
}
