package main

import (
	"bufio"
	"bytes"
	"cmp"
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

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

const (
	comeBack     = 2 * time.Second // after a stream has ended
	longestEvent = 16 << 20
	longestTold  = 64 << 10 // of what a service answers
	// silence is how long nothing may come over a stream, which beats every 15 s.
	silence = 45 * time.Second
)

// errRefused ends listening: it would be refused again.
var errRefused = errors.New("refused")

// errSilent says that the line is dead, though nobody has closed it.
var errSilent = errors.New("nothing came for too long")

// forwarder posts events to a program of whoever develops one.
type forwarder struct {
	to     string
	secret string
	client *http.Client
	out    io.Writer
	asJSON bool
}

// posted is what came of one event that was posted.
type posted struct {
	Type           string `json:"type"`
	ID             string `json:"id"`
	Status         int64  `json:"status,omitempty"` // of the answer; 0: there was none
	ResponseTimeMs int64  `json:"response_time_ms"`
	Error          string `json:"error,omitempty"` // why there was no answer
}

// tell prints it as a line, or as a JSON object on a line.
func (p posted) tell(out io.Writer, asJSON bool) error {
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

// newForwarder reaches this machine only, unless anywhere is set; "" makes a
// secret.
func newForwarder(to, secret string, anywhere bool, out io.Writer) (*forwarder, error) {
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
				return fmt.Errorf("%s is not on this machine; --anywhere lets events go there", address)
			}
			return nil
		}
	}
	return &forwarder{to: to, secret: secret, out: out, client: &http.Client{
		Timeout: webhook.Timeout, Transport: &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// forward posts one event and tells what came of it.
func (f *forwarder) forward(ctx context.Context, id, kind string, body []byte) error {
	now := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, h := range (webhook.Attempt{EventID: id, Number: 1, First: now, At: now, Secret: f.secret}).Headers(body) {
		req.Header.Set(h.Name, h.Value)
	}
	resp, err := f.client.Do(req)
	came := posted{Type: kind, ID: id}
	if err != nil {
		came.ResponseTimeMs, came.Error = time.Since(now).Milliseconds(), err.Error()
		return errors.Join(err, came.tell(f.out, f.asJSON))
	}
	_, _ = io.CopyN(io.Discard, resp.Body, longestTold)
	_ = resp.Body.Close()
	came.Status, came.ResponseTimeMs = int64(resp.StatusCode), time.Since(now).Milliseconds()
	if err = came.tell(f.out, f.asJSON); err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s answered %d", f.to, resp.StatusCode)
	}
	return nil
}

// follow reads events until the stream ends, or nothing comes over it for so
// long as quiet, and gives each to do as it came:
// what is posted is what was told, byte by byte. last is the id of the last event
// that was done with, or now.
func follow(ctx context.Context, c *client.Client, quiet time.Duration, types, last string, opened func(), do func(id, kind string, body []byte)) (string, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	dead := time.AfterFunc(quiet, func() { end(errSilent) })
	defer dead.Stop()
	resp, err := c.StreamEvents(ctx, client.StreamEventsQuery{Type: types, After: last})
	if err != nil {
		var refusal *client.Error
		if errors.As(err, &refusal) && refusal.Status >= 400 && refusal.Status < 500 && refusal.Status != http.StatusTooManyRequests {
			err = fmt.Errorf("%w: %w", errRefused, err)
		}
		return last, err
	}
	defer func() { _ = resp.Body.Close() }()
	opened()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, longestEvent)
	for lines.Scan() {
		dead.Reset(quiet)
		body, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var e struct{ ID, Type string }
		if json.Unmarshal(body, &e) != nil {
			continue
		}
		dead.Stop() // what is done with an event takes as long as it takes
		do(e.ID, e.Type, body)
		last = e.ID
		dead.Reset(quiet)
	}
	if errors.Is(context.Cause(ctx), errSilent) {
		return last, errSilent
	}
	return last, lines.Err()
}

func listenCommand() *cobra.Command {
	var s *client.Client
	var to, types, secret, after string
	anywhere, asJSON := false, false
	cmd := &cobra.Command{
		Use: "listen", Short: "Follow the events of a running service and post them to a program on this machine", Args: cobra.NoArgs,
		Example: "  callboard listen --forward-to http://localhost:3000/hooks --events call.*",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := newForwarder(to, secret, anywhere, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			f.asJSON = asJSON
			ctx, note := cmd.Context(), cmd.ErrOrStderr()
			opened := func() { _, _ = fmt.Fprintf(note, "listening; signed with %s\n", f.secret) }
			for last := after; ; {
				last, err = follow(ctx, s, silence, types, last, opened, func(id, kind string, body []byte) {
					_ = f.forward(ctx, id, kind, body) // which has told it
				})
				if ctx.Err() != nil {
					return nil //nolint:nilerr // it was asked to end
				}
				if errors.Is(err, errRefused) {
					return err
				}
				_, _ = fmt.Fprintf(note, "the stream has ended (%v); again in %s\n", cmp.Or(err, io.EOF), comeBack)
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(comeBack):
				}
			}
		},
	}
	s = cli.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&to, "forward-to", "", "where the events go")
	f.StringVar(&types, "events", "", "comma-separated names or categories such as call.*; all unless said")
	f.StringVar(&secret, "secret", "", "signs them; one is made unless said")
	f.StringVar(&after, "after", "now", "begin behind the event with this id")
	f.BoolVar(&anywhere, "anywhere", false, "also to other machines")
	f.BoolVar(&asJSON, "json", false, "print what came of each as a JSON object on a line")
	return cmd
}

func triggerCommand() *cobra.Command {
	var s *client.Client
	var to, secret, webhookID string
	anywhere, asJSON := false, false
	cmd := &cobra.Command{
		Use: "trigger EVENT", Short: "Post a sample of an event to a program on this machine, or let a service send one to an endpoint", Args: cobra.ExactArgs(1),
		Example: "  callboard trigger call.ended --forward-to http://localhost:3000/hooks\n  callboard trigger call.ended --webhook webhook_01J…",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, ok := event.Canonical(args[0])
			if !ok {
				return fmt.Errorf("%q is not the name of an event", args[0])
			}
			if webhookID != "" {
				return sample(cmd.Context(), s, webhookID, args[0], cmd.OutOrStdout(), asJSON)
			}
			f, err := newForwarder(to, secret, anywhere, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			f.asJSON = asJSON
			id := mailbox.NewID(domain.PrefixEvent)
			w := &domain.Webhook{Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixWebhook), WorkspaceID: mailbox.NewID(domain.PrefixWorkspace)}, URL: to}
			body, err := webhook.Body(webhook.Sample(kind, w, id, time.Now()), args[0])
			if err != nil {
				return err
			}
			if secret == "" {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "signed with %s\n", f.secret)
			}
			return f.forward(cmd.Context(), id, args[0], body)
		},
	}
	s = cli.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&to, "forward-to", "", "where the sample goes")
	f.StringVar(&webhookID, "webhook", "", "instead: the id of an endpoint that the service sends it to")
	f.StringVar(&secret, "secret", "", "signs it; one is made unless said")
	f.BoolVar(&anywhere, "anywhere", false, "also to another machine")
	f.BoolVar(&asJSON, "json", false, "print what came of it as JSON")
	return cmd
}

// sample lets a service send a sample to an endpoint.
func sample(ctx context.Context, c *client.Client, webhookID, kind string, out io.Writer, asJSON bool) error {
	got, err := c.TestWebhook(ctx, webhookID, &client.TestRequest{EventType: &kind})
	if err != nil {
		return err
	}
	came := posted{Type: kind, ID: got.EventID, Status: got.ResponseStatus, ResponseTimeMs: got.ResponseTimeMs, Error: got.Error}
	if !got.Delivered {
		err = errors.New(cmp.Or(got.Error, fmt.Sprintf("the endpoint answered %d", got.ResponseStatus)))
		if !asJSON {
			return err
		}
	}
	return errors.Join(came.tell(out, asJSON), err)
}
