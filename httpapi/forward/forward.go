// Package forward passes requests that come to one node of an install on to
// the one that has the work, and takes those that others pass on. It knows no
// route and no credential: bytes go both ways as they come, streams, uploads
// and WebSockets too.
//
// A node that is not active answers what is passed on to it with the header
// Callboard-Not-Active; nothing was done then, and it is passed on again.
package forward

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

const (
	notActive = "Callboard-Not-Active"

	waitMost    = 10 * time.Second       // for a node that has the work
	waitReady   = time.Second            // the same, of who only asks whether there is one
	pause       = 20 * time.Millisecond  // before a node is tried again that did not answer
	pauseMost   = 250 * time.Millisecond // the same, later
	dialLimit   = time.Second
	idleFor     = 60 * time.Second
	idleMost    = 256       // connections to a node that are kept
	keptBody    = 256 << 10 // of a body, so that it can be sent again
	headerBytes = 16 << 10
	retryAfter  = 2 // seconds
)

// Config of a Forwarder.
type Config struct {
	// Active is the address of the active node's door; false: there is none, or
	// it is not known.
	Active     func() (addr string, ok bool)
	Credential *Credential
	Log        *slog.Logger  // nil: silent
	Wait       time.Duration // how long a request waits for an active node; 0: 10 s
}

// Forwarder is the front door of a node that has not the work.
type Forwarder struct {
	cfg       Config
	transport *http.Transport
	proxy     httputil.ReverseProxy
	flights   flights
}

// New makes one.
func New(cfg Config) *Forwarder {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Wait == 0 {
		cfg.Wait = waitMost
	}
	watching, end := context.WithCancel(context.Background())
	f := &Forwarder{cfg: cfg, flights: flights{all: make(map[*flight]struct{}), end: end}}
	go f.flights.watch(watching, cfg.Active)
	f.transport = &http.Transport{
		DialContext:     (&net.Dialer{Timeout: dialLimit, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig: cfg.Credential.config(), TLSHandshakeTimeout: 2 * dialLimit,
		DisableCompression: true, MaxIdleConnsPerHost: idleMost, IdleConnTimeout: idleFor,
		WriteBufferSize: 32 << 10, ReadBufferSize: 32 << 10,
	}
	f.proxy = httputil.ReverseProxy{
		Rewrite: rewrite, Transport: transporter{f}, ErrorHandler: f.failed,
		FlushInterval: -1, // each piece when it comes: streams of events, sound
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

// ServeHTTP passes a request on. Whether the process lives is answered here.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		safe(w.Header())
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
		return
	}
	one, ctx := f.flights.begin(r.Context())
	defer one.land()
	f.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// Close gives idle connections back. What is being passed on goes on.
func (f *Forwarder) Close() {
	f.flights.end()
	f.transport.CloseIdleConnections()
}

// Reach asks a node's door whether it answers.
func (f *Forwarder) Reach(ctx context.Context, addr string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+addr+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := f.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

var errNobody = errors.New("no node of the install has taken the work up yet")

// transporter finds the active node for each request, and again where that is
// another one by now.
type transporter struct{ f *Forwarder }

// RoundTrip sends a request to the active node. It is sent again where nothing
// can have been done, or where it does no harm twice.
func (t transporter) RoundTrip(r *http.Request) (*http.Response, error) {
	wait := t.f.cfg.Wait
	if r.URL.Path == "/readyz" {
		wait = min(wait, waitReady)
	}
	end := time.Now().Add(wait)
	body, err := keep(r)
	if err != nil {
		return nil, err
	}
	last := errNobody
	for delay := pause; ; delay = min(2*delay, pauseMost) {
		if addr, ok := t.f.cfg.Active(); ok {
			resp, again, err := t.once(r, addr, body)
			if !again {
				return resp, err
			}
			last = err
		}
		if time.Until(end) < delay {
			return nil, last
		}
		sleep := time.NewTimer(delay)
		select {
		case <-r.Context().Done():
			sleep.Stop()
			return nil, r.Context().Err()
		case <-sleep.C:
		}
	}
}

// once tries one node; again: another try does no harm.
func (t transporter) once(r *http.Request, addr string, body *kept) (resp *http.Response, again bool, err error) {
	ctx := r.Context()
	if one, ok := ctx.Value(flightKey{}).(*flight); ok {
		ctx = one.to(ctx, addr)
	}
	out := r.Clone(ctx)
	out.URL.Host = addr
	out.Body = body.reader()
	resp, err = t.f.transport.RoundTrip(out)
	if err == nil && resp.Header.Get(notActive) != "" { // nothing was done
		_ = resp.Body.Close()
		return nil, body.whole(), errNobody
	}
	if err == nil {
		return resp, false, nil
	}
	if r.Context().Err() != nil {
		return nil, false, r.Context().Err()
	}
	if cause := context.Cause(ctx); errors.Is(cause, errMoved) {
		err = errMoved
	}
	var dial *net.OpError
	unsent := errors.As(err, &dial) && dial.Op == "dial"
	switch {
	case unsent, harmless(r):
		return nil, body.whole(), err
	}
	return nil, false, errors.Join(errUnknown, err)
}

// errUnknown: the request may have been done.
var errUnknown = errors.New("the node that had the request has gone")

// harmless says whether a request may be done twice.
func harmless(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	return r.Header.Get("Idempotency-Key") != ""
}

// kept is a body that can be sent again, where it is short and its length was
// said before.
type kept struct {
	stream io.ReadCloser // of one that cannot
	bytes  []byte
	used   bool
}

func keep(r *http.Request) (*kept, error) {
	k := &kept{stream: r.Body}
	if r.Body == nil || r.Body == http.NoBody {
		k.stream = nil
		return k, nil
	}
	if r.ContentLength < 0 || r.ContentLength > keptBody {
		return k, nil
	}
	all, err := io.ReadAll(io.LimitReader(r.Body, r.ContentLength))
	if err == nil && int64(len(all)) < r.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	k.stream, k.bytes = nil, all
	return k, nil
}

// whole says whether all of it is there still.
func (k *kept) whole() bool { return k.stream == nil || !k.used }

func (k *kept) reader() io.ReadCloser {
	if k.stream != nil {
		return &once{ReadCloser: k.stream, k: k}
	}
	if k.bytes == nil {
		return nil
	}
	return io.NopCloser(bytes.NewReader(k.bytes))
}

// once is a body that is gone once it was read from. It stays open for another
// try; the server closes it.
type once struct {
	io.ReadCloser
	k *kept
}

// Read is an io.Reader's.
func (o *once) Read(p []byte) (int, error) {
	o.k.used = true
	return o.ReadCloser.Read(p)
}

// Close leaves it to whoever reads the request.
func (o *once) Close() error { return nil }

// failed answers for a request that no node has answered.
func (f *Forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for it
	}
	text := "No node of this service can take the request at the moment; try again."
	if errors.Is(err, errUnknown) {
		text = "The node that had the request has gone before it answered: whether it was done is not known. Look, or send it again with an Idempotency-Key."
	}
	if r.URL.Path == "/readyz" {
		text = "Not ready: " + err.Error()
	}
	f.cfg.Log.Debug("a request was not passed on", slog.Any("error", err))
	refuse(w, text)
}

// Idle is the door of a node that is not active: it tells other nodes that it
// lives, and that it has not done what they pass on.
func Idle() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && r.Method == http.MethodHead {
			return
		}
		w.Header().Set(notActive, "1")
		refuse(w, "This node is not active.")
	})
}

// safe sets the headers that each answer of the service has.
func safe(h http.Header) {
	h.Set("X-Request-Id", "req_"+rand.Text()[:24])
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
}

// refuse answers 503 as the API words it.
func refuse(w http.ResponseWriter, text string) {
	h := w.Header()
	safe(h)
	h.Set("Content-Type", "application/json")
	h.Set("Retry-After", strconv.Itoa(retryAfter))
	body, _ := json.Marshal(map[string]any{"success": false, "error": map[string]any{ // of plain texts
		"code": domain.CodeUnavailable, "message": text, "request_id": h.Get("X-Request-Id"), "retry_after": retryAfter,
	}})
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(append(body, '\n'))
}

// Server is an HTTP server for a handler of this package, with the bounds that
// strangers need.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
