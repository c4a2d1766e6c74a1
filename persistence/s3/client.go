// Package s3 asks an object store that speaks S3: it signs requests, sees that
// none hangs, tries again what may be tried again, and rests while the store is
// away. It knows what an object is, and nothing of what is in it.
package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says which bucket, and who asks.
type Config struct {
	Endpoint  string // http:// or https:// with host and port and no path
	Region    string
	Bucket    string
	PathStyle bool                 // the bucket stands in the path, not before the host
	Keys      func() (Keys, error) // asked for each request, so that they may change
	Roots     *x509.CertPool       // nil: those of the machine
	Timing    Timing               // zero: as is usual
}

// Timing is how patient a client is.
type Timing struct {
	Still time.Duration // a request of which nothing moves for so long has failed
	Small time.Duration // bound of a small request with all its tries
	Tries int           // of one request
	Pause time.Duration // before the second try; doubling
	Rest  time.Duration // first time for which an absent store is not asked; doubling up to RestMost
	// RestMost is the longest of them.
	RestMost time.Duration
}

func usual() Timing {
	return Timing{Still: 10 * time.Second, Small: 15 * time.Second, Tries: 4, Pause: 100 * time.Millisecond, Rest: time.Second, RestMost: 15 * time.Second}
}

// Client asks one bucket.
type Client struct {
	cfg  Config
	base url.URL // of the bucket
	http *http.Client
	gate gate
}

// New makes a client; nothing is asked yet.
func New(cfg Config) (*Client, error) {
	at, err := url.Parse(cfg.Endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || strings.Trim(at.Path, "/") != "" || at.User != nil || cfg.Bucket == "" || cfg.Region == "" {
		return nil, errors.New("s3: the endpoint must be an http:// or https:// URL of a host, and bucket and region must be named")
	}
	if cfg.Timing == (Timing{}) {
		cfg.Timing = usual()
	}
	base := url.URL{Scheme: at.Scheme, Host: at.Host, Path: "/"}
	if port := at.Port(); port == "443" && at.Scheme == "https" || port == "80" && at.Scheme == "http" {
		base.Host = strings.TrimSuffix(at.Host, ":"+port) // clients leave it out, so servers sign without it
	}
	if cfg.PathStyle {
		base.Path += cfg.Bucket + "/"
	} else {
		base.Host = cfg.Bucket + "." + base.Host
	}
	return &Client{cfg: cfg, base: base, gate: gate{least: cfg.Timing.Rest, most: cfg.Timing.RestMost}, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			DialContext:     (&net.Dialer{Timeout: min(5*time.Second, cfg.Timing.Still), KeepAlive: 15 * time.Second}).DialContext,
			TLSClientConfig: &tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: min(5*time.Second, cfg.Timing.Still),
			MaxIdleConns: idleMost, MaxIdleConnsPerHost: idleMost, IdleConnTimeout: time.Minute, DisableCompression: true,
			ReadBufferSize: 32 << 10, WriteBufferSize: 32 << 10,
		},
	}}, nil
}

const (
	idleMost   = 16
	largeTimes = 40 // a large request may take so much longer, as long as it moves
)

// String names the bucket to people: there is no secret in it.
func (c *Client) String() string { return "the bucket " + c.cfg.Bucket + " at " + c.cfg.Endpoint }

// Close gives idle connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Away is why the store is not worth asking now; nil: it may be asked.
func (c *Client) Away() error {
	if after, cause := c.gate.look(time.Now()); cause != nil {
		return &AwayError{After: after, Cause: cause}
	}
	return nil
}

// request is one thing asked of the store.
type request struct {
	method, key string
	query       url.Values
	header      http.Header
	body        []byte
	large       bool                       // its bytes take their time: only standing still is a failure
	read        func(*http.Response) error // of a good answer; it may be called again
}

var errStill = errors.New("nothing moved for too long")

// do asks until there is an answer, it is no use, or the store rests.
func (c *Client) do(ctx context.Context, q *request) error {
	most := c.cfg.Timing.Small
	if q.large {
		most *= largeTimes
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, errStill)
	defer cancel()
	if after, cause := c.gate.enter(time.Now()); cause != nil {
		return &AwayError{After: after, Cause: cause}
	}
	sum := sha256.Sum256(q.body)
	pause := c.cfg.Timing.Pause
	for try := 1; ; try++ {
		err := c.once(ctx, q, sum)
		if err == nil || !again(err) {
			c.gate.worked()
			return err
		}
		over := context.Cause(ctx)
		if over == nil && try < c.cfg.Timing.Tries {
			if over = Rest(ctx, pause/2+rand.N(pause)); over == nil { //nolint:gosec // it spreads retries
				pause *= 2
				continue
			}
		}
		if over != nil && !errors.Is(over, errStill) { // who asked waits no longer, which says nothing of the store
			c.gate.leave()
			if errors.Is(over, context.DeadlineExceeded) {
				return &AwayError{After: c.cfg.Timing.Rest, Cause: errors.Join(over, err)}
			}
			return fmt.Errorf("s3: %w", errors.Join(over, err))
		}
		return &AwayError{After: c.gate.failed(time.Now(), err), Cause: err}
	}
}

// Rest waits, or until ctx ends, which it then tells.
func Rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// again says whether the same request may end otherwise: connections and
// answers that broke off, and what a store says in passing.
func again(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.passing()
	}
	_, ours := errors.AsType[*setupError](err)
	return !ours
}

// setupError is a fault that no store can mend by answering again.
type setupError struct{ err error }

func (e *setupError) Error() string { return e.err.Error() }

func (e *setupError) Unwrap() error { return e.err }

// once asks once. Nothing of the answer is left open.
func (c *Client) once(ctx context.Context, q *request, sum [sha256.Size]byte) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(c.cfg.Timing.Still, func() { cancel(errStill) })
	defer watch.Stop()
	moved := func() { watch.Reset(c.cfg.Timing.Still) }

	keys, err := c.cfg.Keys()
	if err != nil {
		return &setupError{err}
	}
	at := c.base
	at.Path += q.key
	at.RawPath, at.RawQuery = escape(at.Path, false), query(q.query)
	r, err := http.NewRequestWithContext(ctx, q.method, at.String(), &moving{Reader: bytes.NewReader(q.body), moved: moved})
	if err != nil {
		return &setupError{err}
	}
	r.ContentLength = int64(len(q.body))
	if len(q.body) == 0 {
		r.Body = http.NoBody
	}
	r.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(&moving{Reader: bytes.NewReader(q.body), moved: moved}), nil
	}
	maps.Copy(r.Header, q.header)
	sign(r, keys, c.cfg.Region, sum, time.Now())
	r.Header.Set("User-Agent", "callboard")
	resp, err := c.http.Do(r)
	if err != nil {
		return c.plain(ctx, err)
	}
	defer func() {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection is used again
		_ = resp.Body.Close()
	}()
	moved()
	resp.Body = struct {
		io.Reader
		io.Closer
	}{&moving{Reader: resp.Body, moved: moved}, resp.Body}
	if resp.StatusCode >= 300 {
		return c.plain(ctx, problem(resp, keys.Token))
	}
	if q.read == nil {
		return nil
	}
	return c.plain(ctx, q.read(resp))
}

// plain says why a request broke off, and tells what no try mends: a certificate
// that nobody trusts. A name that nobody has is that of a store which stands
// still, in many a network.
func (c *Client) plain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if _, answered := errors.AsType[*Error](err); answered {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errStill) {
		return cause
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &setupError{bad}
	}
	return err
}

// moving tells that bytes moved.
type moving struct {
	io.Reader
	moved func()
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if n > 0 {
		m.moved()
	}
	return n, err
}
