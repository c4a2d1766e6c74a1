package webhooks_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

// node is a fake of all dependencies of the service. It has one agent and allows the URLs of one host.
type node struct {
	store                     commit.Store
	system                    *actor.ActorSystem
	changed, deleted, checked []string
	quarantine                error
}

func (n *node) LockSettings(string) (func(), error) { return func() {}, nil }
func (n *node) WebhookChanged(_ context.Context, w *domain.Webhook) {
	n.changed = append(n.changed, w.ID)
}

func (n *node) WebhookDeleted(w *domain.Webhook) { n.deleted = append(n.deleted, w.ID) }

func (n *node) WebhookPID(w *domain.Webhook) *actor.PID                         { return n.system.NewLocalPID(w.ID) }
func (n *node) OffsetBefore(context.Context, string, time.Time) (uint64, error) { return 0, nil }

func (n *node) CheckURL(_ context.Context, param, url string) error {
	n.checked = append(n.checked, url)
	if url != "https://example.com/a" && url != "https://example.com/b" {
		return domain.FieldError(param, domain.CodeInvalidURL, "this URL is not allowed")
	}
	return nil
}

func (n *node) Agent(_ context.Context, _ domain.Principal, id string) (*domain.Agent, error) {
	if id != "agent_1" {
		return nil, domain.NotFound("agent")
	}
	return &domain.Agent{}, nil
}

func (n *node) Campaign(context.Context, domain.Principal, string) (*domain.Campaign, error) {
	return nil, domain.NotFound("campaign")
}

func (n *node) OffsetOf(ctx context.Context, workspaceID, id string) (uint64, error) {
	all, err := n.store.Events(ctx, workspaceID, 0, 100)
	for _, e := range all {
		if e.ID == id {
			return e.Offset, nil
		}
	}
	return 0, errors.Join(err, domain.ErrNotFound)
}

func open(t *testing.T) (*webhooks.Service, *node) {
	t.Helper()
	n := &node{store: pebbletest.Open(t), system: mailbox.NewSystem(slog.New(slog.DiscardHandler))}
	t.Cleanup(n.system.Shutdown)
	return webhooks.New(webhooks.Config{
		Store: n.store, Settings: n, Actors: n, System: n.system, URLs: n, Agents: n, Campaigns: n, Events: n, QuarantineError: func() error { return n.quarantine },
	}), n
}

var live = domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live} //nolint:gochecknoglobals // a constant

func TestCreateWebhookChecksURLAndNotifiesActors(t *testing.T) {
	t.Parallel()
	s, n := open(t)
	ctx := t.Context()
	_, err := s.CreateWebhook(ctx, live, &domain.Webhook{URL: "http://192.168.0.1/", Events: []string{"*"}})
	assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err))
	filters := &domain.EventFilters{AgentIDs: []string{"agent_1", "agent_2"}, CampaignIDs: []string{"campaign_1"}}
	_, err = s.CreateWebhook(ctx, live, &domain.Webhook{URL: "https://example.com/a", Events: []string{"*"}, Filters: filters})
	refused, is := errors.AsType[*domain.Error](err)
	require.True(t, is)
	require.Len(t, refused.Details, 2)
	assert.Equal(t, []string{"filters.agent_ids[1]", "filters.campaign_ids[0]"}, []string{refused.Details[0].Param, refused.Details[1].Param})

	w, err := s.CreateWebhook(ctx, live, &domain.Webhook{URL: "https://example.com/a", Events: []string{"agent.updated"}})
	require.NoError(t, err)
	assert.NotEmpty(t, w.Secret)
	assert.Zero(t, w.FirstOffset, "the response does not contain FirstOffset")
	n.checked = nil
	_, err = s.UpdateWebhook(ctx, live, w.ID, func(w *domain.Webhook) error { w.Events = []string{"*"}; return nil })
	require.NoError(t, err)
	assert.Empty(t, n.checked, "an unchanged URL is not checked again")
	_, err = s.UpdateWebhook(ctx, live, w.ID, func(w *domain.Webhook) error { w.URL = "https://example.com/b"; return nil })
	require.NoError(t, err)
	assert.Equal(t, []string{"https://example.com/b"}, n.checked)
	rotated, err := s.RotateWebhook(ctx, live, w.ID, "", time.Hour, func(*domain.Webhook) error { return nil })
	require.NoError(t, err)
	assert.NotEqual(t, w.Secret, rotated.Secret)
	assert.NotEmpty(t, rotated.Secret)
	paused, err := s.PauseWebhook(ctx, live, w.ID)
	require.NoError(t, err)
	assert.Equal(t, domain.WebhookPaused, paused.Status)
	assert.Equal(t, []string{w.ID, w.ID, w.ID, w.ID, w.ID}, n.changed)
	require.NoError(t, s.DeleteWebhook(ctx, live, w.ID))
	assert.Equal(t, []string{w.ID}, n.deleted)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(s.DeleteWebhook(ctx, live, w.ID)))
}

func TestWebhookTestDeliveryIsRefusedInQuarantine(t *testing.T) {
	t.Parallel()
	s, n := open(t)
	w, err := s.CreateWebhook(t.Context(), live, &domain.Webhook{URL: "https://example.com/a", Events: []string{"*"}})
	require.NoError(t, err)
	n.quarantine = domain.Errorf(domain.CodeUnavailable, "in quarantine")
	_, err = s.TestWebhook(t.Context(), live, w.ID, event.CallEnded)
	assert.ErrorIs(t, err, n.quarantine)
}

func TestWebhookEndpointIsDeletedInOfflineStore(t *testing.T) {
	t.Parallel()
	s, n := open(t)
	w, err := s.CreateWebhook(t.Context(), live, &domain.Webhook{URL: "https://example.com/a", Events: []string{"*"}})
	require.NoError(t, err)
	require.NoError(t, webhooks.New(webhooks.Config{Store: n.store}).DeleteWebhook(t.Context(), live, w.ID))
	_, err = s.Webhook(t.Context(), live, w.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestReplayQueuesFinishedWebhookDeliveryAgain(t *testing.T) {
	t.Parallel()
	s, n := open(t)
	ctx, now := t.Context(), record.Now()
	w, err := s.CreateWebhook(ctx, live, &domain.Webhook{URL: "https://example.com/a", Events: []string{"agent.updated"}})
	require.NoError(t, err)
	change := commit.Change{Workspace: live.WorkspaceID}
	draft := func(of event.Type, env domain.Environment) string {
		e := event.Draft{
			ID: mailbox.NewID(domain.PrefixEvent), Type: of, CreatedAt: now, WorkspaceID: live.WorkspaceID, Environment: env, Subject: "agent_1",
			Data: event.ResourceChangedData{ID: "agent_1", Changed: []string{"name"}},
		}
		if of == event.CallEnded {
			e.Data = event.NewCallEndedData(&domain.Call{})
		}
		change.Events = append(change.Events, e)
		return e.ID
	}
	finished, queued := draft(event.AgentUpdated, domain.Live), draft(event.AgentUpdated, domain.Live)
	other, test := draft(event.CallEnded, domain.Live), draft(event.AgentUpdated, domain.Test)
	for id, state := range map[string]domain.DeliveryState{finished: domain.DeliveryDelivered, queued: domain.DeliveryRetrying} {
		change.Puts = append(change.Puts, &domain.Delivery{ID: mailbox.NewID(domain.PrefixDelivery), WorkspaceID: live.WorkspaceID, WebhookID: w.ID, EventID: id, State: state, Attempts: 3, CreatedAt: now})
	}
	_, err = n.store.Apply(ctx, change)
	require.NoError(t, err)
	period := webhooks.ReplayOrder{From: now.Add(-time.Minute), To: now.Add(time.Minute), DryRun: true}
	found, err := s.ReplayWebhook(ctx, live, w.ID, period)
	require.NoError(t, err)
	assert.Equal(t, webhooks.Replay{Accepted: []string{finished, queued}, NotFound: []string{}, DryRun: true}, found)
	found, err = s.ReplayWebhook(ctx, live, w.ID, webhooks.ReplayOrder{EventIDs: []string{finished, queued, other, test, "x"}})
	require.NoError(t, err)
	assert.Equal(t, webhooks.Replay{Accepted: []string{finished, queued, other}, NotFound: []string{test, "x"}}, found)
	for id, attempts := range map[string]int{finished: 0, queued: 3, other: 0} {
		row := &domain.Delivery{WorkspaceID: live.WorkspaceID, WebhookID: w.ID, EventID: id}
		_, err = n.store.Get(ctx, row)
		require.NoError(t, err)
		assert.Equal(t, []any{attempts, attempts == 0}, []any{row.Attempts, row.Replay}, id)
	}
}
