package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	cockroach "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/calls"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

func (h *fixture) campaignStatus(p domain.Principal, id string) domain.CampaignStatusObject {
	h.Helper()
	return *retryUntilAvailable(h, func(ctx context.Context) (*domain.CampaignStatusObject, error) {
		return h.services().Campaigns.CampaignStatus(ctx, p, id)
	})
}

func (h *fixture) waitForCampaignEnd(p domain.Principal, id string) {
	h.Helper()
	h.waitUntil(30*time.Second, "the campaign has ended", func() bool { return h.campaignStatus(p, id).Status.Final() })
}

// hasCampaignActor reports whether a campaign has a running actor.
func (h *fixture) hasCampaignActor(id string) bool {
	return h.node.HasCampaignActor(h.live.WorkspaceID, id)
}

func TestConcurrentCampaignRequestsChangeTheStateOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.test, h.createAgent(h.test, waitingPathway()), carrierNumber(2, 1, "09"), carrierNumber(2, 2, "09"))
	type verb struct {
		do       func(context.Context, domain.Principal, string) (domain.CampaignStatusObject, error)
		to       domain.CampaignStatus
		reported event.Type
	}
	cancel := func(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
		return d.Campaigns.CancelCampaign(ctx, p, id, true)
	}
	for _, v := range []verb{
		{d.Campaigns.StartCampaign, domain.CampaignRunning, event.CampaignStarted},
		{d.Campaigns.PauseCampaign, domain.CampaignPaused, event.CampaignPaused},
		{d.Campaigns.ResumeCampaign, domain.CampaignRunning, event.CampaignResumed},
		{cancel, domain.CampaignCancelled, event.CampaignCancelled},
	} {
		var wait sync.WaitGroup
		got := make(chan domain.CampaignStatus, 50)
		for range 50 {
			wait.Go(func() {
				st, err := v.do(ctx, h.test, id)
				assert.NoError(t, err, "a repeated request in its target state changes nothing")
				got <- st.Status
			})
		}
		wait.Wait()
		close(got)
		for s := range got {
			assert.Equal(t, v.to, s)
		}
		assert.Equal(t, 1, countEvents(h.events(h.live.WorkspaceID), v.reported)[id], v.reported)
	}
	for name, do := range map[string]func(context.Context, domain.Principal, string) (domain.CampaignStatusObject, error){
		"start": d.Campaigns.StartCampaign, "pause": d.Campaigns.PauseCampaign, "resume": d.Campaigns.ResumeCampaign,
	} {
		_, err := do(ctx, h.test, id)
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), name)
	}
	sequence := uint64(0)
	for _, e := range h.events(h.live.WorkspaceID) {
		if e.Subject == id {
			sequence++
			assert.Equal(t, sequence, e.Sequence, e.Type)
		}
	}
}

func TestCampaignActorStopsAfterTheCampaignEnds(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.test, waitingPathway())
	id := h.createCampaign(h.test, h.createAgent(h.test, keyMenuPathway()), carrierNumber(2, 3, "11"))
	_, err := d.Campaigns.StartCampaign(ctx, h.test, id)
	require.NoError(t, err)
	h.waitForCampaignEnd(h.test, id)
	h.waitUntil(10*time.Second, "the campaign actor has stopped", func() bool { return !h.hasCampaignActor(id) })
	assert.Equal(t, 1, h.campaignStatus(h.test, id).Progress.Attempted, "the store tells")

	talks := h.createCampaign(h.test, agent, carrierNumber(2, 4, "09"))
	_, err = d.Campaigns.StartCampaign(ctx, h.test, talks)
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "a call is answered", func() bool { _, n := h.phoneLog.liveDialogs(); return n == 1 })
	st, err := d.Campaigns.CancelCampaign(ctx, h.test, talks, false)
	require.NoError(t, err)
	assert.Equal(t, 1, st.Progress.InProgress)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(d.Campaigns.DeleteCampaign(ctx, h.test, talks)), "the call is still live")
	require.True(t, h.hasCampaignActor(talks), "the call is still live")
	_, err = d.Campaigns.CancelCampaign(ctx, h.test, talks, true)
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "the call was hung up and the actor has ended", func() bool { return !h.hasCampaignActor(talks) })
	assert.Zero(t, h.campaignStatus(h.test, talks).Progress.InProgress)
}

func TestDraftCampaignActorStartsOnDemand(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	agent := h.createAgent(h.test, keyMenuPathway())
	for what, want := range map[string]func(ctx context.Context, d *services.Services, id string) error{
		"status": func(ctx context.Context, d *services.Services, id string) error {
			st, err := d.Campaigns.CampaignStatus(ctx, h.test, id)
			if err == nil {
				assert.Equal(t, 1, st.Progress.Total)
			}
			return err
		},
		"delete contact": func(ctx context.Context, d *services.Services, id string) error {
			all, err := d.Contacts.ListContacts(ctx, h.test, id, contactsservice.Query{Limit: 1})
			require.NoError(t, err)
			return d.Contacts.DeleteContact(ctx, h.test, id, all.Data[0].ID)
		},
		"cancel": func(ctx context.Context, d *services.Services, id string) error {
			st, err := d.Campaigns.CancelCampaign(ctx, h.test, id, false)
			assert.Equal(t, domain.CampaignCancelled, st.Status)
			return err
		},
	} {
		id := h.createCampaign(h.test, agent, carrierNumber(2, 5, "11"))
		assert.False(t, h.hasCampaignActor(id))
		require.NoError(t, want(t.Context(), h.services(), id), what)
		if what != "cancel" {
			assert.True(t, h.hasCampaignActor(id), what)
		}
	}
	id := h.createCampaign(h.test, agent, carrierNumber(2, 6, "11"))
	_, err := h.services().Contacts.AddContacts(t.Context(), h.test, id, contactRows(carrierNumber(2, 7, "11")))
	require.NoError(t, err)
	_, _, err = h.services().Campaigns.UpdateCampaign(t.Context(), h.test, id, func(c *domain.Campaign) error { c.Name = "other"; return nil })
	require.NoError(t, err)
	assert.False(t, h.hasCampaignActor(id), "changes of a draft need no actor")
	h.shutdown()
	h.start()
	assert.False(t, h.hasCampaignActor(id), "nor after a restart")
	_, err = h.services().Campaigns.StartCampaign(t.Context(), h.test, id)
	require.NoError(t, err)
	h.waitForCampaignEnd(h.test, id)
	assert.Equal(t, 2, h.campaignStatus(h.test, id).Progress.Attempted)
}

func TestFailedCampaignActorIsNotRestartedByRequests(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.test, h.createAgent(h.test, waitingPathway()), carrierNumber(2, 8, "09"), carrierNumber(2, 9, "09"))
	_, err := d.Campaigns.StartCampaign(ctx, h.test, id)
	require.NoError(t, err)
	all, err := d.Contacts.ListContacts(ctx, h.test, id, contactsservice.Query{Limit: 1})
	require.NoError(t, err)
	_, err = d.Campaigns.PauseCampaign(ctx, h.test, id)
	require.NoError(t, err)
	require.NoError(t, h.node.EndCampaign(h.live.WorkspaceID, id))
	require.False(t, h.hasCampaignActor(id))
	for what, want := range map[string]func() error{
		"status":         func() error { _, err := d.Campaigns.CampaignStatus(ctx, h.test, id); return err },
		"resume":         func() error { _, err := d.Campaigns.ResumeCampaign(ctx, h.test, id); return err },
		"delete contact": func() error { return d.Contacts.DeleteContact(ctx, h.test, id, all.Data[0].ID) },
	} {
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(want()), what)
		assert.False(t, h.hasCampaignActor(id), what)
	}
	_, _, err = d.Campaigns.UpdateCampaign(ctx, h.test, id, func(c *domain.Campaign) error { c.Name = "other"; return nil })
	require.NoError(t, err, "the store accepts the change")
	assert.False(t, h.hasCampaignActor(id))
	h.shutdown()
	h.start()
	assert.Equal(t, domain.CampaignPaused, h.campaignStatus(h.test, id).Status)
	assert.True(t, h.hasCampaignActor(id), "the next start restarts the actor")
}

func TestConcurrentStartsOfADraftStartOneActor(t *testing.T) {
	t.Parallel()
	const n = 30
	var begun atomic.Int32 // campaign actors that started
	h := newFixture(t, func(name string, msg any) {
		if _, is := msg.(*actor.Started); is && name == "campaign" {
			begun.Add(1)
		}
	})
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.test, h.createAgent(h.test, waitingPathway()), carrierNumber(3, 2, "09"))
	require.False(t, h.hasCampaignActor(id))
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			st, err := d.Campaigns.StartCampaign(ctx, h.test, id)
			if assert.NoError(t, err, "a repeated request in its target state changes nothing") {
				assert.Equal(t, domain.CampaignRunning, st.Status)
			}
		})
	}
	wait.Wait()
	assert.EqualValues(t, 1, begun.Load(), "one actor started")
	assert.Equal(t, 1, countEvents(h.events(h.live.WorkspaceID), event.CampaignStarted)[id])
	_, err := d.Campaigns.CancelCampaign(ctx, h.test, id, true)
	require.NoError(t, err)
}

func TestConcurrentStartAndDeletionOfADraftExcludeEachOther(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d := h.services()
	ctx, cancel := context.WithTimeout(t.Context(), 2*longWait) // for requests without a reply
	defer cancel()
	agent := h.createAgent(h.test, waitingPathway())
	for i := range 20 {
		id := h.createCampaign(h.test, agent, carrierNumber(4, i%10, "09"))
		var wait sync.WaitGroup
		var started, deleted error
		wait.Go(func() { _, started = d.Campaigns.StartCampaign(ctx, h.test, id) })
		wait.Go(func() { deleted = d.Campaigns.DeleteCampaign(ctx, h.test, id) })
		wait.Wait()
		if deleted == nil {
			assert.Equal(t, domain.CodeNotFound, domain.CodeOf(started), "%v", started)
			_, err := d.Campaigns.CampaignStatus(ctx, h.test, id)
			assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "%v", err)
			h.waitUntil(longWait, "the campaign actor has stopped", func() bool { return !h.hasCampaignActor(id) })
			continue
		}
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(deleted), "%v", deleted)
		require.NoError(t, started)
		_, err := d.Campaigns.CancelCampaign(ctx, h.test, id, true)
		require.NoError(t, err)
	}
}

func TestCampaignWebhooksRequireAnAPIKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	user, client := h.live, h.live
	user.UserID, client.ClientID = "ada", "client_1"
	hooks := map[string]string{"campaign.started": h.receiver.url}
	draft := func(hooks map[string]string) *domain.Campaign {
		return &domain.Campaign{
			Name: "hooked", Status: domain.CampaignDraft, AgentID: h.createAgent(h.live, keyMenuPathway()), DefaultCountry: "US",
			Schedule: domain.Schedule{Timezone: "UTC"}, Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 1}, Retry: domain.Retry{MaxAttempts: 1},
			Webhooks: hooks,
		}
	}
	set := func(c *domain.Campaign) error { c.Webhooks = hooks; return nil }
	for name, p := range map[string]domain.Principal{"a user": user, "a client": client} {
		_, err := d.Campaigns.CreateCampaign(ctx, p, draft(hooks), "", contactRows())
		assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(err), name)
		created, err := d.Campaigns.CreateCampaign(ctx, p, draft(nil), "", contactRows())
		require.NoError(t, err, "%s may have a campaign without", name)
		_, _, err = d.Campaigns.UpdateCampaign(ctx, p, created.Campaign.ID, set)
		assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(err), name)
		_, _, err = d.Campaigns.UpdateCampaign(ctx, h.live, created.Campaign.ID, set)
		require.NoError(t, err, "an API key may")
	}
}

func TestDeletedCampaignLeavesNoRowsOrFiles(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	_, err := d.Trunks.CreateTrunk(ctx, h.live, &domain.Trunk{Name: "house", Simulator: true})
	require.NoError(t, err)
	created, err := d.Campaigns.CreateCampaign(ctx, h.live, &domain.Campaign{
		Name: "gone", Status: domain.CampaignDraft, AgentID: agent, DefaultCountry: "US", AutoComplete: true,
		Schedule: domain.Schedule{Timezone: "UTC"}, Pacing: domain.Pacing{CallsPerMinute: 1200, MaxConcurrent: 20}, Retry: domain.Retry{MaxAttempts: 1},
		CallerID: domain.CallerID{Number: "+15005550100"}, Webhooks: map[string]string{"campaign.started": h.receiver.url, "campaign.call_completed": h.receiver.url, "campaign.completed": h.receiver.url + "/end"},
	}, "", contactRows(carrierNumber(3, 1, "11"), carrierNumber(3, 2, "11"), carrierNumber(3, 3, "14"), carrierNumber(3, 4, "19")))
	require.NoError(t, err)
	id := created.Campaign.ID
	assert.NotEmpty(t, created.WebhookSecret)
	hooks, err := d.Webhooks.ListWebhooks(ctx, h.live, webhooks.Query{CampaignID: id, PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, hooks.Data, 2, "each distinct URL has one endpoint")
	_, err = d.Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(d.Campaigns.DeleteCampaign(ctx, h.live, id)), "the campaign is running")
	_, err = d.Campaigns.CampaignStatus(ctx, h.live, id)
	require.NoError(t, err)
	_, err = d.Campaigns.CampaignStatus(ctx, h.test, id)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "the campaign belongs to another environment")
	h.waitForCampaignEnd(h.live, id)

	copied, err := d.Campaigns.CopyCampaign(ctx, h.live, id, []string{"busy", "failed"}, func(c *domain.Campaign) error { c.Webhooks = nil; return nil })
	require.NoError(t, err)
	assert.Equal(t, 2, copied.Upload.Summary.Accepted)
	list, err := d.Contacts.ListContacts(ctx, h.live, copied.Campaign.ID, contactsservice.Query{Limit: 10})
	require.NoError(t, err)
	var phones []string
	for _, c := range list.Data {
		phones = append(phones, c.Phone)
	}
	assert.Equal(t, []string{carrierNumber(3, 3, "14"), carrierNumber(3, 4, "19")}, phones)
	assert.Equal(t, domain.CampaignDraft, copied.Campaign.Status)
	calls, err := d.Calls.ListCalls(ctx, h.live, calls.Query{CampaignID: id, PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, calls.Data, 4)
	h.waitUntil(30*time.Second, "the events were delivered", func() bool {
		log, err := d.Webhooks.WebhookLog(ctx, h.live, hooks.Data[0].ID, record.PageQuery{Limit: 10})
		return err == nil && len(log.Data) > 0
	})

	require.NoError(t, d.Campaigns.DeleteCampaign(ctx, h.live, id))
	_, err = d.Campaigns.CampaignStatus(ctx, h.live, id)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "the deleted campaign is not found")
	_, err = d.Campaigns.Campaign(ctx, h.live, id)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(d.Campaigns.DeleteCampaign(ctx, h.live, id)))
	require.NoError(t, d.Campaigns.DeleteCampaign(ctx, h.live, copied.Campaign.ID), "a draft")
	h.shutdown() // a restart during the deletion: the next start continues it
	h.start()
	traces := []string{strings.TrimPrefix(id, "campaign_"), strings.TrimPrefix(copied.Campaign.ID, "campaign_"), hooks.Data[0].ID, hooks.Data[1].ID}
	for _, c := range calls.Data {
		traces = append(traces, strings.TrimPrefix(c.ID, "call_"))
	}
	rows := func(kind, prefix string, fresh func() domain.Record) (n int) {
		require.NoError(t, h.store.Under(ctx, domain.Key{Kind: kind, Workspace: h.live.WorkspaceID, ID: prefix}, "", 10, fresh, func(domain.Record) error { n++; return nil }))
		return n
	}
	h.waitUntil(30*time.Second, "the deletion is complete", func() bool {
		n := rows("doomed", "", func() domain.Record { return &domain.DeletedCampaign{} })
		for _, w := range hooks.Data {
			n += rows("delivery", w.ID+"/", func() domain.Record { return &domain.Delivery{} })
		}
		return n == 0
	})
	h.shutdown()
	assert.Empty(t, h.storedTraces(traces))
	h.start()
	u, err := h.services().Usage.Usage(ctx, h.live, billing.UsageQuery{From: time.Now().AddDate(0, 0, -1), To: time.Now()})
	require.NoError(t, err)
	assert.Equal(t, 4, u.Total.Attempts, "billed attempts stay in the usage")
}

// storedTraces returns the store keys and blob names that contain any of the ids. The fixture must be stopped. The
// usage ledger, the event log and the sequence numbers may contain the ids and are not searched.
func (h *fixture) storedTraces(ids []string) []string {
	h.Helper()
	db, err := cockroach.Open(filepath.Join(h.dir, "store"), &cockroach.Options{ReadOnly: true})
	require.NoError(h, err)
	defer func() { require.NoError(h, db.Close()) }()
	it, err := db.NewIter(nil)
	require.NoError(h, err)
	var left []string
	for ok := it.First(); ok; ok = it.Next() {
		k := string(it.Key())
		if k[0] == 'q' || k[0] == 'e' || strings.HasPrefix(k, "rledger/") || strings.HasPrefix(k, "xledger/") {
			continue
		}
		for _, id := range ids {
			if strings.Contains(k, id) {
				left = append(left, strings.ReplaceAll(k, "\x00", " "))
			}
		}
	}
	require.NoError(h, it.Close())
	require.NoError(h, filepath.WalkDir(filepath.Join(h.dir, "blobs"), func(path string, _ os.DirEntry, err error) error {
		for _, id := range ids {
			if err == nil && strings.Contains(path, id) {
				left = append(left, path)
			}
		}
		return err
	}))
	return left
}

func TestCampaignWebhookUpdateKeepsConcurrentEndpointChanges(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	created, err := d.Campaigns.CreateCampaign(ctx, h.test, &domain.Campaign{
		Name: "Reminders", Status: domain.CampaignDraft, AgentID: h.createAgent(h.test, keyMenuPathway()), DefaultCountry: "US", Schedule: domain.Schedule{Timezone: "UTC"},
		Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 2}, Retry: domain.Retry{MaxAttempts: 1},
		Webhooks: map[string]string{"campaign.started": h.receiver.url + "/a", "campaign.completed": h.receiver.url + "/b"},
	}, "", nil)
	require.NoError(t, err)
	before := h.endpointsOf(created.Campaign.ID)
	stored, gone := before.ids["/a"], before.ids["/b"]
	var once sync.Once
	m.inject(func(c commit.Change, do func() error) error {
		for _, r := range c.Puts {
			if _, ok := r.(*domain.Campaign); ok {
				once.Do(func() { // between the read of the endpoints and the commit
					_, failed := d.Webhooks.RotateWebhook(ctx, h.test, stored, "another secret", 0, func(*domain.Webhook) error { return nil })
					require.NoError(t, failed)
					_, failed = d.Webhooks.PauseWebhook(ctx, h.test, stored)
					require.NoError(t, failed)
					require.NoError(t, d.Webhooks.DeleteWebhook(ctx, h.test, gone))
				})
			}
		}
		return do()
	}, nil)
	_, _, err = d.Campaigns.UpdateCampaign(ctx, h.test, created.Campaign.ID, func(c *domain.Campaign) error {
		c.Webhooks = map[string]string{"campaign.progress": h.receiver.url + "/a"}
		return nil
	})
	require.NoError(t, err)
	m.inject(nil, nil)
	now, err := d.Webhooks.Webhook(ctx, h.test, stored)
	require.NoError(t, err)
	assert.Equal(t, []string{"campaign.progress"}, now.Events)
	assert.Equal(t, "another secret", now.Secret)
	assert.Equal(t, domain.WebhookPaused, now.Status)
	assert.Equal(t, map[string]string{"/a": stored}, h.endpointsOf(created.Campaign.ID).ids)
}

func TestCampaignWebhookUpdateChangesTheEndpoints(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	created, err := d.Campaigns.CreateCampaign(ctx, h.test, &domain.Campaign{
		Name: "c", Status: domain.CampaignDraft, AgentID: h.createAgent(h.test, keyMenuPathway()), DefaultCountry: "US", Schedule: domain.Schedule{Timezone: "UTC"},
		Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 2}, Retry: domain.Retry{MaxAttempts: 1},
		Webhooks: map[string]string{"campaign.started": h.receiver.url + "/a", "campaign.completed": h.receiver.url + "/b"},
	}, "a secret of mine", nil)
	require.NoError(t, err)
	assert.Equal(t, "a secret of mine", created.WebhookSecret)
	id := created.Campaign.ID
	before := h.endpointsOf(id)
	_, secret, err := d.Campaigns.UpdateCampaign(ctx, h.test, id, func(c *domain.Campaign) error {
		c.Webhooks = map[string]string{"campaign.started": h.receiver.url + "/a", "campaign.progress": h.receiver.url + "/a", "campaign.completed": h.receiver.url + "/c"}
		return nil
	})
	require.NoError(t, err)
	after := h.endpointsOf(id)
	assert.Equal(t, map[string][]string{"/a": {"campaign.started"}, "/b": {"campaign.completed"}}, before.events)
	assert.Equal(t, map[string][]string{"/a": {"campaign.progress", "campaign.started"}, "/c": {"campaign.completed"}}, after.events)
	assert.Equal(t, before.ids["/a"], after.ids["/a"])
	assert.NotEmpty(t, secret)
	assert.NotEqual(t, "a secret of mine", secret)
	_, secret, err = d.Campaigns.UpdateCampaign(ctx, h.test, id, func(c *domain.Campaign) error { c.Pacing.MaxConcurrent = 1; return nil })
	require.NoError(t, err)
	assert.Empty(t, secret, "no endpoint is new")
	assert.Equal(t, after, h.endpointsOf(id))

	user := h.test
	user.UserID = "user-17"
	_, _, err = d.Campaigns.UpdateCampaign(ctx, user, id, func(c *domain.Campaign) error {
		c.Webhooks = map[string]string{"campaign.started": h.receiver.url + "/d"}
		return nil
	})
	assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(err), "an endpoint would outlive the token")
	twin := *created.Campaign
	twin.Meta = domain.Meta{}
	_, err = d.Campaigns.CreateCampaign(ctx, user, &twin, "", nil)
	assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(err))
	assert.Equal(t, after, h.endpointsOf(id))
	_, _, err = d.Campaigns.UpdateCampaign(ctx, user, id, func(c *domain.Campaign) error {
		c.Webhooks = map[string]string{"campaign.started": h.receiver.url + "/a"}
		return nil
	})
	require.NoError(t, err, "an existing endpoint may get fewer events")
}

type campaignEndpoints struct {
	events map[string][]string
	ids    map[string]string
}

func (h *fixture) endpointsOf(campaignID string) campaignEndpoints {
	h.Helper()
	l, err := h.services().Webhooks.ListWebhooks(h.Context(), h.test, webhooks.Query{CampaignID: campaignID, PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(h, err)
	out := campaignEndpoints{map[string][]string{}, map[string]string{}}
	for _, w := range l.Data {
		path := strings.TrimPrefix(w.URL, h.receiver.url)
		out.events[path], out.ids[path] = w.Events, w.ID
	}
	return out
}
