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
	"net/http/httptrace"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"github.com/callboard/callboard/domain"
)

// NotActive is the header of an answer that only says that nothing was done.
const NotActive = "Callboard-Not-Active"

const (
	waitMost    = 10 * time.Second       // for a node that has the work
	waitReady   = time.Second            // the same, of who only asks whether there is one
	pause       = 20 * time.Millisecond  // before a node is tried again that did not answer
	pauseMost   = 250 * time.Millisecond // the same, later
	dialLimit   = time.Second
	idleFor     = 60 * time.Second
	idleMost    = 256              // connections to a node that are kept
	keptBody    = 64 << 10         // of a body, so that it can be sent again
	bodyLimit   = 20 * time.Second // for such a body, or a piece of a longer one, to come
	writeLimit  = 30 * time.Second // for a piece of an answer to go
	clientsMost = 16384            // connections of clients
	nodesMost   = 4096             // connections of nodes, and of whoever else finds the door
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
	probe     *http.Transport // of Reach, which never waits behind requests
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
		DisableCompression: true, MaxIdleConnsPerHost: idleMost, MaxConnsPerHost: nodesMost / 2, IdleConnTimeout: idleFor,
		WriteBufferSize: 32 << 10, ReadBufferSize: 32 << 10,
	}
	f.probe = f.transport.Clone()
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
	all, err := keep(w, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		answer(w, http.StatusRequestTimeout, "request_timeout", "The body did not come whole, or not in time.", 0)
		return
	}
	ctx := r.Context()
	if r.URL.Path == "/readyz" {
		bound, cancel := context.WithTimeout(ctx, 2*waitReady)
		defer cancel()
		ctx = bound
	}
	one, ctx := f.flights.begin(r.Context(), ctx, all)
	defer one.land()
	f.proxy.ServeHTTP(unhurried{w}, r.WithContext(ctx))
}

// Close gives idle connections back. What is being passed on goes on.
func (f *Forwarder) Close() {
	f.flights.end()
	f.transport.CloseIdleConnections()
	f.probe.CloseIdleConnections()
}

// Reach asks a node's door whether it answers.
func (f *Forwarder) Reach(ctx context.Context, addr string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+addr+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := f.probe.RoundTrip(r)
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
	body := keptOf(r)
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
	one, _ := ctx.Value(flightKey{}).(*flight)
	if one != nil {
		ctx = one.to(ctx, addr)
	}
	sent := false
	out := r.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = true }}))
	out.URL.Host = addr
	out.Body = body.reader()
	resp, err = t.f.transport.RoundTrip(out)
	if err == nil && resp.Header.Get(NotActive) != "" { // nothing was done
		_, _ = io.CopyN(io.Discard, resp.Body, keptBody) // so that the connection is used again
		_ = resp.Body.Close()
		return nil, body.whole(), errNobody
	}
	if err == nil {
		one.begun()
		return resp, false, nil
	}
	if r.Context().Err() != nil {
		return nil, false, r.Context().Err()
	}
	if cause := context.Cause(ctx); errors.Is(cause, errMoved) {
		err = errMoved
	}
	if !sent || harmless(r) {
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
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/") && r.Header.Get("Idempotency-Key") != ""
}

// keep reads a short body, so that it can be sent again; nil: it is none. A
// longer one is passed on as it comes, which must not be too slowly.
func keep(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	conn := http.NewResponseController(w)
	if r.ContentLength < 0 || r.ContentLength > keptBody {
		r.Body = &paced{r.Body, conn}
		return nil, nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(bodyLimit)) // a server's connections know deadlines
	all, err := io.ReadAll(r.Body)
	if err == nil && int64(len(all)) < r.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	_ = conn.SetReadDeadline(time.Time{})
	return all, nil
}

// paced is a body of which each piece has its time.
type paced struct {
	io.ReadCloser
	conn *http.ResponseController
}

// Read is an io.Reader's.
func (p *paced) Read(b []byte) (int, error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(bodyLimit))
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.conn.SetReadDeadline(time.Time{}) // what follows is no body
	}
	return n, err
}

// unhurried is an answer of which each piece has its time.
type unhurried struct{ http.ResponseWriter }

// Write is an io.Writer's.
func (u unhurried) Write(b []byte) (int, error) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(time.Now().Add(writeLimit))
	return u.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (u unhurried) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// kept is a body that can be sent again, where it was read before.
type kept struct {
	stream io.ReadCloser // of one that was not
	bytes  []byte
	used   bool
}

func keptOf(r *http.Request) *kept {
	one, _ := r.Context().Value(flightKey{}).(*flight)
	switch {
	case one != nil && one.body != nil:
		return &kept{bytes: one.body}
	case r.Body == nil || r.Body == http.NoBody:
		return &kept{}
	}
	return &kept{stream: r.Body}
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
	if one, ok := r.Context().Value(flightKey{}).(*flight); ok && one.client.Err() != nil {
		panic(http.ErrAbortHandler) // nobody waits for it; an answer of nothing would be 200
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
		w.Header().Set(NotActive, "1")
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

// refuse answers 503.
func refuse(w http.ResponseWriter, text string) {
	answer(w, http.StatusServiceUnavailable, domain.CodeUnavailable, text, retryAfter)
}

// answer is an error as the API words it. after: seconds until it may be tried
// again; 0: that is not told.
func answer(w http.ResponseWriter, status int, code domain.Code, text string, after int) {
	h := w.Header()
	safe(h)
	h.Set("Content-Type", "application/json")
	said := map[string]any{"code": code, "message": text, "request_id": h.Get("X-Request-Id")}
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(after))
		said["retry_after"] = after
	}
	body, _ := json.Marshal(map[string]any{"success": false, "error": said}) // of plain texts
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// Clients bounds how many connections of clients there are at a time.
func Clients(ln net.Listener) net.Listener { return netutil.LimitListener(ln, clientsMost) }

// Server is an HTTP server for a handler of this package, with the bounds that
// strangers need.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 15 * time.Second, IdleTimeout: 75 * time.Second, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
