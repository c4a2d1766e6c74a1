package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

func TestReplayDeliversEventsAgain(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.live
	began := time.Now().Add(-time.Second)
	x := h.createProvider(p, "Dr. Rivera")
	a, err := d.Appointments.Book(ctx, p, appointmentOrder(x.ID, noonInDays(2), 30))
	require.NoError(t, err)
	_, err = d.Appointments.ConfirmAppointment(ctx, p, a.ID)
	require.NoError(t, err)
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"appointment.booked", "appointment.confirmed"}})
	require.NoError(t, err)
	ids := make(map[event.Type]string)
	for _, e := range h.events(p.WorkspaceID) {
		if e.Subject == a.ID {
			ids[e.Type] = e.ID
		}
	}
	dry, err := d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{From: began, To: time.Now(), DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, []string{ids[event.AppointmentCreated], ids[event.AppointmentConfirmed]}, dry.Accepted)
	assert.False(t, h.receiver.hasEvent(ids[event.AppointmentCreated]), "the preview delivers nothing")

	got, err := d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{EventIDs: []string{ids[event.AppointmentCreated], "evt_01J9999999ZZZZZZZZZZZZZZZZ", "x"}})
	require.NoError(t, err)
	assert.Equal(t, webhooks.Replay{Accepted: []string{ids[event.AppointmentCreated]}, NotFound: []string{"evt_01J9999999ZZZZZZZZZZZZZZZZ", "x"}}, got)
	delivered := func(n int) {
		h.waitUntil(10*time.Second, "the event is delivered again", func() bool {
			l, err := d.Webhooks.WebhookLog(ctx, p, w.ID, record.PageQuery{Limit: 10})
			require.NoError(t, err)
			return len(l.Data) == 1 && l.Data[0].State == domain.DeliveryDelivered && h.receiver.deliveryCount(ids[event.AppointmentCreated]) == n
		})
	}
	delivered(1)
	_, err = d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{EventIDs: []string{ids[event.AppointmentCreated]}})
	require.NoError(t, err)
	delivered(2)
	l, err := d.Webhooks.WebhookLog(ctx, p, w.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []any{"appointment.booked", 1, true}, []any{l.Data[0].EventType, l.Data[0].Attempts, l.Data[0].Replay})
	_, err = d.Webhooks.ReplayWebhook(ctx, h.test, w.ID, webhooks.ReplayOrder{EventIDs: []string{ids[event.AppointmentCreated]}})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

// deliveryCount returns how often the receiver got an event.
func (r *webhookReceiver) deliveryCount(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}

func TestReplayByTimeAppliesFiltersAndEndpointListsCanBeFiltered(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d, p := h.Context(), h.services(), h.live
	began := time.Now().Add(-time.Second)
	endpoint := func(f *domain.EventFilters) *domain.Webhook {
		w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"appointment.*"}, Filters: f})
		require.NoError(t, err)
		return w
	}
	all, one := endpoint(nil), endpoint(&domain.EventFilters{AgentIDs: []string{h.createAgent(h.live, keyMenuPathway())}})
	_, err := d.Webhooks.PauseWebhook(ctx, p, one.ID)
	require.NoError(t, err)
	x := h.createProvider(p, "Dr. Rivera")
	_, err = d.Appointments.Book(ctx, p, appointmentOrder(x.ID, noonInDays(2), 30))
	require.NoError(t, err)
	for w, n := range map[*domain.Webhook]int{all: 1, one: 0} {
		dry, err := d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{From: began, To: time.Now().Add(time.Second), DryRun: true})
		require.NoError(t, err)
		assert.Len(t, dry.Accepted, n)
	}
	for _, c := range []struct {
		query webhooks.Query
		want  []string
	}{
		{webhooks.Query{}, []string{one.ID, all.ID}},
		{webhooks.Query{Status: domain.WebhookPaused}, []string{one.ID}},
		{webhooks.Query{Status: domain.WebhookDisabled}, nil},
		{webhooks.Query{Event: event.AppointmentCancelled, Status: domain.WebhookActive}, []string{all.ID}},
		{webhooks.Query{Event: event.CallEnded}, nil},
	} {
		c.query.Limit = 10
		l, err := d.Webhooks.ListWebhooks(ctx, p, c.query)
		require.NoError(t, err)
		var ids []string
		for _, w := range l.Data {
			ids = append(ids, w.ID)
		}
		assert.Equal(t, c.want, ids)
	}
}
