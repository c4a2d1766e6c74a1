// Package forward passes requests that come to one node of an install on to
// the seat that has their shard of the work, on this node or on another one,
// and takes those that others pass on. It knows no route and no credential:
// bytes go both ways as they come, streams, uploads and WebSockets too.
//
// Whoever has not the shard answers what is passed on to it with the header
// Callboard-Not-Active; nothing was done then, and it is passed on again. What
// was passed on once goes to a seat of the node that it came to, or is answered
// so: it is never passed on twice.
package forward

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// NotActive is the header of an answer that only says that nothing was done.
const NotActive = "Callboard-Not-Active"

// Own begins the names of headers by which nodes speak to each other. Those of
// clients are not passed on.
const Own = "Callboard-"

const (
	waitMost    = 10 * time.Second       // for a node that has the work
	waitReady   = time.Second            // the same, of who only asks whether there is one
	pause       = 20 * time.Millisecond  // before a node is tried again that did not answer
	pauseMost   = 250 * time.Millisecond // the same, later
	dialLimit   = time.Second
	idleFor     = 60 * time.Second
	idleMost    = 256              // connections to a seat that are kept
	idleAll     = 2048             // the same, to all seats of other nodes
	keptBody    = 64 << 10         // of a body, so that it can be sent again
	bodyLimit   = 20 * time.Second // for such a body, or a piece of a longer one, to come
	writeLimit  = 30 * time.Second // for a piece of an answer to go
	clientsMost = 16384            // connections of clients
	nodesMost   = 4096             // connections of nodes, and of whoever else finds the door
	headerBytes = 16 << 10
	retryAfter  = 2                // seconds
	answerLimit = 50 * time.Second // for an answer to begin: seats give up after 40 s
)

// Config of a Forwarder.
type Config struct {
	Shards int // of the install; 0: 1
	// Owner is the address of the door of the node that has a shard; false: none
	// has it, or it is not known. nil: there are no other nodes.
	Owner func(shard int) (addr string, ok bool)
	Self  string // the address of this node's own door, as Owner says it
	Doors *Doors // to the seats of this node; nil: it has none
	// Shard is which one a request is for. form is its body where Form says that
	// it is needed and it has at most 64 KB. An error is answered by 503. nil: 0.
	Shard func(r *http.Request, form []byte) (int, error)
	Form  func(r *http.Request) bool // nil: never

	Credential *Credential   // nil: there are no other nodes
	Log        *slog.Logger  // nil: silent
	Wait       time.Duration // how long a request waits for a node that has its shard; 0: 10 s
}

func (c Config) filled() Config {
	c.Shards = max(c.Shards, 1)
	if c.Owner == nil {
		c.Owner = func(int) (string, bool) { return "", false }
	}
	if c.Shard == nil {
		c.Shard = func(*http.Request, []byte) (int, error) { return 0, nil }
	}
	if c.Form == nil {
		c.Form = func(*http.Request) bool { return false }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Wait == 0 {
		c.Wait = waitMost
	}
	return c
}

// Forwarder is the front door of a node: it passes each request on to the seat
// of its shard, on this node or on another one.
type Forwarder struct {
	cfg       Config
	near      *http.Transport
	far       *http.Transport
	probe     *http.Transport
	proxy     httputil.ReverseProxy
	flights   flights
	readiness readiness
}

// New makes one.
func New(cfg Config) *Forwarder {
	cfg = cfg.filled()
	watching, end := context.WithCancel(context.Background())
	f := &Forwarder{cfg: cfg, flights: flights{all: make(map[*flight]struct{}), end: end}}
	go f.flights.watch(watching, cfg.Owner)
	f.transports()
	f.proxy = httputil.ReverseProxy{
		Rewrite: rewrite, Transport: transporter{f}, ErrorHandler: f.failed,
		FlushInterval: -1, // each piece when it comes: streams of events, sound
		BufferPool:    new(buffers),
		ErrorLog:      slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return f
}

// rewrite adds the client to those for whom a request was passed on before, as
// any proxy does. The rest stays as the client wrote it.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = "https", "node" // see transporter
	r.Out.Host, r.Out.URL.RawQuery = r.In.Host, r.In.URL.RawQuery
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v := r.In.Header[name]; v != nil {
			r.Out.Header[name] = v
		}
	}
	for name := range r.Out.Header {
		if len(name) > len(Own) && strings.EqualFold(name[:len(Own)], Own) {
			delete(r.Out.Header, name)
		}
	}
	client, _, err := net.SplitHostPort(r.In.RemoteAddr)
	if err != nil {
		client = "unknown"
	}
	if before := r.Out.Header["X-Forwarded-For"]; len(before) > 0 {
		client = strings.Join(before, ", ") + ", " + client
	}
	r.Out.Header.Set("X-Forwarded-For", client)
	if _, said := r.In.Header["User-Agent"]; !said {
		r.Out.Header.Set("User-Agent", "") // or net/http names itself
	}
}

// ServeHTTP passes a request on. Whether the process lives is answered here,
// and, of several shards, whether they can be reached.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil { // the seat does not know
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads && r.URL.Path == "/healthz" {
		fine(w)
		return
	}
	if reads && r.URL.Path == "/readyz" && f.cfg.Shards > 1 {
		if err := f.ready(r.Context()); err != nil {
			refuse(w, "Not ready: "+err.Error())
			return
		}
		fine(w)
		return
	}
	form := f.cfg.Form(r)
	all, err := keep(w, r, form)
	if err != nil {
		w.Header().Set("Connection", "close")
		if errors.Is(err, errLong) {
			answer(w, http.StatusRequestEntityTooLarge, domain.CodePayloadTooLarge, "The body is larger than this route takes.", 0)
			return
		}
		answer(w, http.StatusRequestTimeout, "request_timeout", "The body did not come whole, or not in time.", 0)
		return
	}
	var shown []byte
	if form {
		shown = all
	}
	shard, err := f.cfg.Shard(r, shown)
	if err != nil || shard < 0 || shard >= f.cfg.Shards {
		f.cfg.Log.Warn("it cannot be found whom a request is for", slog.Int("shard", shard), slog.Any("error", err))
		refuse(w, noNode)
		return
	}
	ctx := r.Context()
	if r.URL.Path == "/readyz" {
		bound, cancel := context.WithTimeout(ctx, 2*waitReady)
		defer cancel()
		ctx = bound
	}
	one, ctx := f.flights.begin(r.Context(), ctx, shard, all)
	defer one.land()
	f.proxy.ServeHTTP(unhurried{w}, r.WithContext(ctx))
}

// fine says that something is so.
func fine(w http.ResponseWriter) {
	safe(w.Header())
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
}

// Close gives idle connections back. What is being passed on goes on.
func (f *Forwarder) Close() {
	f.flights.end()
	for _, t := range []*http.Transport{f.near, f.far, f.probe} {
		t.CloseIdleConnections()
	}
}
