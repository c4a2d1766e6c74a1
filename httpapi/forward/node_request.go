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

// ErrNoNode says that the peer is no node of this installation.
var ErrNoNode = errNoNode

// Probe returns the time of a node, to the second. ErrNoNode: the peer is no node, or has
// another master key.
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
	nodeRequestPath = "/question" // of requests of nodes to nodes
	maxNodeResponse = 64 << 10    // of a response, in bytes
)

// RequestNode sends a request to another node itself, which ConnRouter.HandleNodeRequests
// serves there. The request may arrive twice.
func (f *Forwarder) RequestNode(ctx context.Context, addr string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, nodeRequestPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header["X-Idempotency-Key"] = nil // net/http repeats the request where an idle connection has ended; the header is not sent
	r.URL.Scheme, r.URL.Host = destination{addr: addr}.urlHost(nodeShard)
	resp, err := f.remote.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get(NotActive) != "" {
		return nil, errors.New("forward: the node takes no requests of nodes")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("forward: the node answers %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxNodeResponse))
}
