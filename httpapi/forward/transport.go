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
	// errNoOwner: no node owns the shard.
	errNoOwner = errors.New("no node of the install has taken the work up yet")
	// errOutcomeUnknown: the request may have run.
	errOutcomeUnknown = errors.New("the node that had the request has gone")
)

// destination is where an attempt sends a request: to a shard of this node, or to another
// node.
type destination struct {
	addr     string         // of the node
	listener *ShardListener // nil: of another node
}

// destinationOf returns the destination of a shard; false: the shard has no known owner.
func (f *Forwarder) destinationOf(shard int) (destination, bool) {
	addr, known := f.cfg.Owner(shard)
	if f.cfg.Local == nil || known && addr != f.cfg.Self {
		return destination{addr: addr}, known
	}
	listener := f.cfg.Local.listenerOf(shard) // nil: the shard of this node is not ready yet
	return destination{f.cfg.Self, listener}, listener != nil
}

// Hosts in the URLs of requests between nodes, by which net/http reuses connections: of
// shards here, and of shards of other nodes, with the address in hex.
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

// openTransports sets the transports to shards of this node, to shards of other nodes, and
// of ProbeNode, which does not wait for connections of requests.
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

// dialNode opens a connection to a node for a shard.
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

// retryTransport sends each request to the owner of its shard, and again where the owner
// has changed.
type retryTransport struct{ f *Forwarder }

// RoundTrip sends a request to its shard. It repeats a request that has not run or that may
// run twice.
func (t retryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	one, ok := r.Context().Value(requestKey{}).(*forwardedRequest)
	if !ok {
		return nil, errors.New("forward: the request is not tracked")
	}
	wait := t.f.cfg.Wait
	if r.URL.Path == "/readyz" {
		wait = min(wait, readinessWait)
	}
	end := time.Now().Add(wait)
	body := newRetryBody(r, one)
	last := errNoOwner
	for delay := retryDelay; ; delay = min(2*delay, maxRetryDelay) {
		if w, there := t.f.destinationOf(one.shard); there {
			resp, again, err := t.attempt(r, one, w, body)
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

// attempt sends the request to one destination; again: another attempt is allowed.
func (t retryTransport) attempt(r *http.Request, one *forwardedRequest, w destination, body *retryBody) (resp *http.Response, again bool, err error) {
	ctx := one.startAttempt(r.Context(), w.addr)
	sent := false
	out := r.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = true }}))
	out.URL.Scheme, out.URL.Host = w.urlHost(one.shard)
	out.Body = body.reader()
	if len(body.bytes) > 0 { // net/http repeats the request where the peer has closed an idle connection
		out.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	carries := t.f.remote
	if w.listener != nil {
		carries = t.f.local
	}
	resp, err = carries.RoundTrip(out)
	if err == nil && resp.Header.Get(NotActive) != "" { // the request was not run
		_, _ = io.CopyN(io.Discard, resp.Body, maxRetryBody) // the connection is reused
		_ = resp.Body.Close()
		return nil, body.isComplete(), errNoOwner
	}
	if err == nil {
		one.markResponding()
		return resp, false, nil
	}
	if r.Context().Err() != nil {
		return nil, false, r.Context().Err()
	}
	if cause := context.Cause(ctx); errors.Is(cause, errOwnerChanged) {
		err = errOwnerChanged
	}
	if !sent || isUnsent(err) || one.repeatable || isRepeatable(r) {
		return nil, body.isComplete(), err
	}
	return nil, false, errors.Join(errOutcomeUnknown, err)
}

// isUnsent says whether a connection had ended before the request was sent.
func isUnsent(err error) bool {
	return strings.Contains(err.Error(), "http: server closed idle connection") // net/http does not export the error
}

// isRepeatable says whether a request may run twice.
func isRepeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/") && r.Header.Get("Idempotency-Key") != ""
}

// Send sends a request of this node to a shard and returns the response, whose body the
// caller closes. Path, query, headers and a body of at most 64 KB of r are used. The request
// may run twice. X-Forwarded-For names the client.
func (f *Forwarder) Send(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	var all []byte
	if r.Body != nil {
		var err error
		all, err = io.ReadAll(io.LimitReader(r.Body, maxRetryBody+1))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		if len(all) > maxRetryBody {
			return nil, fmt.Errorf("forward: a request of a node has more than %d bytes", maxRetryBody)
		}
	}
	one, whole := f.requests.track(ctx, ctx, shard, all)
	one.repeatable = true
	out := r.Clone(whole)
	if out.Body = http.NoBody; len(all) > 0 {
		out.Body = (&retryBody{bytes: all}).reader()
	}
	if out.ContentLength = int64(len(all)); out.Host == "" {
		out.Host = r.URL.Host
	}
	resp, err := retryTransport{f}.RoundTrip(out)
	if err != nil {
		one.finish()
		return nil, err
	}
	resp.Body = &trackedBody{resp.Body, one}
	return resp, nil
}

// trackedBody is a response body whose close ends the request.
type trackedBody struct {
	io.ReadCloser
	request *forwardedRequest
}

// Close is io.Closer.
func (l *trackedBody) Close() error {
	defer l.request.finish()
	return l.ReadCloser.Close()
}
