package node_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

// request is a request that the webhook receiver got.
type request struct {
	header http.Header
	body   []byte
	event  event.Event
}

// recordRequests makes the receiver record requests to paths except "/" and answer them with status. The returned
// function returns the recorded requests.
func (r *webhookReceiver) recordRequests(status int) func() []request {
	var mu sync.Mutex
	var got []request
	f := func(w http.ResponseWriter, req *http.Request, body []byte) {
		x := request{header: req.Header.Clone(), body: body}
		_ = json.Unmarshal(body, &x.event)
		mu.Lock()
		got = append(got, x)
		mu.Unlock()
		w.WriteHeader(status)
	}
	r.other.Store(&f)
	return func() []request {
		mu.Lock()
		defer mu.Unlock()
		return append([]request(nil), got...)
	}
}

// storeEvents commits n events of the live environment. at returns the time of the event with index i.
func (h *fixture) storeEvents(of event.Type, n int, at func(i int) time.Time) (ids []string) {
	h.Helper()
	c := commit.Change{Workspace: h.live.WorkspaceID}
	data := any(event.NewCallData(&domain.Call{}))
	if of == event.CallEnded {
		data = event.NewCallEndedData(&domain.Call{})
	}
	for i := range n {
		id := mailbox.NewID(domain.PrefixEvent)
		ids = append(ids, id)
		c.Events = append(c.Events, event.Draft{
			ID: id, Type: of, CreatedAt: at(i), WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, SvcID: "unit_1",
			Subject: fmt.Sprint("call_", i%7), Data: data,
		})
	}
	_, err := h.store.Apply(h.Context(), c)
	require.NoError(h, err)
	return ids
}

func TestWebhookURLInAForbiddenNetworkIsRefusedAndNotRequested(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, p := t.Context(), h.live
	old := h.storeEvents(event.CallEnded, 1, func(int) time.Time { return time.Now().UTC() })[0] // committed before the endpoint exists
	w, err := h.services().Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"call.ended"}})
	require.NoError(t, err)
	agent := h.createAgent(p, keyMenuPathway())
	id := h.createCampaign(p, agent, carrierNumber(0, 0, "00"))
	h.shutdown()
	h.egress = &access.Egress{} // from here on loopback is not allowed
	h.start()
	d := h.services()
	tried := 0
	for _, host := range webhooktest.HostileHosts() {
		url := "https://" + host + ":443/ok"
		if target, err := webhook.ParseURL(url, *h.egress); err == nil && !target.Addr.IsValid() {
			continue // needs a name server
		}
		tried++
		_, err = d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: url, Events: []string{"*"}})
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err), "create: %q", host)
		_, err = d.Webhooks.UpdateWebhook(ctx, p, w.ID, func(w *domain.Webhook) error { w.URL = url; return nil })
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err), "change: %q", host)
		hooks := map[string]string{"campaign.completed": url}
		_, err = d.Campaigns.CreateCampaign(ctx, p, &domain.Campaign{Name: "c", Status: domain.CampaignDraft, AgentID: agent, Webhooks: hooks}, "", contactRows())
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err), "campaign: %q", host)
		_, _, err = d.Campaigns.UpdateCampaign(ctx, p, id, func(c *domain.Campaign) error { c.Webhooks = hooks; return nil })
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(err), "change of a campaign: %q", host)
	}
	assert.GreaterOrEqual(t, tried, 100)

	const why = "this address may not be reached from here"
	tested, err := d.Webhooks.TestWebhook(ctx, p, w.ID, event.CallEnded)
	require.NoError(t, err)
	assert.Equal(t, []any{false, 0, why}, []any{tested.Delivered, tested.ResponseStatus, tested.Error})
	_, err = d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{EventIDs: []string{old}})
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the replay was tried", func() bool {
		l, err := d.Webhooks.WebhookLog(ctx, p, w.ID, record.PageQuery{Limit: 10})
		require.NoError(t, err)
		return len(l.Data) == 1 && l.Data[0].Replay && l.Data[0].Error == why
	})
	assert.Zero(t, h.receiver.deliveryCount(old))
}

func TestReplayByTimeIsPagedAndMarksDeliveriesWithTheirEventTimes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	began := time.Now().UTC().Truncate(time.Millisecond)
	one := func(n int) func(int) time.Time {
		return func(int) time.Time { return began.Add(time.Duration(n) * time.Second) }
	}
	first := h.storeEvents(event.CallEnded, 3, func(i int) time.Time { return began.Add(time.Duration(i) * time.Second) })
	h.storeEvents(event.CallRinging, 1, one(1))
	crowd := h.storeEvents(event.CallAnswered, webhooks.MaxReplay+20, one(10)) // all at one moment
	last := h.storeEvents(event.CallAnswered, 2, one(11))
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url + "/kept", Events: []string{"call.*"}})
	require.NoError(t, err)
	got := h.receiver.recordRequests(200)
	out, err := d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{From: began, To: began.Add(2 * time.Second), Types: []string{"call.ended"}})
	require.NoError(t, err)
	assert.Equal(t, webhooks.Replay{Accepted: first[:2], NotFound: []string{}}, out, "of this type, and before the end")
	h.waitUntil(time.Minute, "both are delivered again", func() bool { return len(got()) == 2 })
	times := make(map[string]time.Time)
	for _, r := range got() {
		assert.Equal(t, "true", r.header.Get("X-Svc-Replay"))
		times[r.event.ID] = r.event.CreatedAt
	}
	assert.Equal(t, map[string]time.Time{first[0]: began, first[1]: began.Add(time.Second)}, times, "deliveries carry the times of their events")

	order := webhooks.ReplayOrder{From: began.Add(10 * time.Second), To: began.Add(time.Minute), Types: []string{"call.answered"}, DryRun: true}
	out, err = d.Webhooks.ReplayWebhook(ctx, p, w.ID, order)
	require.NoError(t, err)
	require.NotNil(t, out.NextFrom)
	assert.Equal(t, []any{crowd, true, began.Add(11 * time.Second)}, []any{out.Accepted, out.More, out.NextFrom.UTC()}, "events of one time stay on one page")
	order.From = *out.NextFrom
	out, err = d.Webhooks.ReplayWebhook(ctx, p, w.ID, order)
	require.NoError(t, err)
	assert.Equal(t, webhooks.Replay{Accepted: last, NotFound: []string{}, DryRun: true}, out)
	assert.Len(t, got(), 2, "the preview delivers nothing")
}

func TestWebhookRotationSignsWithBothSecretsUntilTheOldExpires(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	const old, next = "the_old_secret_0123456789abcdef", "the_next_secret_0123456789abcdef"
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url + "/kept", Events: []string{"call.ended"}, Secret: old})
	require.NoError(t, err)
	got := h.receiver.recordRequests(200)
	signed := func() (now, then string) {
		n := len(got())
		_, err := d.Webhooks.TestWebhook(ctx, p, w.ID, event.CallEnded)
		require.NoError(t, err)
		require.Len(t, got(), n+1)
		r := got()[n]
		name := func(header string) string {
			switch r.header.Get(header) {
			case webhook.Sign(old, r.body):
				return "old"
			case webhook.Sign(next, r.body):
				return "next"
			}
			return r.header.Get(header)
		}
		return name("X-Svc-Signature"), name("X-Svc-Signature-Next")
	}
	rotate := func(overlap time.Duration) {
		_, err := d.Webhooks.RotateWebhook(ctx, p, w.ID, next, overlap, func(*domain.Webhook) error { return nil })
		require.NoError(t, err)
	}
	both := func(now, then string) {
		t.Helper()
		h.waitUntil(time.Minute, "the delivery has the expected signatures", func() bool { // the endpoint actor is notified after the reply
			a, b := signed()
			return a == now && b == then
		})
	}
	both("old", "")
	rotate(time.Hour)
	both("old", "next")
	raw, _, err := h.driver.Get(ctx, persistence.Key{Table: "webhook/" + p.WorkspaceID, ID: w.ID})
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"next_secret":"`)
	assert.NotContains(t, string(raw), next)
	assert.NotContains(t, string(raw), old)
	rotate(time.Nanosecond) // already expired at the next delivery
	both("next", "")
	shown, err := d.Webhooks.Webhook(ctx, p, w.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{webhook.SecretHint(next), "", ""}, []any{shown.SecretHint, shown.NextSecretHint, shown.NextSecret})
}

func TestDisabledEndpointIsInTheAuditLogAndAPauseReplacesTheDisabling(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := t.Context(), h.services(), h.live
	h.receiver.recordRequests(410)
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url + "/gone", Events: []string{"call.ended"}})
	require.NoError(t, err)
	id := h.storeEvents(event.CallEnded, 1, func(int) time.Time { return time.Now().UTC() })[0]
	_, err = d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{EventIDs: []string{id}})
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the endpoint is disabled", func() bool {
		w, err = d.Webhooks.Webhook(ctx, p, w.ID)
		require.NoError(t, err)
		return w.Status == domain.WebhookDisabled
	})
	l, err := d.Audit.ListAudit(ctx, p, audit.Query{PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(t, err)
	var reported []*domain.AuditEntry
	for _, e := range l.Data {
		if e.Action == "webhook.disabled" {
			reported = append(reported, e)
		}
	}
	require.Len(t, reported, 1)
	assert.Equal(t, []any{"admin", domain.Actor{Type: "system", ID: "webhook"}, domain.Resource{Type: "webhook", ID: w.ID}, "success", webhook.ReasonGone, 1, p.Environment, *w.DisabledAt},
		[]any{reported[0].Type, reported[0].Actor, reported[0].Resource, reported[0].Outcome, reported[0].Reason, reported[0].Count, reported[0].Environment, reported[0].CreatedAt})

	w, err = d.Webhooks.PauseWebhook(ctx, p, w.ID)
	require.NoError(t, err)
	require.NotNil(t, w.PausedAt)
	assert.Equal(t, []any{domain.WebhookPaused, "", true}, []any{w.Status, w.DisabledReason, w.DisabledAt == nil})
	since := *w.PausedAt
	w, err = d.Webhooks.PauseWebhook(ctx, p, w.ID)
	require.NoError(t, err)
	assert.Equal(t, since, *w.PausedAt, "the change has no effect on the running state")
	w, err = d.Webhooks.ResumeWebhook(ctx, p, w.ID)
	require.NoError(t, err)
	assert.Nil(t, w.PausedAt)
}
