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

// ErrStranger says that whoever connects, or is connected to, is no node of this install.
var ErrStranger = errStranger

// Ask asks a node's door whether it answers and what time it is there, to the
// second. ErrStranger: somebody else answers, or a node with another master key.
func (c *Credential) Ask(ctx context.Context, addr string) (time.Time, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+addr+"/healthz", http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	to := &http.Transport{
		DialContext:     (&net.Dialer{Timeout: dialLimit}).DialContext,
		TLSClientConfig: c.config(), TLSHandshakeTimeout: 2 * dialLimit, DisableKeepAlives: true,
	}
	resp, err := to.RoundTrip(r)
	if err != nil {
		return time.Time{}, err
	}
	_ = resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}

const (
	questions  = "/question" // of nodes to nodes
	answerMost = 64 << 10    // bytes of an answer
)

// AskNode asks another node itself, and none of its shards, what its
// Doors.Answer answers. The question may come twice.
func (f *Forwarder) AskNode(ctx context.Context, addr string, question []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, questions, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	r.Header["X-Idempotency-Key"] = nil // so that net/http sends it again where a kept connection has ended; it is not sent
	r.URL.Scheme, r.URL.Host = way{addr: addr}.host(nodeItself)
	resp, err := f.far.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get(NotActive) != "" {
		return nil, errors.New("forward: the node takes no questions")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("forward: the node answers %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, answerMost))
}
