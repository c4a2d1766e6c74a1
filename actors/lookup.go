package actors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
)

// maxLookup bounds the answer of whoever is asked about a call.
const maxLookup = 64 << 10

// lookupAsked is what an agent's on_inbound is told of a call.
type lookupAsked struct {
	CallID      string             `json:"call_id"`
	Direction   domain.Direction   `json:"direction"`
	From        string             `json:"from"`
	To          string             `json:"to"`
	AgentID     string             `json:"agent_id"`
	Environment domain.Environment `json:"environment"`
	Caller      *domain.Caller     `json:"caller,omitempty"`
	StartedAt   *time.Time         `json:"started_at"`
}

// lookUp asks an agent's on_inbound about a call that comes in, before it is
// answered. The variables that it answers with become the call's context. Where
// nothing of use comes in time the call goes on without them, and the commit
// that opens it says why. Whoever waits for a stranger's server holds a line, and
// no place among the calls that are taken.
func (n *Node) lookUp(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call) {
	n.taking.Add(-1)
	defer n.taking.Add(1)
	bound := trace.ContextWithSpanContext(context.WithoutCancel(ctx), n.cfg.TraceContexts.Call(c.ID, c.TraceParent))
	bound, cancel := context.WithTimeout(bound, time.Duration(h.TimeoutMs)*time.Millisecond)
	defer cancel()
	known, code, err := n.askAbout(bound, h.URL, c)
	if err == nil {
		c.Context = known
		return nil
	}
	n.cfg.Log.Warn("on_inbound did not answer for a call", slog.String("call_id", c.ID), slog.String("code", code), slog.Any("error", err))
	return func(change *commit.Change, c *domain.Call) {
		change.Events = append(change.Events, record.NewCallEvent(c, event.AgentError, event.AgentErrorData{
			CallID: c.ID, AgentID: c.AgentID, Stage: "on_inbound", Code: code, Message: "on_inbound " + err.Error() + "; the call goes on without its variables", Recovered: true,
		}))
	}
}

// askAbout answers what is known of a call. The error names nothing secret.
func (n *Node) askAbout(ctx context.Context, url string, c *domain.Call) (known domain.Context, code string, err error) {
	body, err := domain.EncodeJSON(lookupAsked{
		CallID: c.ID, Direction: c.Direction, From: c.From, To: c.To, AgentID: c.AgentID, Environment: c.Environment, Caller: c.Caller, StartedAt: c.StartedAt,
	})
	if err != nil {
		return nil, "bad_answer", errors.New("cannot be asked")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, "unreachable", errors.New("cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "callboard")
	if err = n.signLookup(ctx, req, c, body); err != nil {
		return nil, lateOr(ctx, "unreachable"), errors.New("cannot be asked: its secret cannot be read")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := n.toolbox.HTTP.Do(req)
	if err != nil {
		return nil, lateOr(ctx, "unreachable"), errors.New("did not answer in time or could not be reached")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, "http_status", fmt.Errorf("answered %d", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxLookup+1))
	switch {
	case err != nil:
		return nil, lateOr(ctx, "unreachable"), errors.New("broke off its answer")
	case len(text) > maxLookup:
		return nil, "bad_answer", fmt.Errorf("answered more than %d bytes", maxLookup)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, "", nil
	}
	var answer struct {
		Variables domain.Context `json:"variables"`
	}
	if domain.DecodeLenient(text, &answer) != nil {
		return nil, "bad_answer", errors.New("answered no JSON object with variables")
	}
	var problems domain.Problems
	validation.Context(&problems, "variables", answer.Variables)
	if len(problems) > 0 {
		return nil, "bad_answer", fmt.Errorf("answered %s that %s", problems[0].Param, problems[0].Message)
	}
	return answer.Variables, "", nil
}

// signLookup signs a request as a delivery of an event is signed whose id is the
// call's, where the agent has a secret for that.
func (n *Node) signLookup(ctx context.Context, req *http.Request, c *domain.Call, body []byte) error {
	k := &domain.LookupKey{WorkspaceID: c.WorkspaceID, AgentID: c.AgentID}
	_, err := n.cfg.Store.Get(ctx, k)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := time.Now()
	for _, h := range (webhook.Attempt{EventID: c.ID, Number: 1, First: now, At: now, Secret: k.Secret}).Headers(body) {
		req.Header.Set(h.Name, h.Value)
	}
	return nil
}

func lateOr(ctx context.Context, code string) string {
	if ctx.Err() != nil {
		return "timeout"
	}
	return code
}
