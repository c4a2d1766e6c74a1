package node_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	alertsservice "github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/record"
)

// mailRecorder is a Mailer that records emails. It refuses the first emails, as many as refuses says.
type mailRecorder struct {
	mu      sync.Mutex
	refuses int
	took    []alerts.Email
}

func (p *mailRecorder) Send(_ context.Context, l alerts.Email) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses--; p.refuses >= 0 {
		return errors.New("the mail server answered 451 later")
	}
	p.took = append(p.took, l)
	return nil
}

func (p *mailRecorder) subjects() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.took {
		out = append(out, l.Subject)
	}
	return out
}

func TestAlertIsSentOnceByWebhookAndMailAcrossRestart(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	box := &mailRecorder{}
	h.shutdown()
	h.mail = box
	h.start()
	ctx := t.Context()
	_, err := h.services().Webhooks.CreateWebhook(ctx, h.live, &domain.Webhook{URL: h.receiver.url + "/", Events: []string{"alert.*"}})
	require.NoError(t, err)
	rate, err := h.services().Alerts.CreateAlertRule(ctx, h.live, &domain.AlertRule{Name: "few", Kind: domain.AlertAnswerRate, Below: 0.5, MinCalls: 3, Minutes: 15, Emails: []string{"ops@example.com"}})
	require.NoError(t, err)
	_, err = h.services().Alerts.CreateAlertRule(ctx, h.live, &domain.AlertRule{Name: "all", Kind: domain.AlertAnswerRate, Below: 0.5, MinCalls: 3, Minutes: 15, Together: true})
	require.NoError(t, err)
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), carrierNumber(1, 1, "14"), carrierNumber(1, 2, "14"), carrierNumber(1, 3, "14"))
	_, err = h.services().Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	now := func() []*domain.Alert {
		l, err := h.services().Alerts.ListAlerts(ctx, h.live, record.PageQuery{Limit: 10})
		require.NoError(t, err)
		return l.Data
	}
	h.waitUntil(time.Minute, "both rules fire", func() bool {
		return len(now()) == 2 && !slices.ContainsFunc(now(), func(a *domain.Alert) bool { return a.Status != domain.AlertFiring })
	})
	h.waitUntil(time.Minute, "a mail is sent", func() bool { return len(box.subjects()) == 1 })
	assert.Equal(t, []string{"[callboard] default: 0 % of 3 calls were answered; the bound is 50 %"}, box.subjects())
	fired := countEvents(h.events(h.live.WorkspaceID), event.AlertFiring)
	assert.Len(t, fired, 2)
	for _, e := range h.events(h.live.WorkspaceID) {
		if e.Type == event.AlertFiring {
			h.waitUntil(time.Minute, "the webhook is delivered", func() bool { return h.receiver.hasEvent(e.ID) })
		}
	}
	h.shutdown()
	h.start()
	test, err := h.services().Alerts.TestAlertRule(ctx, h.live, rate.ID) // the test event is sent after the next evaluation of the rule
	require.NoError(t, err)
	assert.Equal(t, []alertsservice.AlertMailTest{{To: "ops@example.com", Sent: true}}, test.Mails)
	h.waitUntil(time.Minute, "the rules are evaluated", func() bool { return h.receiver.hasEvent(test.EventID) })
	assert.Len(t, now(), 2, "the alert still fires")
	require.NoError(t, h.services().Alerts.DeleteAlertRule(ctx, h.live, rate.ID))
	h.waitUntil(time.Minute, "the alert of the deleted rule has ended", func() bool { return len(now()) == 1 })
	again := countEvents(h.events(h.live.WorkspaceID), event.AlertFiring)
	delete(again, test.AlertID)
	assert.Equal(t, fired, again, "no alert is sent twice")
	assert.Len(t, box.subjects(), 2)
	assert.Empty(t, countEvents(h.events(h.live.WorkspaceID), event.AlertResolved), "deleting a rule sends no alert.resolved event")
}

func TestDisabledWebhookEndpointRaisesAnAlertUntilResumed(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	box := &mailRecorder{refuses: 1}
	h.shutdown()
	h.mail = box
	h.start()
	ctx := t.Context()
	hook, err := h.services().Webhooks.CreateWebhook(ctx, h.live, &domain.Webhook{URL: h.receiver.url + "/?token=s3cret", Events: []string{"webhook.test"}})
	require.NoError(t, err)
	_, err = h.services().Alerts.CreateAlertRule(ctx, h.live, &domain.AlertRule{Name: "r", Kind: domain.AlertEndpointDisabled, WatchesWorkspaceID: "ws_none"})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
	_, err = h.services().Alerts.CreateAlertRule(ctx, h.live, &domain.AlertRule{Name: "r", Kind: domain.AlertEndpointDisabled, Emails: []string{"ops@example.com"}})
	require.NoError(t, err)
	at := time.Now().UTC()
	_, err = h.services().Webhooks.UpdateWebhook(ctx, h.live, hook.ID, func(w *domain.Webhook) error {
		w.Status, w.DisabledReason, w.DisabledAt = domain.WebhookDisabled, "gone", &at
		return nil
	})
	require.NoError(t, err)
	firing := func() int { return len(countEvents(h.events(h.live.WorkspaceID), event.AlertFiring)) }
	resolved := func() int { return len(countEvents(h.events(h.live.WorkspaceID), event.AlertResolved)) }
	h.waitUntil(time.Minute, "the alert fires", func() bool { return firing() == 1 })
	_, err = h.services().Webhooks.ResumeWebhook(ctx, h.live, hook.ID)
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the alert is resolved", func() bool { return resolved() == 1 })
	h.waitUntil(time.Minute, "a mail is sent", func() bool { return len(box.subjects()) == 1 })
	assert.Equal(t, []int{1, 1}, []int{firing(), resolved()})
	assert.Contains(t, box.subjects()[0], "webhook endpoint 127.0.0.1 is", "the host alone")
	for _, e := range h.events(h.live.WorkspaceID) {
		assert.NotContains(t, string(e.Data), "s3cret")
	}
	rule := &domain.AlertRule{Meta: domain.Meta{ID: "alertrule_1"}, Kind: domain.AlertTrunkDown, Minutes: 2}
	assert.Contains(t, h.node.ReadAlerts(ctx, rule), rule.ID)
	h.shutdown()
	assert.Empty(t, h.node.ReadAlerts(ctx, rule), "the stopped node returns no findings")
}

func TestAlertRuleIsPausedAfterWorkspaceAndMailServerAreRemoved(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.mail = &mailRecorder{}
	h.start()
	ctx := t.Context()
	deleted := h.createWorkspace("gone")
	rule, err := h.services().Alerts.CreateAlertRule(ctx, h.live, &domain.AlertRule{
		Name: "r", Kind: domain.AlertTrunkDown, Minutes: 2, WatchesWorkspaceID: deleted.WorkspaceID, Emails: []string{"ops@example.com", "night@example.com"},
	})
	require.NoError(t, err)
	require.NoError(t, h.services().Workspaces.DeleteWorkspace(ctx, h.live, deleted.WorkspaceID))
	h.shutdown()
	h.mail = nil
	h.start()
	change := func(f func(*domain.AlertRule)) (*domain.AlertRule, error) {
		return h.services().Alerts.UpdateAlertRule(ctx, h.live, rule.ID, func(r *domain.AlertRule) error { f(r); return nil })
	}
	now, err := change(func(r *domain.AlertRule) { r.Paused, r.Emails = true, []string{"night@example.com"} })
	require.NoError(t, err)
	assert.True(t, now.Paused)
	for param, f := range map[string]func(*domain.AlertRule){
		"watches_workspace_id": func(r *domain.AlertRule) { r.WatchesWorkspaceID = "ws_none" },
		"emails":               func(r *domain.AlertRule) { r.Emails = []string{"night@example.com", "new@example.com"} },
	} {
		_, err = change(f)
		var refused *domain.Error
		require.ErrorAs(t, err, &refused, param)
		assert.Equal(t, param, refused.Param)
	}
	now, err = change(func(r *domain.AlertRule) { r.WatchesWorkspaceID, r.Emails = "", nil })
	require.NoError(t, err)
	assert.Empty(t, now.WatchesWorkspaceID)
}
