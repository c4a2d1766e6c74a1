package agentruntime

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

// maxLookup is the maximum size in bytes of a response from the on_inbound URL.
const maxLookup = 64 << 10

// lookupRequest is the body of a request to the on_inbound URL of an agent.
type lookupRequest struct {
	CallID      string             `json:"call_id"`
	Direction   domain.Direction   `json:"direction"`
	From        string             `json:"from"`
	To          string             `json:"to"`
	AgentID     string             `json:"agent_id"`
	Environment domain.Environment `json:"environment"`
	Caller      *domain.Caller     `json:"caller,omitempty"`
	StartedAt   *time.Time         `json:"started_at"`
}

// LookUpInbound requests the variables of an inbound call from the on_inbound URL of its agent before the call is
// answered, and stores them in the call. Without a valid response in time, the call continues without variables. The
// returned function then adds the event agent.error to the commit that creates the call.
func (s *Service) LookUpInbound(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call) {
	lookupCtx := trace.ContextWithSpanContext(context.WithoutCancel(ctx), s.cfg.TraceContexts.Call(c.ID, c.TraceParent))
	lookupCtx, cancel := context.WithTimeout(lookupCtx, time.Duration(h.TimeoutMs)*time.Millisecond)
	defer cancel()
	known, code, err := s.requestVariables(lookupCtx, h.URL, c)
	if err == nil {
		c.Context = known
		return nil
	}
	s.cfg.Log.Warn("on_inbound returned no usable variables for a call", slog.String("call_id", c.ID), slog.String("code", code), slog.Any("error", err))
	return func(change *commit.Change, c *domain.Call) {
		change.Events = append(change.Events, record.NewCallEvent(c, event.AgentError, event.AgentErrorData{
			CallID: c.ID, AgentID: c.AgentID, Stage: "on_inbound", Code: code, Message: "on_inbound " + err.Error() + "; the call continues without variables", Recovered: true,
		}))
	}
}

// requestVariables requests the variables of a call from a URL. After a failure it returns an error code and an error
// that contains no secret.
func (s *Service) requestVariables(ctx context.Context, url string, c *domain.Call) (known domain.Context, code string, err error) {
	body, err := domain.EncodeJSON(lookupRequest{
		CallID: c.ID, Direction: c.Direction, From: c.From, To: c.To, AgentID: c.AgentID, Environment: c.Environment, Caller: c.Caller, StartedAt: c.StartedAt,
	})
	if err != nil {
		return nil, "bad_answer", errors.New("could not be requested")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, "unreachable", errors.New("could not be requested")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "callboard")
	if err = s.signLookup(ctx, req, c, body); err != nil {
		return nil, timeoutOr(ctx, "unreachable"), errors.New("could not be requested, because its secret cannot be read")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.cfg.HTTP.Do(req)
	if err != nil {
		return nil, timeoutOr(ctx, "unreachable"), errors.New("did not answer in time or could not be reached")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, "http_status", fmt.Errorf("answered %d", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxLookup+1))
	switch {
	case err != nil:
		return nil, timeoutOr(ctx, "unreachable"), errors.New("interrupted its response")
	case len(text) > maxLookup:
		return nil, "bad_answer", fmt.Errorf("answered more than %d bytes", maxLookup)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, "", nil
	}
	var answer struct {
		Variables domain.Context `json:"variables"`
	}
	if domain.DecodeLenient(text, &answer) != nil {
		return nil, "bad_answer", errors.New("did not answer with a JSON object with variables")
	}
	var problems domain.Problems
	validation.Context(&problems, "variables", answer.Variables)
	if len(problems) > 0 {
		return nil, "bad_answer", fmt.Errorf("answered %s that %s", problems[0].Param, problems[0].Message)
	}
	return answer.Variables, "", nil
}

// signLookup signs a request to the on_inbound URL like a webhook delivery, with the call id as event id. If the agent
// has no secret, the request stays unsigned.
func (s *Service) signLookup(ctx context.Context, req *http.Request, c *domain.Call, body []byte) error {
	k := &domain.InboundHookKey{WorkspaceID: c.WorkspaceID, AgentID: c.AgentID}
	_, err := s.cfg.Store.Get(ctx, k)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := time.Now()
	for _, h := range (webhook.SignedRequest{EventID: c.ID, Number: 1, First: now, At: now, Secret: k.Secret}).SignedHeaders(body) {
		req.Header.Set(h.Name, h.Value)
	}
	return nil
}

// timeoutOr returns the error code "timeout" if ctx has ended, otherwise code.
func timeoutOr(ctx context.Context, code string) string {
	if ctx.Err() != nil {
		return "timeout"
	}
	return code
}
