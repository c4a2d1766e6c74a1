// Package eventforward follows the events of a service and posts them, signed like webhooks, to a program under
// development.
package eventforward

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/domain/webhook"
)

const (
	maxEvent    = 16 << 20
	maxResponse = 64 << 10 // bytes of a response that are read
	// SilenceTimeout is the time without any data after which the client closes an event stream. The service sends
	// a heartbeat every 15 s.
	SilenceTimeout = 45 * time.Second
)

// ErrRefused is returned if the service rejects the request for the event stream and would also reject a repetition.
var ErrRefused = errors.New("refused")

// errSilent is returned if the event stream sends nothing, not even a heartbeat, for the silence limit.
var errSilent = errors.New("the event stream sent nothing for too long")

// Forwarder posts events to a program under development.
type Forwarder struct {
	URL    string
	Secret string
	client *http.Client
	Out    io.Writer
	JSON   bool
}

// Result is the result of one posted event.
type Result struct {
	Type           string `json:"type"`
	ID             string `json:"id"`
	Status         int64  `json:"status,omitempty"` // HTTP status of the response; 0: no response
	ResponseTimeMs int64  `json:"response_time_ms"`
	Error          string `json:"error,omitempty"` // why there was no response
}

// Print prints the result as a line of text or of JSON.
func (p Result) Print(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return e.Encode(p)
	}
	if p.Error != "" {
		_, err := fmt.Fprintf(out, "%s  %s  %s\n", cli.Clean(p.Type), cli.Clean(p.ID), cli.Clean(p.Error))
		return err
	}
	_, err := fmt.Fprintf(out, "%s  %s  %d  %d ms\n", cli.Clean(p.Type), cli.Clean(p.ID), p.Status, p.ResponseTimeMs)
	return err
}

// New creates a Forwarder that posts to the URL to. Unless anywhere is true, it connects only to loopback addresses.
// If secret is empty, New generates a random one.
func New(to, secret string, anywhere bool, out io.Writer) (*Forwarder, error) {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--forward-to must be a URL such as http://localhost:3000/hooks")
	}
	if secret == "" {
		var b [32]byte
		_, _ = rand.Read(b[:]) // never fails
		secret = webhook.NewSecret(b)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !anywhere {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().Unmap().IsLoopback() {
				return fmt.Errorf("%s is not on this machine; use --anywhere to forward events to it", address)
			}
			return nil
		}
	}
	return &Forwarder{URL: to, Secret: secret, Out: out, client: &http.Client{
		Timeout: webhook.Timeout, Transport: &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Forward posts one event to the URL and prints the result. It returns an error unless the response has a 2xx status.
func (f *Forwarder) Forward(ctx context.Context, id, kind string, body []byte) error {
	now := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, h := range (webhook.SignedRequest{EventID: id, Number: 1, First: now, At: now, Secret: f.Secret}).SignedHeaders(body) {
		req.Header.Set(h.Name, h.Value)
	}
	resp, err := f.client.Do(req)
	result := Result{Type: kind, ID: id}
	if err != nil {
		result.ResponseTimeMs, result.Error = time.Since(now).Milliseconds(), err.Error()
		return errors.Join(err, result.Print(f.Out, f.JSON))
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxResponse)
	_ = resp.Body.Close()
	result.Status, result.ResponseTimeMs = int64(resp.StatusCode), time.Since(now).Milliseconds()
	if err = result.Print(f.Out, f.JSON); err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s answered %d", f.URL, resp.StatusCode)
	}
	return nil
}

// Follow reads the event stream until it ends or sends nothing for silenceLimit. It calls do with each event and its
// JSON text. last is the id of the last handled event, or "now". Follow returns the id of the last event that it
// passed to do.
func Follow(ctx context.Context, c *client.Client, silenceLimit time.Duration, types, last string, opened func(), do func(id, kind string, body []byte)) (string, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silenceTimer := time.AfterFunc(silenceLimit, func() { end(errSilent) })
	defer silenceTimer.Stop()
	resp, err := c.StreamEvents(ctx, client.StreamEventsQuery{Type: types, After: last})
	if err != nil {
		var refusal *client.Error
		if errors.As(err, &refusal) && refusal.Status >= 400 && refusal.Status < 500 && refusal.Status != http.StatusTooManyRequests {
			err = fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return last, err
	}
	defer func() { _ = resp.Body.Close() }()
	opened()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		silenceTimer.Reset(silenceLimit)
		body, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var e struct{ ID, Type string }
		if json.Unmarshal(body, &e) != nil {
			continue
		}
		silenceTimer.Stop() // do may take longer than silenceLimit
		do(e.ID, e.Type, body)
		last = e.ID
		silenceTimer.Reset(silenceLimit)
	}
	if errors.Is(context.Cause(ctx), errSilent) {
		return last, errSilent
	}
	return last, lines.Err()
}
