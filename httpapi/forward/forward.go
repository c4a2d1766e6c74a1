// Package forward forwards requests to the node that owns their shard.
//
// It has no knowledge of routes and credentials: bytes are copied in both directions, also
// of streams, uploads and WebSockets. A node that does not own the shard responds with the
// header Callboard-Not-Active: it has not run the request, which is forwarded again. A
// node does not forward requests of other nodes.
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

// NotActive is the header of a response to a request that was not run.
const NotActive = "Callboard-Not-Active"

// HeaderPrefix is the prefix of headers between nodes. Such headers of clients are not
// forwarded.
const HeaderPrefix = "Callboard-"

const (
	maxOwnerWait         = 10 * time.Second       // for an owner of the shard
	readinessWait        = time.Second            // the same, of a readiness check
	retryDelay           = 20 * time.Millisecond  // before the next attempt
	maxRetryDelay        = 250 * time.Millisecond // the same, after several attempts
	dialTimeout          = time.Second
	idleTimeout          = 60 * time.Second
	maxIdleConnsPerShard = 256              // to a shard
	maxIdleConns         = 2048             // to all shards of other nodes
	maxRetryBody         = 64 << 10         // bytes of a body for another attempt
	bodyTimeout          = 20 * time.Second // to receive such a body, or a part of a longer one
	writeTimeout         = 30 * time.Second // to send a part of a response
	maxClientConns       = 16384            // connections of clients
	maxPeerConns         = 4096             // connections of nodes
	maxHeaderBytes       = 16 << 10
	retryAfter           = 2                // seconds
	responseTimeout      = 50 * time.Second // until a response begins: handlers end after 40 s
)

// Config sets a Forwarder up.
type Config struct {
	Shards int // of the installation; 0: 1
	// Owner returns the address of the node that owns a shard; false: there is none, or it
	// is not known. nil: there are no other nodes.
	Owner func(shard int) (addr string, ok bool)
	Self  string      // the address of this node, as Owner returns it
	Local *ConnRouter // of this node's shards; nil: there are none
	// Shard returns the shard of a request. form is the body of a request that Form selects,
	// at most 64 KB. An error is a 503. nil: 0.
	Shard func(r *http.Request, form []byte) (int, error)
	Form  func(r *http.Request) bool // nil: never

	Credential *Credential   // nil: there are no other nodes
	Log        *slog.Logger  // nil: none
	Wait       time.Duration // of a request for an owner of its shard; 0: 10 s
}

func (c Config) withDefaults() Config {
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
		c.Wait = maxOwnerWait
	}
	return c
}

// Forwarder forwards each request of a client to the shard that it concerns, on this node or
// on another one.
type Forwarder struct {
	cfg       Config
	local     *http.Transport
	remote    *http.Transport
	probe     *http.Transport
	proxy     httputil.ReverseProxy
	requests  requestTracker
	readiness readiness
}

// New returns a Forwarder.
func New(cfg Config) *Forwarder {
	cfg = cfg.withDefaults()
	watching, end := context.WithCancel(context.Background())
	f := &Forwarder{cfg: cfg, requests: requestTracker{all: make(map[*forwardedRequest]struct{}), end: end}}
	go f.requests.watchOwners(watching, cfg.Owner)
	f.openTransports()
	f.proxy = httputil.ReverseProxy{
		Rewrite: rewriteRequest, Transport: retryTransport{f}, ErrorHandler: f.respondFailure,
		FlushInterval: -1, // each part at once: streams of events, audio
		BufferPool:    new(bufferPool),
		ErrorLog:      slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return f
}

// rewriteRequest adds the client to X-Forwarded-For. The rest of the request is unchanged.
func rewriteRequest(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = "https", "node" // see retryTransport
	r.Out.Host, r.Out.URL.RawQuery = r.In.Host, r.In.URL.RawQuery
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v := r.In.Header[name]; v != nil {
			r.Out.Header[name] = v
		}
	}
	for name := range r.Out.Header {
		if len(name) > len(HeaderPrefix) && strings.EqualFold(name[:len(HeaderPrefix)], HeaderPrefix) {
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
		r.Out.Header.Set("User-Agent", "") // else net/http sets its own
	}
}

// ServeHTTP forwards a request. It answers /healthz itself, and /readyz where there are
// several shards.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil { // the shard's server does not see TLS
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads && r.URL.Path == "/healthz" {
		respondOK(w)
		return
	}
	if reads && r.URL.Path == "/readyz" && f.cfg.Shards > 1 {
		if err := f.checkReady(r.Context()); err != nil {
			respondUnavailable(w, "Not ready: "+err.Error())
			return
		}
		respondOK(w)
		return
	}
	form := f.cfg.Form(r)
	all, err := readShortBody(w, r, form)
	if err != nil {
		w.Header().Set("Connection", "close")
		if errors.Is(err, errBodyTooLong) {
			respondError(w, http.StatusRequestEntityTooLarge, domain.CodePayloadTooLarge, "The body is larger than this route takes.", 0)
			return
		}
		respondError(w, http.StatusRequestTimeout, "request_timeout", "The body did not come whole, or not in time.", 0)
		return
	}
	var shown []byte
	if form {
		shown = all
	}
	shard, err := f.cfg.Shard(r, shown)
	if err != nil || shard < 0 || shard >= f.cfg.Shards {
		f.cfg.Log.Warn("it cannot be found whom a request is for", slog.Int("shard", shard), slog.Any("error", err))
		respondUnavailable(w, noNodeMessage)
		return
	}
	ctx := r.Context()
	if r.URL.Path == "/readyz" {
		bound, cancel := context.WithTimeout(ctx, 2*readinessWait)
		defer cancel()
		ctx = bound
	}
	one, ctx := f.requests.track(r.Context(), ctx, shard, all)
	defer one.finish()
	f.proxy.ServeHTTP(timedResponse{w}, r.WithContext(ctx))
}

// respondOK responds with status ok.
func respondOK(w http.ResponseWriter) {
	setSecurityHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
}

// Close closes idle connections. Requests that are being forwarded go on.
func (f *Forwarder) Close() {
	f.requests.end()
	for _, t := range []*http.Transport{f.local, f.remote, f.probe} {
		t.CloseIdleConnections()
	}
}
