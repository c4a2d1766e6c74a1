package agentruntime_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/agentruntime"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

const caller, stranger = "+12025550101", "+12025550102"

// node is a fake of all dependencies of the runtime. It refuses messages from the number +12025550170. The id of each
// appointment equals the phone number of its patient.
type node struct {
	sent    []domain.NewMessage
	called  []map[string]any // arguments of tool calls
	result  string           // result of tools; empty: "sunny"
	booked  []domain.Patient
	changed []string
	request llm.Request // last request to the language model
	answer  llm.Answer
	lost    []*llm.Fault // faults of engines before the one that answers
	err     error        // error of the language model
	reply   func(*http.Request) (int, string)
}

func (n *node) sendSMS(_ context.Context, _ domain.Principal, m domain.NewMessage) (*domain.Message, error) {
	if m.From == "+12025550170" {
		return nil, domain.FieldError("from", domain.CodeValidation, "is a number that sends no messages")
	}
	n.sent = append(n.sent, m)
	return &domain.Message{Meta: domain.Meta{ID: "message_1"}, Status: domain.MessageQueued}, nil
}

func (n *node) Call(_ context.Context, _ *domain.Tool, arguments map[string]any) (string, error) {
	n.called = append(n.called, arguments)
	return cmp.Or(n.result, "sunny"), nil
}

func (n *node) Ask(_ context.Context, _ []llm.Engine, r llm.Request, _ func(string, time.Duration), lost func(*llm.Fault)) (llm.Answer, error) {
	n.request = r
	for _, f := range n.lost {
		lost(f)
	}
	return n.answer, n.err
}

func (n *node) Book(_ context.Context, _ domain.Principal, o booking.NewAppointment) (*domain.Appointment, error) {
	n.booked = append(n.booked, o.Patient)
	return &domain.Appointment{Meta: domain.Meta{ID: "appointment_1"}, Patient: o.Patient, CallID: o.CallID}, nil
}

func (*node) Appointment(_ context.Context, _ domain.Principal, id string) (*domain.Appointment, error) {
	return &domain.Appointment{Meta: domain.Meta{ID: id}, Patient: domain.Patient{Phone: id}}, nil
}

func (*node) Availability(context.Context, domain.Principal, booking.AvailabilityQuery) (booking.Availability, error) {
	return booking.Availability{}, nil
}

func (n *node) ConfirmAppointment(_ context.Context, _ domain.Principal, id string) (*domain.Appointment, error) {
	n.changed = append(n.changed, "confirm "+id)
	return &domain.Appointment{Meta: domain.Meta{ID: id}}, nil
}

func (n *node) CancelAppointment(_ context.Context, _ domain.Principal, id, _ string) (*domain.Appointment, error) {
	n.changed = append(n.changed, "cancel "+id)
	return &domain.Appointment{Meta: domain.Meta{ID: id}}, nil
}

func (n *node) RescheduleAppointment(_ context.Context, _ domain.Principal, id string, _ booking.Reschedule) (*domain.Appointment, error) {
	n.changed = append(n.changed, "reschedule "+id)
	return &domain.Appointment{Meta: domain.Meta{ID: id}}, nil
}

func (n *node) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status, body := n.reply(r)
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

type fixture struct {
	*agentruntime.Service

	node  *node
	store *pebbletest.Store
	by    domain.Principal
	call  domain.Call
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{node: &node{}, store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace)}
	f.call = domain.Call{Meta: domain.Meta{ID: "call_1", WorkspaceID: recordtest.Workspace, Environment: domain.Live}, Direction: domain.Inbound, From: caller, To: "+12025550170"}
	n := f.node
	f.Service = agentruntime.New(agentruntime.Config{
		Store: f.store, Client: n, Tools: n, HTTP: &http.Client{Transport: n}, Appointments: n, Changes: n, Log: slog.New(slog.DiscardHandler), SendSMS: n.sendSMS,
		Models: llm.Models{List: []llm.Engine{{Name: "one"}}, Order: []string{"one"}},
		Retrieve: func(_ context.Context, _ domain.Principal, _ []string, query string) (string, []domain.Passage) {
			return "About " + query, []domain.Passage{{Name: "p"}}
		},
		Watch: func(string) func(domain.Segment) { return nil },
	})
	return f
}

func (f *fixture) tool(t *testing.T, p domain.Principal, name string) string {
	t.Helper()
	tool := &domain.Tool{Name: name}
	tool.Init("tool", p, record.RequestResourceID(t.Context(), domain.PrefixTool), record.Now())
	require.NoError(t, record.Create(t.Context(), f.store, tool))
	return tool.ID
}

func TestSMSOfAgentGoesToRemoteParty(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	got := f.ForCall(f.call).CallTool(t.Context(), nil, pathway.ActionRequest{Type: domain.NodeSMS, Text: "Hello"})
	assert.True(t, got.OK)
	assert.JSONEq(t, `{"message_id":"message_1","status":"queued"}`, got.Text)
	got = f.ForMessages(f.by, f.call, "+12025550170").CallTool(t.Context(), nil, pathway.ActionRequest{Type: domain.NodeSMS, RawArguments: []byte(`{"body":"Bye"}`)})
	assert.True(t, got.OK, "the runtime replaces a sender that sends no messages")
	assert.Equal(t, []domain.NewMessage{{To: caller, Body: "Hello"}, {To: caller, Body: "Bye"}}, f.node.sent)
	got = f.ForCall(f.call).CallTool(t.Context(), nil, pathway.ActionRequest{Type: domain.NodeSMS, RawArguments: []byte(`{}`)})
	assert.Equal(t, conversation.ToolResult{Text: "body is required: the text of the message"}, got)
}

func TestAgentChangesOnlyAppointmentsOfCaller(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	change := func(action, id string) conversation.ToolResult {
		return f.ForCall(f.call).CallTool(t.Context(), nil, pathway.ActionRequest{Type: domain.NodeAppointment, Target: action, Arguments: map[string]string{"appointment_id": id}})
	}
	assert.Equal(t, conversation.ToolResult{Text: "the caller has no appointment with this id"}, change("cancel", stranger))
	assert.Equal(t, conversation.ToolResult{Text: "appointment_id is required"}, change("confirm", ""))
	assert.True(t, change("confirm", caller).OK)
	assert.True(t, change("reschedule", caller).OK)
	assert.False(t, change("sell", caller).OK)
	assert.Equal(t, []string{"confirm " + caller, "reschedule " + caller}, f.node.changed)
}

func TestBookedAppointmentCarriesNameOfContact(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	book := func(c domain.Call, act pathway.ActionRequest) {
		act.Type, act.Target = domain.NodeAppointment, "book"
		assert.True(t, f.ForCall(c).CallTool(t.Context(), nil, act).OK)
	}
	named := f.call
	named.Context = domain.Context{"name": "Ada"}
	book(named, pathway.ActionRequest{})
	book(named, pathway.ActionRequest{RawArguments: []byte(`{"action":"book"}`)})
	book(named, pathway.ActionRequest{RawArguments: []byte(`{"action":"book","name":"Ada Lovelace"}`)})
	book(named, pathway.ActionRequest{Arguments: map[string]string{"name": "Eve"}})
	book(f.call, pathway.ActionRequest{})
	assert.Equal(t, []domain.Patient{{Name: "Ada", Phone: caller}, {Name: "Ada", Phone: caller}, {Name: "Ada Lovelace", Phone: caller}, {Name: "Eve", Phone: caller}, {Phone: caller}}, f.node.booked)
}

func TestAgentCannotCallToolOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	own, foreign := f.tool(t, f.by, "weather"), f.tool(t, recordtest.Live(recordtest.OtherWorkspace), "weather")
	use := func(id, given string) conversation.ToolResult {
		return f.ForCall(f.call).CallTool(t.Context(), nil, pathway.ActionRequest{Type: domain.NodeTool, Target: id, RawArguments: []byte(given)})
	}
	assert.Equal(t, conversation.ToolResult{OK: true, Name: "weather", Text: "sunny"}, use(own, `{"city":"Rome"}`))
	f.node.result = strings.Repeat("x", pathway.MaxResultBytes+1)
	assert.Equal(t, conversation.ToolResult{Name: "weather", Text: "the result has 65537 bytes, at most 65536 are read: request fewer fields or items of the tool"}, use(own, `{"city":"Rome"}`))
	assert.False(t, use(foreign, `{}`).OK)
	assert.False(t, use(own, `[`).OK)
	assert.Equal(t, []map[string]any{{"city": "Rome"}, {"city": "Rome"}}, f.node.called)
}

func TestModelRequestContainsToolsAndPassages(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	id := f.tool(t, f.by, "transfer")
	f.node.answer = llm.Answer{Calls: []llm.Call{{ID: "1", Name: "tool_transfer"}}}
	f.node.lost = []*llm.Fault{{Engine: "down", Code: "unreachable", Message: "no route"}}
	var read []domain.Passage
	thought := conversation.ModelRequest{
		Script: &domain.Script{Timezone: "UTC"}, Brief: "Be kind.", OnPassages: func(from []domain.Passage) { read = from },
		Step: pathway.ModelRequest{
			History: []pathway.Message{{By: pathway.ByCaller, Text: "opening hours"}},
			Offers:  []pathway.ToolOffer{{Kind: pathway.OfferEdge, Name: "transfer"}, {Kind: pathway.OfferTool, To: id}, {Kind: pathway.OfferTool, To: record.RequestResourceID(t.Context(), domain.PrefixTool)}},
		},
	}
	got := f.ForCall(f.call).Respond(t.Context(), thought, nil)
	require.Len(t, f.node.request.Tools, 2, "the model does not get the deleted tool")
	assert.Equal(t, []string{"transfer", "tool_transfer"}, []string{f.node.request.Tools[0].Name, f.node.request.Tools[1].Name})
	assert.Contains(t, f.node.request.Messages[0].Text, "About opening hours")
	assert.Equal(t, []domain.Passage{{Name: "p"}}, read)
	assert.Equal(t, []pathway.ToolCall{{ID: "1", Name: "tool_transfer", Tool: id}}, got.Calls)
	assert.Equal(t, []conversation.Fault{{Stage: "llm", Code: "unreachable", Message: "engine down: no route", Recovered: true}}, got.Failovers)

	f.node.err = f.node.lost[0]
	got = f.ForCall(f.call).Respond(t.Context(), thought, nil)
	assert.Equal(t, []any{"unreachable", "engine down: no route", 0}, []any{got.Failed, got.Message, len(got.Failovers)}, "the answer contains the reason of the failure")
}

func TestInboundCallContinuesAfterFailedLookup(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	require.NoError(t, record.Create(t.Context(), f.store, &domain.InboundHookKey{WorkspaceID: recordtest.Workspace, AgentID: "agent_1", Secret: record.NewSigningSecret()}))
	f.call.AgentID = "agent_1"
	for name, c := range map[string]struct {
		status  int
		body    string
		timeout int
		code    string // error code in the event agent.error; "": no event
	}{
		"variables":          {200, `{"variables":{"name":"Ada"}}`, 1000, ""},
		"nothing":            {204, "", 1000, ""},
		"an error":           {500, "", 1000, "http_status"},
		"no JSON":            {200, "x", 1000, "bad_answer"},
		"too many variables": {200, `{"variables":{"x":"` + strings.Repeat("y", 70<<10) + `"}}`, 1000, "bad_answer"},
		"late":               {200, "", 0, "timeout"},
	} {
		call := f.call
		signed := ""
		f.node.reply = func(r *http.Request) (int, string) {
			signed = r.Header.Get("X-Svc-Signature")
			return c.status, c.body
		}
		add := f.LookUpInbound(t.Context(), &domain.AgentHook{URL: "https://crm.example", TimeoutMs: c.timeout}, &call)
		if c.code == "" {
			assert.Nil(t, add, name)
			assert.NotEmpty(t, signed, name)
			continue
		}
		require.NotNil(t, add, name)
		var change commit.Change
		add(&change, &call)
		require.Len(t, change.Events, 1, name)
		text, err := domain.EncodeJSON(change.Events[0].Data)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"code":"`+c.code+`"`, name)
		assert.Empty(t, call.Context, name)
	}
}
