package node_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
)

// storeOldEvents commits one event for each of the numbers. The events are some days old.
func (h *fixture) storeOldEvents(p domain.Principal, days int, numbers ...int) (ids []string) {
	h.Helper()
	c := commit.Change{Workspace: p.WorkspaceID}
	for _, n := range numbers {
		at := time.Now().AddDate(0, 0, -days).Add(time.Duration(n) * time.Second).UTC().Truncate(time.Millisecond)
		id := domain.ID(domain.PrefixEvent, at, [10]byte{byte(n)})
		ids = append(ids, id)
		c.Events = append(c.Events, event.Draft{
			ID: id, Type: event.AgentUpdated, CreatedAt: at, WorkspaceID: p.WorkspaceID, Environment: p.Environment,
			Subject: fmt.Sprint("agent_", n%2), Data: event.ResourceChangedData{ID: "a", Changed: []string{"name"}},
		})
	}
	_, err := h.store.Apply(h.Context(), c)
	require.NoError(h, err)
	return ids
}

func TestRetentionDeletesOldEventsOnlyAfterTheirDelivery(t *testing.T) {
	t.Parallel()
	for name, redisURL := range map[string]func(*testing.T) string{
		"embedded": func(*testing.T) string { return "" },
		"redis":    func(t *testing.T) string { t.Helper(); url, _ := redistest.Start(t); return url },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixtureOn(t, redisURL(t), nil)
			ctx, d, p := t.Context(), h.services(), h.live
			w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"agent.updated"}})
			require.NoError(t, err)
			_, err = d.Webhooks.PauseWebhook(ctx, p, w.ID)
			require.NoError(t, err)
			_, err = d.Workspaces.UpdateWorkspace(ctx, p, func(w *domain.Workspace) error { w.Retention.EventDays = 10; return nil })
			require.NoError(t, err)
			old := h.storeOldEvents(p, 20, 1, 2, 3, 4)
			young := h.storeOldEvents(p, 2, 5, 6)
			stored := func() (ids []string) {
				for _, e := range h.events(p.WorkspaceID) {
					if e.Type == event.AgentUpdated {
						ids = append(ids, e.ID)
					}
				}
				return ids
			}
			h.node.Sweep(ctx)
			assert.Equal(t, append(old, young...), stored(), "undelivered events are kept")
			_, err = d.Webhooks.ResumeWebhook(ctx, p, w.ID)
			require.NoError(t, err)
			h.waitUntil(30*time.Second, "all events are delivered", func() bool {
				l, err := d.Webhooks.WebhookLog(ctx, p, w.ID, record.PageQuery{Limit: 10})
				require.NoError(t, err)
				n := 0
				for _, row := range l.Data {
					if row.State == domain.DeliveryDelivered {
						n++
					}
				}
				return n == 6
			})
			h.node.Sweep(ctx)
			assert.Equal(t, append(old[3:], young...), stored(), "but for the last of the old ones")
			l, err := d.Webhooks.WebhookLog(ctx, p, w.ID, record.PageQuery{Limit: 10})
			require.NoError(t, err)
			assert.Len(t, l.Data, 2, "deliveries are deleted with their events")
			_, err = d.Events.ListEvents(ctx, p, events.Query{After: old[2], Limit: 10})
			assert.Equal(t, domain.CodeCursorExpired, domain.CodeOf(err))
			again := h.storeOldEvents(p, 0, 7)
			last := h.events(p.WorkspaceID)
			require.Equal(t, again[0], last[len(last)-1].ID)
			assert.EqualValues(t, 4, last[len(last)-1].Sequence, "the sequence of the subject continues")
			h.waitUntil(30*time.Second, "the next event is delivered", func() bool { return h.receiver.hasEvent(again[0]) })
		})
	}
}
