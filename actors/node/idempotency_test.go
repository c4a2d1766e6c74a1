package node_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// createFuncs returns a function for each kind of resource. The function creates one resource and returns its id.
// Its context may contain the idempotency key of a request.
func (h *fixture) createFuncs(agent string) map[string]func(context.Context) (string, error) {
	d := h.services()
	return map[string]func(context.Context) (string, error){
		"agent": func(ctx context.Context) (string, error) {
			return idOf(d.Agents.CreateAgent(ctx, h.live, &domain.Agent{Name: "a", FirstMessage: "Hello.", Extension: "77"}))
		},
		"trunk": func(ctx context.Context) (string, error) {
			return idOf(d.Trunks.CreateTrunk(ctx, h.live, &domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}, NumberFormat: "e164", Prefixes: []string{"+44"}}))
		},
		"number": func(ctx context.Context) (string, error) {
			return idOf(d.Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: "+12025550177"}))
		},
		"phone": func(ctx context.Context) (string, error) {
			return idOf(d.Phones.CreatePhone(ctx, h.live, &domain.Phone{Extension: "78", Username: "u78", Name: "p"}))
		},
		"list": func(ctx context.Context) (string, error) {
			return idOf(d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "l"}))
		},
		"user": func(ctx context.Context) (string, error) {
			return idOf(d.Users.CreateUser(ctx, h.live, &domain.User{Name: "Ada", Role: "viewer"}))
		},
		"webhook": func(ctx context.Context) (string, error) {
			return idOf(d.Webhooks.CreateWebhook(ctx, h.live, &domain.Webhook{URL: h.receiver.url, Events: []string{"*"}}))
		},
		"key": func(ctx context.Context) (string, error) {
			k, text, err := d.Keys.CreateKey(ctx, h.live, record.AuditAction{}, &domain.APIKey{Name: "k", Permissions: []domain.Permission{domain.AllRead}})
			if err == nil {
				_, err = d.Keys.Authenticate(ctx, text, here)
			}
			return idOf(k, err)
		},
		"client": func(ctx context.Context) (string, error) {
			c, _, err := d.OAuth.CreateClient(ctx, h.live, &domain.OAuthClient{Name: "c", Scopes: []domain.Permission{domain.AllRead}})
			return idOf(c, err)
		},
		"campaign": func(ctx context.Context) (string, error) {
			created, err := d.Campaigns.CreateCampaign(ctx, h.live, &domain.Campaign{
				Name: "c", Status: domain.CampaignDraft, AgentID: agent, DefaultCountry: "US", Webhooks: map[string]string{"campaign.started": h.receiver.url},
			}, "", contactRows(phoneNumber(1), phoneNumber(2)))
			if err == nil {
				assert.Equal(h, 2, created.Upload.Summary.Accepted)
				assert.NotEmpty(h, created.WebhookSecret)
			}
			return idOf(created.Campaign, err)
		},
		"call": func(ctx context.Context) (string, error) {
			return idOf(d.Calls.PlaceCall(ctx, h.live, domain.NewCall{To: carrierNumber(7, 7, "11"), AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute}))
		},
		"bulk": func(ctx context.Context) (string, error) {
			return idOf(d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkDNC, Items: []bulk.NewItem{{Number: &domain.RawNumber{Phone: phoneNumber(3)}}}}))
		},
		"source": func(ctx context.Context) (string, error) {
			k, err := h.knowledgeBaseID()
			if err != nil {
				return "", err
			}
			return idOf(d.Knowledge.AddSource(ctx, h.live, k, domain.NewKnowledgeSource{Type: domain.SourceText, Name: "s", ContentType: "text/plain", Text: "Words."}))
		},
		"message": func(ctx context.Context) (string, error) {
			return idOf(d.SMS.SendMessage(ctx, h.test, domain.NewMessage{To: carrierNumber(6, 1, "11"), Body: "Hello."}))
		},
		"reply": func(ctx context.Context) (string, error) {
			return idOf(d.SMS.TestInboundMessage(ctx, h.test, sms.InboundMessage{From: carrierNumber(6, 1, "11"), To: carrierNumber(6, 2, "11"), Body: "Hello."}))
		},
		"export": func(ctx context.Context) (string, error) {
			return idOf(d.Exports.CreateExport(ctx, h.live, &domain.Export{Type: domain.ExportUsage, Format: "csv"}))
		},
	}
}

// knowledgeBaseID returns the id of the only knowledge base of the fixture. The first call creates it.
func (h *fixture) knowledgeBaseID() (string, error) {
	l, err := h.services().Knowledge.ListKnowledge(h.Context(), h.live, record.PageQuery{Limit: 1})
	if err == nil && len(l.Data) > 0 {
		return l.Data[0].ID, nil
	}
	return idOf(h.services().Knowledge.CreateKnowledge(h.Context(), h.live, &domain.KnowledgeBase{Name: "k"}, nil))
}

func idOf[T interface{ Base() *domain.Meta }](v T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return v.Base().ID, nil
}

func TestIdempotentRequestInterruptedByACrashHasOneEffect(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	agent := h.createAgent(h.live, waitingPathway())
	key := func(name string) record.IdempotencyKey {
		return record.IdempotencyKey{Key: name, Method: "POST", Path: "/v1/" + name}
	}
	first := map[string]string{}
	for name, create := range h.createFuncs(agent) {
		ctx, reply, err := h.services().Idempotency.Reserve(t.Context(), h.live, key(name), "digest")
		require.NoError(t, err)
		require.Nil(t, reply)
		first[name], err = create(ctx)
		require.NoError(t, err, name)
	}
	_, _, err := h.services().Idempotency.Reserve(t.Context(), h.live, key("early"), "digest")
	require.NoError(t, err) // the key is free, because no commit happened
	h.shutdown()
	h.start()
	d := h.services()
	second := map[string]string{}
	for name, create := range h.createFuncs(agent) {
		_, _, err = d.Idempotency.Reserve(t.Context(), h.live, key(name), "another")
		assert.Equal(t, domain.CodeIdempotencyMismatch, domain.CodeOf(err))
		ctx, reply, err := d.Idempotency.Reserve(t.Context(), h.live, key(name), "digest")
		require.NoError(t, err, name)
		require.Nil(t, reply)
		second[name], err = create(ctx)
		require.NoError(t, err, name)
	}
	assert.Equal(t, first, second, "each repeated request returns its first resource")
	calls, err := d.Calls.ListCalls(t.Context(), h.live, calls.Query{PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(t, err)
	assert.Len(t, calls.Data, 1)
	agents, err := d.Agents.ListAgents(t.Context(), h.live, record.PageQuery{Limit: 100})
	require.NoError(t, err)
	assert.Len(t, agents.Data, 2)
	keys, err := d.Keys.ListKeys(t.Context(), h.live, keys.Query{PageQuery: record.PageQuery{Limit: 100}, Environment: domain.Live})
	require.NoError(t, err)
	assert.Len(t, keys.Data, 2)

	ctx, _, err := d.Idempotency.Reserve(t.Context(), h.live, key("early"), "digest")
	require.NoError(t, err)
	created, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "late"})
	require.NoError(t, err, "the request without a commit runs now")
	assert.Equal(t, "late", created.Name)
}

func TestConcurrentRequestsWithOneIdempotencyKeyRunOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	k := record.IdempotencyKey{Key: "k", Method: "POST", Path: "/v1/agents"}
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			ctx, reply, err := h.services().Idempotency.Reserve(t.Context(), h.live, k, "d")
			switch {
			case domain.CodeOf(err) == domain.CodeIdempotencyConflict || reply != nil:
				return
			case err != nil:
				t.Error(err)
				return
			}
			_, err = h.services().Agents.CreateAgent(ctx, h.live, &domain.Agent{Name: "a", FirstMessage: "Hello."})
			assert.NoError(t, err)
			assert.NoError(t, h.services().Idempotency.StoreReply(t.Context(), h.live, k, record.StoredReply{Digest: "d"}))
		})
	}
	wait.Wait()
	agents, err := h.services().Agents.ListAgents(t.Context(), h.live, record.PageQuery{Limit: 100})
	require.NoError(t, err)
	assert.Len(t, agents.Data, 1)
}

// unknownOutcomeStore performs the commits that change rows of one kind, but returns errUnknownOutcome for them.
type unknownOutcomeStore struct {
	storecache.Backend
	of string // the kind of rows
}

func (s *unknownOutcomeStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	events, err := s.Backend.Apply(ctx, c)
	if err == nil && slices.ContainsFunc(append(keysOf(c), c.Deletes...), func(k domain.Key) bool { return k.Kind == s.of }) {
		return nil, errUnknownOutcome
	}
	return events, err
}

func keysOf(c commit.Change) (keys []domain.Key) {
	for _, r := range c.Puts {
		keys = append(keys, r.Key())
	}
	return keys
}

func TestRetriedRequestReturnsTheResourceOfACommitWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	store := &unknownOutcomeStore{}
	h.wrapStore = func(s storecache.Backend) storecache.Backend { store.Backend = s; return store }
	h.start()
	d, k := h.services(), record.IdempotencyKey{Key: "k", Method: "POST", Path: "/v1/agents"}
	send := func() (*domain.Agent, error) {
		ctx, reply, err := d.Idempotency.Reserve(t.Context(), h.live, k, "d")
		require.NoError(t, err)
		require.Nil(t, reply)
		return d.Agents.CreateAgent(ctx, h.live, &domain.Agent{Name: "a", FirstMessage: "Hello."})
	}
	store.of = "agent"
	_, err := send()
	require.Error(t, err)
	require.NoError(t, d.Idempotency.Release(t.Context(), h.live, k, true))
	store.of = ""
	created, err := send()
	require.NoError(t, err, "the idempotency key is free again")
	store.of = "once"
	require.Error(t, d.Idempotency.StoreReply(t.Context(), h.live, k, record.StoredReply{Digest: "d"}))
	store.of = ""
	_, reply, err := d.Idempotency.Reserve(t.Context(), h.live, k, "d")
	require.NoError(t, err)
	assert.NotNil(t, reply, "the reply was stored")
	agents, err := d.Agents.ListAgents(t.Context(), h.live, record.PageQuery{Limit: 100})
	require.NoError(t, err)
	require.Len(t, agents.Data, 1)
	assert.Equal(t, created.ID, agents.Data[0].ID)
}
