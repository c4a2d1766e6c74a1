package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/webhook"
)

// The limits of one request.
const (
	maxAnswer        = 64 << 10
	maxAnswerHeaders = 32 << 10
	dialTimeout      = 10 * time.Second
	drainTimeout     = 2 * time.Second
	resolveTimeout   = 5 * time.Second
	// idleTimeout is shorter than the five seconds after which common servers
	// close an idle connection: a POST on a connection that is being closed
	// would count as a failed attempt.
	idleTimeout = 4 * time.Second
	// maxSessions are kept, so that a connection that is made again costs a
	// fraction of the first.
	maxSessions = 4
	// maxIdle connections are kept for each host.
	maxIdle = 64
	// lookAgain is how often it is looked whether an attempt may be made.
	lookAgain = 50 * time.Millisecond
)

// ClientConfig says where requests may go.
type ClientConfig struct {
	Egress   access.Egress
	RootCAs  *x509.CertPool // nil: those of the machine
	Resolver *net.Resolver  // nil: the machine's
	Timeout  time.Duration  // of a whole attempt; 0: 30 s
	MaySend  func() bool    // asked before each attempt, which waits for it; it must not wait itself; nil: always

	idle time.Duration // that a connection may be unused; 0: idleTimeout
	// Quarantined: nothing is sent. Send waits until its context ends, and nothing else gets a connection.
	Quarantined bool
}

// ErrQuarantined says that nothing is sent, because the store was restored from a backup and not released.
var ErrQuarantined = errors.New("the service was restored from a backup: nothing is sent until an operator releases it")

var errNotHTTPS = errors.New("the scheme is not https")

// Client sends events. Each endpoint's actor takes a copy with connections of
// its own: over HTTP/2 an answer that breaks the rules ends the connection and
// with it every request on it, so endpoints behind one host must not share one.
type Client struct {
	cfg       ClientConfig
	transport *http.Transport
	http      http.Client
}

// NewClient makes the client. It uses no proxy, follows no redirect, and
// checks every address after name resolution, right before it connects.
func NewClient(cfg ClientConfig) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = webhook.Timeout
	}
	if cfg.idle == 0 {
		cfg.idle = idleTimeout
	}
	c := &Client{cfg: cfg}
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second, Resolver: cfg.Resolver, ControlContext: c.guard}
	c.transport = &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: dialTimeout,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(maxSessions),
			DynamicRecordSizingDisabled: true, // an event is one record, not several of the size of a packet
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        cfg.idle,
		MaxResponseHeaderBytes: maxAnswerHeaders,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: dialTimeout, PingTimeout: dialTimeout},
	}
	c.http = http.Client{
		Transport:     c.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// own is the same client with connections of its own.
func (c *Client) own() *Client { return NewClient(c.cfg) }

// Close gives idle connections back.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
}

// guard runs once per address that is about to be connected to.
func (c *Client) guard(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q", access.ErrEgress, address)
	}
	if c.cfg.Quarantined {
		return ErrQuarantined
	}
	return c.cfg.Egress.May(to)
}

// CheckURL is what the API asks when an endpoint is created or changed: the URL's
// shape, and that every address of its host may be reached. A resolver that
// does not answer in time is no fault of the URL; each connection is checked
// again anyway. The error is a *domain.Error invalid_url.
func (c *Client) CheckURL(ctx context.Context, link string) error {
	target, err := webhook.ParseURL(link, c.cfg.Egress)
	if err != nil || target.Addr.IsValid() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	resolver := c.cfg.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", target.Host)
	if failed, ok := errors.AsType[*net.DNSError](err); ok && failed.IsNotFound {
		return refuse("the host name does not resolve")
	}
	for _, a := range addrs {
		if c.cfg.Egress.May(netip.AddrPortFrom(a, target.Port)) != nil {
			return refuse("this address may not be reached from here")
		}
	}
	return nil
}

func refuse(why string) error {
	return &domain.Error{Code: domain.CodeInvalidURL, Message: why, Param: "url"}
}

// Request is one attempt as it goes out.
type Request struct {
	URL    string
	Header []webhook.Header
	Body   []byte
}

// SendResult is what came of an attempt.
type SendResult struct {
	Status   int           // 0: none came
	Duration time.Duration // until the answer's headers, or the failure
	Error    string        // why it is no success, fit to be shown
	// RetryAfter is what the answer asks for in seconds, an hour at most; 0:
	// nothing.
	RetryAfter time.Duration
}

// Send makes one attempt. The answer counts once its headers are there; its
// body is read only as far as lets the connection be used again.
func (c *Client) Send(ctx context.Context, r Request) SendResult {
	start := time.Now()
	if c.cfg.Quarantined {
		<-ctx.Done()
		return SendResult{Duration: time.Since(start), Error: ErrQuarantined.Error()}
	}
	if c.cfg.MaySend != nil && !c.waited(ctx, start) {
		return SendResult{Duration: time.Since(start), Error: "this node may not send any more"}
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(c.cfg.Timeout))
	defer cancel()
	req, err := r.post(ctx)
	if err != nil {
		return SendResult{Error: "the URL is not valid"}
	}
	resp, err := c.transport.RoundTrip(req) // a redirect is an answer like any other
	a := SendResult{Duration: time.Since(start)}
	if err != nil {
		a.Error = c.reason(err)
		return a
	}
	defer func() { _ = resp.Body.Close() }()
	a.addStatus(resp.StatusCode, resp.Header.Get("Retry-After"))
	if resp.Body != http.NoBody {
		slow := time.AfterFunc(drainTimeout, cancel)
		defer slow.Stop()
		_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // the status has decided
	}
	return a
}

// post is the HTTP request. The names of the header lines are in their canonical form.
func (r *Request) post(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err == nil && req.URL.Scheme != "https" {
		err = errNotHTTPS
	}
	if err != nil {
		return nil, err
	}
	for _, h := range r.Header {
		req.Header[h.Name] = []string{h.Value}
	}
	// The transport repeats a request that has this header if an idle connection was closed before an answer. Without a
	// value the header is not sent: endpoints tell repeated events by their id.
	if _, named := req.Header["Idempotency-Key"]; !named {
		req.Header["Idempotency-Key"] = nil
	}
	return req, nil
}

// waited waits until an attempt may be made; false: it may not in its time.
func (c *Client) waited(ctx context.Context, start time.Time) bool {
	if c.cfg.MaySend() {
		return true
	}
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for time.Since(start) < c.cfg.Timeout {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
			if c.cfg.MaySend() {
				return true
			}
		}
	}
	return false
}

// addStatus takes the status and the Retry-After of an answer.
func (a *SendResult) addStatus(status int, wait string) {
	a.Status = status
	if n, err := strconv.ParseUint(wait, 10, 31); err == nil {
		a.RetryAfter = min(time.Duration(n)*time.Second, time.Hour)
	}
	if a.Status < 200 || a.Status > 299 {
		a.Error = fmt.Sprintf("the endpoint answered %d", a.Status)
	}
}

// reason tells a failure in words that hold nothing of the far end's.
func (c *Client) reason(err error) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.Is(err, access.ErrEgress):
		return "this address may not be reached from here"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("no answer within %s", c.cfg.Timeout)
	case errors.As(err, &dns):
		return "the host name does not resolve"
	case errors.As(err, &cert):
		return "the certificate is not valid for this host or not trusted"
	case errors.As(err, &record), strings.Contains(err.Error(), "TLS handshake timeout"), strings.Contains(err.Error(), "HTTP response to HTTPS client"),
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"): // TLS alerts
		return "no TLS connection could be made"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection could be made"
	case strings.Contains(err.Error(), "headers exceeded"):
		return "the headers of the answer are too large"
	}
	return "the connection broke before an answer"
}

// HTTPClient is an HTTP client under the same guard, with connections of its own and
// no deadline but that of each request.
func (c *Client) HTTPClient() *http.Client { return &c.own().http }
