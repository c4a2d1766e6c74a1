// Package forward forwards client requests to the node that owns their shard.
//
// The package knows no routes and no credentials. It copies bytes in both directions, including streams, uploads
// and WebSockets. A node that does not own the shard responds with the header Callboard-Not-Active without running
// the request. The request is then forwarded again. A node never forwards a request that another node forwarded.
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

// NotActive is the header of a response that says that the node did not run the request.
const NotActive = "Callboard-Not-Active"

// HeaderPrefix begins the names of headers that nodes add for each other. Client headers with this prefix are removed.
const HeaderPrefix = "Callboard-"

const (
	maxOwnerWait         = 10 * time.Second       // time for a shard to get an owner
	readinessWait        = time.Second            // time for a shard to get an owner in a readiness check
	retryDelay           = 20 * time.Millisecond  // delay before the first retry
	maxRetryDelay        = 250 * time.Millisecond // maximum delay before a retry
	dialTimeout          = time.Second
	idleTimeout          = 60 * time.Second
	maxIdleConnsPerShard = 256              // idle connections to one shard
	maxIdleConns         = 2048             // idle connections to all shards of other nodes
	maxRetryBody         = 64 << 10         // bytes of a body that is read into memory, so that it can be sent again
	bodyTimeout          = 20 * time.Second // time to receive such a body, or a part of a longer one
	writeTimeout         = 30 * time.Second // time to send a part of a response
	maxClientConns       = 16384            // client connections
	maxPeerConns         = 4096             // node connections
	maxHeaderBytes       = 16 << 10
	retryAfter           = 2                // Retry-After in seconds
	responseTimeout      = 50 * time.Second // time until the response begins; handlers end after 40 s
)

// Config configures a Forwarder.
type Config struct {
	Shards int // number of shards of the installation; 0: 1
	// Owner returns the address of the node that owns a shard, false if no owner is known. nil: the installation
	// has no other nodes.
	Owner func(shard int) (addr string, ok bool)
	Self  string      // address of this node as Owner returns it
	Local *ConnRouter // shards of this node; nil: this node has none
	// Shard returns the shard of a request. form is the body, at most 64 KB, if Form returns true for the request. An
	// error is answered with 503. nil: every request goes to shard 0.
	Shard func(r *http.Request, form []byte) (int, error)
	Form  func(r *http.Request) bool // reports whether Shard needs the body; nil: never

	Credential *Credential   // nil: the installation has no other nodes
	Log        *slog.Logger  // nil: nothing is logged
	Wait       time.Duration // maximum wait of a request for an owner of its shard; 0: 10 s
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

// Forwarder forwards each client request to its shard, on this node or on another node.
type Forwarder struct {
	cfg       Config
	local     *http.Transport
	remote    *http.Transport
	probe     *http.Transport
	proxy     httputil.ReverseProxy
	requests  requestTracker
	readiness readiness
}

// New returns a Forwarder and starts its background work, which Close ends.
func New(cfg Config) *Forwarder {
	cfg = cfg.withDefaults()
	watching, end := context.WithCancel(context.Background())
	f := &Forwarder{cfg: cfg, requests: requestTracker{all: make(map[*forwardedRequest]struct{}), end: end}}
	go f.requests.watchOwners(watching, cfg.Owner)
	f.openTransports()
	f.proxy = httputil.ReverseProxy{
		Rewrite: rewriteRequest, Transport: retryTransport{f}, ErrorHandler: f.respondFailure,
		FlushInterval: -1, // flush each part at once: event streams, audio
		BufferPool:    new(bufferPool),
		ErrorLog:      slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return f
}

// rewriteRequest prepares the forwarded request: it adds the client to X-Forwarded-For, removes headers that begin with
// HeaderPrefix and keeps the other headers of the client.
func rewriteRequest(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = "https", "node" // placeholder; retryTransport sets the address
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
		r.Out.Header.Set("User-Agent", "") // otherwise net/http sets its own
	}
}

// ServeHTTP forwards a request. It answers /healthz itself, and /readyz in an installation with several shards.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil { // the server of the shard does not see TLS
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
			respondError(w, http.StatusRequestEntityTooLarge, domain.CodePayloadTooLarge, "The body is larger than this route accepts.", 0)
			return
		}
		respondError(w, http.StatusRequestTimeout, "request_timeout", "The body is incomplete or arrived too late.", 0)
		return
	}
	var shown []byte
	if form {
		shown = all
	}
	shard, err := f.cfg.Shard(r, shown)
	if err != nil || shard < 0 || shard >= f.cfg.Shards {
		f.cfg.Log.Warn("shard of a request not found", slog.Int("shard", shard), slog.Any("error", err))
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

// respondOK answers a health check with status ok.
func respondOK(w http.ResponseWriter) {
	setSecurityHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
}

// Close closes idle connections. Requests in progress continue.
func (f *Forwarder) Close() {
	f.requests.end()
	for _, t := range []*http.Transport{f.local, f.remote, f.probe} {
		t.CloseIdleConnections()
	}
}
