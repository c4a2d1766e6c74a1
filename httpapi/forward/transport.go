package forward

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"
)

var (
	// errNoOwner reports that no node owns the shard.
	errNoOwner = errors.New("no node owns the shard yet")
	// errOutcomeUnknown reports that the node has failed and the request may have run.
	errOutcomeUnknown = errors.New("the node that had the request has failed")
)

// destination is where an attempt sends a request: a shard of this node, or another node.
type destination struct {
	addr     string         // address of the other node
	listener *ShardListener // shard of this node; nil: another node
}

// destinationOf returns the destination of a shard, false if no owner is known.
func (f *Forwarder) destinationOf(shard int) (destination, bool) {
	addr, known := f.cfg.Owner(shard)
	if f.cfg.Local == nil || known && addr != f.cfg.Self {
		return destination{addr: addr}, known
	}
	listener := f.cfg.Local.listenerOf(shard) // nil: the shard of this node is not ready yet
	return destination{f.cfg.Self, listener}, listener != nil
}

// Parts of the host names in request URLs, by which net/http pools connections. A local host names a listener of this
// node. A remote host contains the shard and the address of the node in hex.
const (
	localHostSuffix     = ".here"
	remoteHostSeparator = "-"
)

func (w destination) urlHost(shard int) (scheme, host string) {
	if w.listener != nil {
		return "http", w.listener.name + localHostSuffix
	}
	which := "node"
	if shard != nodeShard {
		which = strconv.Itoa(shard)
	}
	return "https", which + remoteHostSeparator + hex.EncodeToString([]byte(w.addr))
}

// openTransports creates the transports to shards of this node and to shards of other nodes. The transport of
// ProbeNode is separate, so that probes do not wait for connections of requests.
func (f *Forwarder) openTransports() {
	f.local = &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			name, _, _ := strings.Cut(addr, localHostSuffix)
			return f.cfg.Local.dial(ctx, name)
		},
		DisableCompression: true, MaxIdleConnsPerHost: maxIdleConnsPerShard, IdleConnTimeout: idleTimeout, ResponseHeaderTimeout: responseTimeout,
	}
	f.remote = &http.Transport{
		DialTLSContext:     f.dialNode,
		DisableCompression: true, MaxIdleConns: maxIdleConns, MaxIdleConnsPerHost: maxIdleConnsPerShard, MaxConnsPerHost: maxPeerConns / 2, IdleConnTimeout: idleTimeout, ResponseHeaderTimeout: responseTimeout,
		WriteBufferSize: 32 << 10, ReadBufferSize: 32 << 10,
	}
	f.probe = f.remote.Clone()
}

// dialNode connects to a node for one of its shards. host contains the shard and the address of the node.
func (f *Forwarder) dialNode(ctx context.Context, network, host string) (net.Conn, error) {
	host, _, _ = net.SplitHostPort(host)
	which, coded, _ := strings.Cut(host, remoteHostSeparator)
	shard, err := strconv.Atoi(which)
	if which == "node" {
		shard, err = nodeShard, nil
	}
	if err != nil {
		return nil, err
	}
	addr, err := hex.DecodeString(coded)
	if err != nil {
		return nil, err
	}
	return f.cfg.Credential.dial(ctx, network, string(addr), shard)
}

func (c *Credential) dial(ctx context.Context, network, addr string, shard int) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg := c.config()
	cfg.ServerName = serverName(shard)
	secure := tls.Client(conn, cfg)
	bound, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	if err = secure.HandshakeContext(bound); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// retryTransport sends each request to the owner of its shard, and sends it again if the owner changes.
type retryTransport struct{ f *Forwarder }

// RoundTrip sends a request to its shard. After a failure it sends the request again if the request has not run or may
// run twice.
func (t retryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	request, ok := r.Context().Value(requestKey{}).(*forwardedRequest)
	if !ok {
		return nil, errors.New("forward: the request is not tracked")
	}
	wait := t.f.cfg.Wait
	if r.URL.Path == "/readyz" {
		wait = min(wait, readinessWait)
	}
	end := time.Now().Add(wait)
	body := newRetryBody(r, request)
	last := errNoOwner
	for delay := retryDelay; ; delay = min(2*delay, maxRetryDelay) {
		if w, there := t.f.destinationOf(request.shard); there {
			resp, again, err := t.attempt(r, request, w, body)
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

// attempt sends the request to one destination. again reports whether another attempt is allowed.
func (t retryTransport) attempt(r *http.Request, request *forwardedRequest, w destination, body *retryBody) (resp *http.Response, again bool, err error) {
	ctx := request.startAttempt(r.Context(), w.addr)
	sent := false
	out := r.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = true }}))
	out.URL.Scheme, out.URL.Host = w.urlHost(request.shard)
	out.Body = body.reader()
	if len(body.bytes) > 0 { // net/http repeats the request if the peer has closed an idle connection
		out.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	carries := t.f.remote
	if w.listener != nil {
		carries = t.f.local
	}
	resp, err = carries.RoundTrip(out)
	if err == nil && resp.Header.Get(NotActive) != "" { // the node has not run the request
		_, _ = io.CopyN(io.Discard, resp.Body, maxRetryBody) // makes the connection reusable
		_ = resp.Body.Close()
		return nil, body.isComplete(), errNoOwner
	}
	if err == nil {
		request.markResponding()
		return resp, false, nil
	}
	if r.Context().Err() != nil {
		return nil, false, r.Context().Err()
	}
	if cause := context.Cause(ctx); errors.Is(cause, errOwnerChanged) {
		err = errOwnerChanged
	}
	if !sent || isUnsent(err) || request.repeatable || isRepeatable(r) {
		return nil, body.isComplete(), err
	}
	return nil, false, errors.Join(errOutcomeUnknown, err)
}

// isUnsent reports whether an error means that the connection ended before the request was sent.
func isUnsent(err error) bool {
	return strings.Contains(err.Error(), "http: server closed idle connection") // net/http does not export this error
}

// isRepeatable reports whether a request may run twice.
func isRepeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/") && r.Header.Get("Idempotency-Key") != ""
}

// Send sends a request of this node itself to a shard, with the path, query, headers and body of r. The body has at
// most 64 KB. The request may run twice. X-Forwarded-For names the client. The caller closes the response body.
func (f *Forwarder) Send(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	var all []byte
	if r.Body != nil {
		var err error
		all, err = io.ReadAll(io.LimitReader(r.Body, maxRetryBody+1))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		if len(all) > maxRetryBody {
			return nil, fmt.Errorf("forward: the body of a node's request exceeds %d bytes", maxRetryBody)
		}
	}
	request, whole := f.requests.track(ctx, ctx, shard, all)
	request.repeatable = true
	out := r.Clone(whole)
	if out.Body = http.NoBody; len(all) > 0 {
		out.Body = (&retryBody{bytes: all}).reader()
	}
	if out.ContentLength = int64(len(all)); out.Host == "" {
		out.Host = r.URL.Host
	}
	resp, err := retryTransport{f}.RoundTrip(out)
	if err != nil {
		request.finish()
		return nil, err
	}
	resp.Body = &trackedBody{resp.Body, request}
	return resp, nil
}

// trackedBody is a response body whose Close removes the request from the tracker.
type trackedBody struct {
	io.ReadCloser
	request *forwardedRequest
}

// Close implements io.Closer.
func (l *trackedBody) Close() error {
	defer l.request.finish()
	return l.ReadCloser.Close()
}
