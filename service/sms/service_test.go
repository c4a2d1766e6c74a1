package sms

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

const ownNumber, contact = "+12025550170", "+12025550101"

// node is a fake of all dependencies of the service. The workspace has one number, which has sms_enabled.
type node struct {
	life     context.Context
	requests []webhook.Request // requests to gateways
	status   int               // HTTP status of the gateway's responses
	settled  []string          // ids of settled messages; with + if the message was sent
	running  sync.WaitGroup
}

func (*node) LiveNumber(_ context.Context, workspace string, _ domain.Environment, e164 string) (*domain.PhoneNumber, error) {
	if workspace != recordtest.Workspace || e164 != ownNumber {
		return nil, nil
	}
	return &domain.PhoneNumber{Number: ownNumber, SMSEnabled: true}, nil
}

func (n *node) LiveNumbers(ctx context.Context, workspace string, env domain.Environment) ([]*domain.PhoneNumber, error) {
	own, err := n.LiveNumber(ctx, workspace, env, ownNumber)
	return []*domain.PhoneNumber{own}, err
}

func (*node) CallerIDs(context.Context, domain.Principal) ([]string, error) {
	return []string{ownNumber}, nil
}

func (*node) ReserveWithinCap(context.Context, *domain.Workspace, domain.Environment, string, string, int) error {
	return domain.Errorf(domain.CodeSpendCap, "the cap is reached")
}
func (*node) ReserveSMS(*domain.Message) {}
func (n *node) SettleSMS(m *domain.Message, sent, _ bool) {
	id := m.ID
	if sent {
		id += "+"
	}
	n.settled = append(n.settled, id)
}
func (n *node) Context() context.Context { return n.life }
func (n *node) RunInBackground(f func()) { n.running.Go(f) }

func (n *node) Send(_ context.Context, r webhook.Request) webhook.SendResult {
	n.requests = append(n.requests, r)
	return webhook.SendResult{Status: n.status}
}

func (*node) CheckURL(_ context.Context, param, url string) error {
	if url == "http://10.0.0.1" {
		return domain.FieldError(param, domain.CodeInvalidURL, "is a private address")
	}
	return nil
}

type fixture struct {
	*Service

	node      *node
	store     *pebbletest.Store
	outbox    recordtest.Outbox
	workspace *domain.Workspace
	by        domain.Principal
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		node: &node{life: t.Context(), status: 202}, store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace),
		workspace: &domain.Workspace{DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}},
	}
	n := f.node
	f.Service = New(Config{
		Store: f.store, Workspaces: recordtest.Workspaces{recordtest.Workspace: f.workspace}, Outbox: &f.outbox, URLs: n, Numbers: n, Spending: n, Background: n, Gateways: n,
		DNC: register.New(f.store, func(string, uint64) string { return "" }, nil), Zones: calendar.NewSharedZones(), Log: slog.New(slog.DiscardHandler),
		Redactor:      func(string) (*domain.Redactor, error) { return nil, nil },
		CheckCallerID: func(context.Context, domain.Principal, string) error { return nil },
		Script: func(context.Context, domain.Principal, string, string) (domain.Script, error) {
			return domain.Script{}, nil
		},
	})
	return f
}

func (f *fixture) gateway(t *testing.T) *domain.SMSGateway {
	t.Helper()
	g, err := f.CreateSMSGateway(t.Context(), f.by, &domain.SMSGateway{URL: "https://gateway.example"})
	require.NoError(t, err)
	return g
}

func (f *fixture) send(t *testing.T, p domain.Principal) *domain.Message {
	t.Helper()
	m, err := f.SendMessage(t.Context(), p, domain.NewMessage{To: contact, Body: "Hello"})
	require.NoError(t, err)
	return m
}

// deliver carries out the processing steps of all messages until no delivery is running.
func (f *fixture) deliver(t *testing.T) {
	t.Helper()
	require.NoError(t, f.processDue(t.Context(), recordtest.Workspace))
	f.node.running.Wait()
}

func (f *fixture) now(t *testing.T, m *domain.Message) *domain.Message {
	t.Helper()
	m, err := f.Message(t.Context(), domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}, m.ID)
	require.NoError(t, err)
	return m
}

func TestSendMessageErrors(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	refused := func(o domain.NewMessage) []any {
		_, err := f.SendMessage(t.Context(), f.by, o)
		return []any{domain.CodeOf(err), recordtest.ErrorField(err)}
	}
	assert.Equal(t, []any{domain.CodeNoSMSRoute, ""}, refused(domain.NewMessage{To: contact, Body: "x"}))
	f.gateway(t)
	assert.Equal(t, []any{domain.CodeValidation, "to"}, refused(domain.NewMessage{To: "somebody", Body: "x"}))
	assert.Equal(t, []any{domain.CodeDestinationNotAllowed, "to"}, refused(domain.NewMessage{To: "911", Body: "x"}))
	assert.Equal(t, domain.CodeDestinationNotAllowed, refused(domain.NewMessage{To: "+4930123456", Body: "x"})[0])
	assert.Equal(t, []any{domain.CodeValidation, "context.name"}, refused(domain.NewMessage{To: contact, Body: "Hello {{name}}"}))
	assert.Equal(t, []any{domain.CodeValidation, "from"}, refused(domain.NewMessage{To: contact, From: "12", Body: "x"}))
	f.workspace.Calling.DailySpendCap = &domain.Money{}
	assert.Equal(t, domain.CodeSpendCap, refused(domain.NewMessage{To: contact, Body: "x"})[0])
	assert.Empty(t, f.node.requests)
	_, err := f.SendMessage(t.Context(), recordtest.Live(recordtest.OtherWorkspace), domain.NewMessage{To: contact, Body: "x"})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestSMSGatewayDeliveryIsRetriedUntilAccepted(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.gateway(t)
	m := f.send(t, f.by)
	f.store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	f.deliver(t)
	assert.Empty(t, f.node.requests, "the attempt is committed before the request is sent")
	f.store.BeforeApply = nil
	f.node.status = 503
	f.deliver(t)
	require.Len(t, f.node.requests, 1)
	now := f.now(t, m)
	assert.Equal(t, []any{domain.MessageQueued, domain.TodoDeliver, true}, []any{now.Status, now.Todo, now.NextAt != nil}, "the delivery is tried again later")
	now.NextAt = nil
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, Puts: []domain.Record{now}})
	require.NoError(t, err)
	f.node.status = 202
	f.deliver(t)
	require.Len(t, f.node.requests, 2)
	for _, r := range f.node.requests {
		found := false
		for _, h := range r.Header {
			found = found || h.Name == "Idempotency-Key" && h.Value == m.ID
		}
		assert.True(t, found, "a repeated request has the same Idempotency-Key")
	}
	now = f.now(t, m)
	assert.Equal(t, []any{domain.MessageSent, domain.MessageTodo("")}, []any{now.Status, now.Todo})
	assert.Equal(t, m.ID+"+", f.node.settled[len(f.node.settled)-1])
}

func TestSMSOptOutIsConfirmedOnceAndStopsMessages(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	g := f.gateway(t)
	queued := f.send(t, f.by)
	receive := func(id, body string) GatewayResult {
		all, err := f.SMSGatewayEvents(t.Context(), f.by, g.ID, []GatewayEvent{{Type: GatewayReceived, ID: id, From: contact, To: ownNumber, Body: body}})
		require.NoError(t, err)
		return all[0]
	}
	first := receive("1", "STOP")
	assert.Equal(t, GatewayResult{MessageID: first.MessageID, Duplicate: true}, receive("1", "STOP"))
	receive("2", "stop")
	_, err := f.SendMessage(t.Context(), f.by, domain.NewMessage{To: contact, Body: "x"})
	assert.Equal(t, domain.CodeOptedOut, domain.CodeOf(err), "the opt-out takes effect at once")
	f.deliver(t)
	f.deliver(t) // the notice follows the message to the same number
	assert.Equal(t, []any{domain.MessageFailed, string(domain.CodeOptedOut)}, []any{f.now(t, queued).Status, f.now(t, queued).ErrorCode})
	l, err := f.ListMessages(t.Context(), f.by, MessageQuery{Direction: domain.Outbound, Status: domain.MessageSent, PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, l.Data, 1, "one notice confirms both opt-outs")
	assert.True(t, l.Data[0].Notice)
}

func TestInvalidGatewayEventDoesNotStopFollowingEvents(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	g, m := f.gateway(t), f.send(t, f.by)
	f.deliver(t)
	all, err := f.SMSGatewayEvents(t.Context(), f.by, g.ID, []GatewayEvent{
		{Type: "delivered", MessageID: record.RequestResourceID(t.Context(), domain.PrefixMessage)},
		{Type: GatewayReceived, ID: "1", From: contact, To: "+12025550199", Body: "x"},
		{Type: "delivered", MessageID: m.ID},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"message_id", "to", ""}, []string{all[0].Param, all[1].Param, all[2].Param})
	assert.Equal(t, domain.MessageDelivered, f.now(t, m).Status)
	_, err = f.SMSGatewayEvents(t.Context(), recordtest.Live(recordtest.OtherWorkspace), g.ID, nil)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = f.UpdateSMSGateway(t.Context(), f.by, g.ID, func(g *domain.SMSGateway) error { g.URL = "http://10.0.0.1"; return nil })
	assert.Equal(t, "url", recordtest.ErrorField(err))
}

func TestPendingSMSMessageCannotBeDeleted(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	test := domain.Principal{WorkspaceID: recordtest.Workspace, Environment: domain.Test}
	m := f.send(t, test)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(f.DeleteMessage(t.Context(), test, m.ID)))
	f.deliver(t)
	assert.NotEqual(t, domain.MessageQueued, f.now(t, m).Status)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.DeleteMessage(t.Context(), f.by, m.ID)), "another environment")
	require.NoError(t, f.DeleteMessage(t.Context(), test, m.ID))
}
