package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// ErrNoNode reports that the peer is not a node of this installation.
var ErrNoNode = errNoNode

// Probe returns the clock time of a node, to the second. It returns ErrNoNode if the server at addr is no Callboard
// node or has another master key.
func (c *Credential) Probe(ctx context.Context, addr string) (time.Time, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+addr+"/healthz", http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	to := &http.Transport{
		DialContext:     (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig: c.config(), TLSHandshakeTimeout: 2 * dialTimeout, DisableKeepAlives: true,
	}
	resp, err := to.RoundTrip(r)
	if err != nil {
		return time.Time{}, err
	}
	_ = resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}

const (
	nodeRequestPath = "/node/request" // path of requests from node to node
	maxNodeResponse = 64 << 10        // bytes of a response
)

// RequestNode sends a request to a node itself, not to one of its shards. ConnRouter.HandleNodeRequests serves the
// request. The request may arrive twice.
func (f *Forwarder) RequestNode(ctx context.Context, addr string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, nodeRequestPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header["X-Idempotency-Key"] = nil // makes net/http repeat the request if an idle connection has ended; a nil header is not sent
	r.URL.Scheme, r.URL.Host = destination{addr: addr}.urlHost(nodeShard)
	resp, err := f.remote.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get(NotActive) != "" {
		return nil, errors.New("forward: the node does not accept requests from nodes")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("forward: the node responded with status %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxNodeResponse))
}
