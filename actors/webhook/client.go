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

// Limits of one webhook request.
const (
	maxResponseBody    = 64 << 10
	maxResponseHeaders = 32 << 10
	dialTimeout        = 10 * time.Second
	drainTimeout       = 2 * time.Second
	resolveTimeout     = 5 * time.Second
	// idleTimeout is the time after which the client closes an idle connection. Common servers close it after five
	// seconds. A POST on a connection that the server is closing would count as a failed attempt.
	idleTimeout = 4 * time.Second
	// maxTLSSessions is the number of TLS sessions that are cached for resumption.
	maxTLSSessions = 4
	// maxIdle is the number of idle connections per host.
	maxIdle = 64
	// maySendPoll is the interval at which Send calls ClientConfig.MaySend while it waits.
	maySendPoll = 50 * time.Millisecond
)

// ClientConfig configures a Client.
type ClientConfig struct {
	Egress   access.Egress
	RootCAs  *x509.CertPool // nil: the root certificates of the system
	Resolver *net.Resolver  // nil: the system resolver
	Timeout  time.Duration  // time limit of a whole attempt; 0: 30 s
	MaySend  func() bool    // Send waits until MaySend returns true; it must not block; nil: Send never waits

	idle time.Duration // idle time after which a connection is closed; 0: idleTimeout
	// Quarantined means that the client makes no connection. Send then blocks until its context ends.
	Quarantined bool
}

// ErrQuarantined is returned while the store is in quarantine: it was restored from a backup, and no operator has
// released it.
var ErrQuarantined = errors.New("the service was restored from a backup: nothing is sent until an operator releases it")

var errNotHTTPS = errors.New("the scheme is not https")

// Client sends webhook requests. Each endpoint actor uses a copy of the client with its own connections. Over HTTP/2
// an invalid response ends the connection with all requests on it, so endpoints on one host must not share one.
type Client struct {
	cfg       ClientConfig
	transport *http.Transport
	http      http.Client
}

// NewClient returns a client that uses no proxy and follows no redirect. After name resolution it checks each IP
// address right before it connects to the address, as a protection against SSRF.
func NewClient(cfg ClientConfig) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = webhook.Timeout
	}
	if cfg.idle == 0 {
		cfg.idle = idleTimeout
	}
	c := &Client{cfg: cfg}
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second, Resolver: cfg.Resolver, ControlContext: c.checkAddress}
	c.transport = &http.Transport{
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: dialTimeout,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(maxTLSSessions),
			DynamicRecordSizingDisabled: true, // send an event in one TLS record instead of several small ones
		},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        cfg.idle,
		MaxResponseHeaderBytes: maxResponseHeaders,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: dialTimeout, PingTimeout: dialTimeout},
	}
	c.http = http.Client{
		Transport:     c.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// withOwnConnections returns a copy of the client with its own connections.
func (c *Client) withOwnConnections() *Client { return NewClient(c.cfg) }

// Close closes idle connections.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
}

// checkAddress returns an error if the egress rules forbid an IP address. The dialer calls it before each connection.
func (c *Client) checkAddress(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q", access.ErrEgress, address)
	}
	if c.cfg.Quarantined {
		return ErrQuarantined
	}
	return c.cfg.Egress.CheckAddress(to)
}

// CheckURL validates the URL of an endpoint that is created or changed: its form, and that every IP address of its
// host is allowed. A resolver timeout is no error, because each connection is checked again. The error is a
// *domain.Error with code invalid_url.
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
		return invalidURL("the host name does not resolve")
	}
	for _, a := range addrs {
		if c.cfg.Egress.CheckAddress(netip.AddrPortFrom(a, target.Port)) != nil {
			return invalidURL("this address may not be reached from here")
		}
	}
	return nil
}

func invalidURL(why string) error {
	return &domain.Error{Code: domain.CodeInvalidURL, Message: why, Param: "url"}
}

// Request is one HTTP request to an endpoint.
type Request struct {
	URL    string
	Header []webhook.Header
	Body   []byte
}

// SendResult is the result of one webhook request.
type SendResult struct {
	Status   int           // 0: no response
	Duration time.Duration // time until the response headers or the failure
	Error    string        // reason of a failure, fit for users; "": success
	// RetryAfter is the delay from the Retry-After header of the response, at most one hour. It is 0 if there is none.
	RetryAfter time.Duration
}

// Send makes one request. The result depends only on the status and headers of the response. Send reads the body only
// so that the connection can be used again.
func (c *Client) Send(ctx context.Context, r Request) SendResult {
	start := time.Now()
	if c.cfg.Quarantined {
		<-ctx.Done()
		return SendResult{Duration: time.Since(start), Error: ErrQuarantined.Error()}
	}
	if c.cfg.MaySend != nil && !c.waitUntilMaySend(ctx, start) {
		return SendResult{Duration: time.Since(start), Error: "this node stopped sending webhooks"}
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(c.cfg.Timeout))
	defer cancel()
	req, err := r.newHTTPRequest(ctx)
	if err != nil {
		return SendResult{Error: "the URL is not valid"}
	}
	resp, err := c.transport.RoundTrip(req) // a redirect is an answer like any other
	a := SendResult{Duration: time.Since(start)}
	if err != nil {
		a.Error = c.describeError(err)
		return a
	}
	defer func() { _ = resp.Body.Close() }()
	a.addStatus(resp.StatusCode, resp.Header.Get("Retry-After"))
	if resp.Body != http.NoBody {
		slow := time.AfterFunc(drainTimeout, cancel)
		defer slow.Stop()
		_, _ = io.CopyN(io.Discard, resp.Body, maxResponseBody) // errors are ignored, because the result depends only on the status
	}
	return a
}

// newHTTPRequest builds the HTTP request. The header names in r must be in canonical form.
func (r *Request) newHTTPRequest(ctx context.Context) (*http.Request, error) {
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
	// The transport repeats a request with an Idempotency-Key header if an idle connection closes before the
	// response. The value nil enables the repetition without sending the header. The repetition is safe, because
	// receivers recognize repeated events by their ID.
	if _, named := req.Header["Idempotency-Key"]; !named {
		req.Header["Idempotency-Key"] = nil
	}
	return req, nil
}

// waitUntilMaySend waits until ClientConfig.MaySend returns true. It returns false if the timeout passes first.
func (c *Client) waitUntilMaySend(ctx context.Context, start time.Time) bool {
	if c.cfg.MaySend() {
		return true
	}
	look := time.NewTicker(maySendPoll)
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

// addStatus sets the status, the Retry-After and the error of the result from a response.
func (a *SendResult) addStatus(status int, wait string) {
	a.Status = status
	if n, err := strconv.ParseUint(wait, 10, 31); err == nil {
		a.RetryAfter = min(time.Duration(n)*time.Second, time.Hour)
	}
	if a.Status < 200 || a.Status > 299 {
		a.Error = fmt.Sprintf("the endpoint answered %d", a.Status)
	}
}

// describeError describes a failed request in fixed words, which contain no text from the remote host.
func (c *Client) describeError(err error) string {
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

// HTTPClient returns an HTTP client with the same address checks and its own connections. It has no timeout of its
// own.
func (c *Client) HTTPClient() *http.Client { return &c.withOwnConnections().http }
