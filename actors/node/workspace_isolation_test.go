package node_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/campaigns"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/forecast"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

var (
	here      = netip.MustParseAddr("127.0.0.1")
	elsewhere = netip.MustParseAddr("192.0.2.7")
)

// workspaceResources contains the id of one resource of each kind. text is the secret text of the API key.
type workspaceResources struct {
	agent, pathway, campaign, call, trunk, number, webhook, key, text, event string
}

func (h *fixture) createResources(p domain.Principal, phone string) workspaceResources {
	h.Helper()
	ctx, d := h.Context(), h.services()
	var e workspaceResources
	e.agent = h.createAgent(p, keyMenuPathway())
	a, err := d.Agents.Agent(ctx, p, e.agent)
	require.NoError(h, err)
	e.pathway = a.PathwayID
	e.campaign = h.createCampaign(p, e.agent, carrierNumber(1, 1, "11"))
	t, err := d.Trunks.CreateTrunk(ctx, p, &domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}, NumberFormat: "e164", Prefixes: []string{"+44"}})
	require.NoError(h, err)
	e.trunk = t.ID
	n, err := d.Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: phone, AgentID: e.agent, TrunkID: e.trunk})
	require.NoError(h, err)
	e.number = n.ID
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"*"}})
	require.NoError(h, err)
	e.webhook = w.ID
	k, text, err := d.Keys.CreateKey(ctx, p, record.AuditAction{}, &domain.APIKey{Meta: domain.Meta{Environment: p.Environment}, Name: "child", Permissions: []domain.Permission{domain.AllRead}})
	require.NoError(h, err)
	e.key, e.text = k.ID, text
	c, err := d.Calls.PlaceCall(ctx, p, domain.NewCall{To: carrierNumber(1, 2, "11"), AgentID: e.agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute, Record: true})
	require.NoError(h, err)
	e.call = c.ID
	h.waitUntil(15*time.Second, "the call has ended and its recording is stored", func() bool { c := h.getCall(p, e.call); return c.Final() && !c.Processing })
	list, err := d.Events.ListEvents(ctx, p, events.Query{Limit: 1})
	require.NoError(h, err)
	e.event = list.Data[0].ID
	return e
}

// errorOf returns the error of a function call and drops its other result.
func errorOf[T any](_ T, err error) error { return err }

// readFuncs returns, for each service function that reads a resource by its id, a function that calls it.
func (h *fixture) readFuncs(p domain.Principal, e workspaceResources) map[string]func() error {
	ctx, d := h.Context(), h.services()
	return map[string]func() error{
		"agent": func() error { return errorOf(d.Agents.Agent(ctx, p, e.agent)) },
		"edit agent": func() error {
			return errorOf(d.Agents.UpdateAgent(ctx, p, e.agent, func(*domain.Agent) error { return nil }))
		},
		"pathway": func() error { return errorOf(d.Pathways.Pathway(ctx, p, e.pathway)) },
		"edit pathway": func() error {
			return errorOf(d.Pathways.UpdatePathway(ctx, p, e.pathway, func(*domain.Pathway) error { return nil }))
		},
		"campaign": func() error { return errorOf(d.Campaigns.Campaign(ctx, p, e.campaign)) },
		"status":   func() error { return errorOf(d.Campaigns.CampaignStatus(ctx, p, e.campaign)) },
		"simulate": func() error {
			return errorOf(d.Forecasts.ForecastCampaign(ctx, p, e.campaign, forecast.Request{Assume: keepAssumptions}))
		},
		"contacts": func() error {
			return errorOf(d.Contacts.ListContacts(ctx, p, e.campaign, contactsservice.Query{Limit: 1}))
		},
		"results": func() error { return errorOf(d.Contacts.CampaignResults(ctx, p, e.campaign)) },
		"upload": func() error {
			return errorOf(d.Contacts.AddContacts(ctx, p, e.campaign, contactRows(carrierNumber(1, 3, "11"))))
		},
		"list calls": func() error {
			return errorOf(d.Calls.ListCalls(ctx, p, calls.Query{CampaignID: e.campaign, PageQuery: record.PageQuery{Limit: 1}}))
		},
		"call":       func() error { return errorOf(d.Calls.Call(ctx, p, e.call)) },
		"transcript": func() error { return errorOf(d.Calls.Transcript(ctx, p, e.call)) },
		"recording": func() error {
			r, err := d.Recordings.Recording(ctx, p, e.call)
			if err == nil {
				err = r.Body.Close()
			}
			return err
		},
		"trunk": func() error { return errorOf(d.Trunks.Trunk(ctx, p, e.trunk)) },
		"edit trunk": func() error {
			return errorOf(d.Trunks.UpdateTrunk(ctx, p, e.trunk, func(*domain.Trunk) error { return nil }))
		},
		"number": func() error { return errorOf(d.Numbers.Number(ctx, p, e.number)) },
		"edit number": func() error {
			return errorOf(d.Numbers.UpdateNumber(ctx, p, e.number, func(*domain.PhoneNumber) error { return nil }))
		},
		"webhook": func() error { return errorOf(d.Webhooks.Webhook(ctx, p, e.webhook)) },
		"edit webhook": func() error {
			return errorOf(d.Webhooks.UpdateWebhook(ctx, p, e.webhook, func(*domain.Webhook) error { return nil }))
		},
		"pause webhook":  func() error { return errorOf(d.Webhooks.PauseWebhook(ctx, p, e.webhook)) },
		"resume webhook": func() error { return errorOf(d.Webhooks.ResumeWebhook(ctx, p, e.webhook)) },
		"test webhook":   func() error { return errorOf(d.Webhooks.TestWebhook(ctx, p, e.webhook, event.WebhookTest)) },
		"webhook log":    func() error { return errorOf(d.Webhooks.WebhookLog(ctx, p, e.webhook, record.PageQuery{Limit: 1})) },
		"failed deliveries": func() error {
			return errorOf(d.Webhooks.FailedDeliveries(ctx, p, e.webhook, record.PageQuery{Limit: 1}))
		},
		"key": func() error { return errorOf(d.Keys.APIKey(ctx, p, e.key)) },
		"edit key": func() error {
			return errorOf(d.Keys.UpdateKey(ctx, p, e.key, func(*domain.APIKey) error { return nil }))
		},
	}
}

// deleteFuncs returns, for each service function that ends or deletes a resource, a function that calls it.
func (h *fixture) deleteFuncs(p domain.Principal, e workspaceResources) map[string]func() error {
	ctx, d := h.Context(), h.services()
	return map[string]func() error{
		"start":          func() error { return errorOf(d.Campaigns.StartCampaign(ctx, p, e.campaign)) },
		"pause":          func() error { return errorOf(d.Campaigns.PauseCampaign(ctx, p, e.campaign)) },
		"resume":         func() error { return errorOf(d.Campaigns.ResumeCampaign(ctx, p, e.campaign)) },
		"cancel":         func() error { return errorOf(d.Campaigns.CancelCampaign(ctx, p, e.campaign, true)) },
		"hang up":        func() error { return errorOf(d.Calls.HangupCall(ctx, p, e.call)) },
		"delete agent":   func() error { return d.Agents.DeleteAgent(ctx, p, e.agent) },
		"delete pathway": func() error { return d.Pathways.DeletePathway(ctx, p, e.pathway) },
		"delete trunk":   func() error { return d.Trunks.DeleteTrunk(ctx, p, e.trunk) },
		"delete number":  func() error { return d.Numbers.DeleteNumber(ctx, p, e.number) },
		"delete webhook": func() error { return d.Webhooks.DeleteWebhook(ctx, p, e.webhook) },
		"revoke key": func() error {
			return errorOf(d.Keys.RevokeKey(ctx, p, record.AuditAction{}, e.key, keys.RevokeRequest{}))
		},
	}
}

// listSizes returns, by resource kind, how many resources the list of that kind contains.
func (h *fixture) listSizes(p domain.Principal) map[string]int {
	h.Helper()
	ctx, d, page := h.Context(), h.services(), record.PageQuery{Limit: 100}
	out := make(map[string]int)
	agents, err := d.Agents.ListAgents(ctx, p, page)
	require.NoError(h, err)
	pathways, err := d.Pathways.ListPathways(ctx, p, page)
	require.NoError(h, err)
	campaigns, err := d.Campaigns.ListCampaigns(ctx, p, campaigns.Query{PageQuery: page})
	require.NoError(h, err)
	calls, err := d.Calls.ListCalls(ctx, p, calls.Query{PageQuery: page})
	require.NoError(h, err)
	numbers, err := d.Numbers.ListNumbers(ctx, p, page)
	require.NoError(h, err)
	hooks, err := d.Webhooks.ListWebhooks(ctx, p, webhooks.Query{PageQuery: page})
	require.NoError(h, err)
	events, err := d.Events.ListEvents(ctx, p, events.Query{Limit: 100})
	require.NoError(h, err)
	out["agents"], out["pathways"], out["campaigns"], out["calls"] = len(agents.Data), len(pathways.Data), len(campaigns.Data), len(calls.Data)
	out["numbers"], out["webhooks"], out["events"] = len(numbers.Data), len(hooks.Data), len(events.Data)
	return out
}

// createOtherWorkspace creates a second workspace and restarts the node, which starts the actors of the workspace.
func (h *fixture) createOtherWorkspace() domain.Principal {
	h.Helper()
	ctx := context.Background()
	now := time.Now().UTC().Truncate(time.Millisecond)
	w := &domain.Workspace{
		Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixWorkspace), Object: "workspace", Environment: domain.Live, CreatedAt: now, UpdatedAt: now},
		Name: "other", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}},
	}
	w.WorkspaceID = w.ID
	_, err := h.store.Apply(ctx, commit.Change{Workspace: w.ID, Puts: []domain.Record{w}})
	require.NoError(h, err)
	_, text, err := h.keys.Create(ctx, record.Author{}, &domain.APIKey{
		Meta: domain.Meta{WorkspaceID: w.ID, Environment: domain.Live}, Name: "other", Operator: true, Permissions: []domain.Permission{domain.AllRead, domain.AllWrite},
	})
	require.NoError(h, err)
	h.shutdown()
	h.start()
	p, err := h.services().Keys.Authenticate(ctx, text, here)
	require.NoError(h, err)
	return p
}

func TestPrincipalsCannotAccessOtherWorkspacesOrEnvironments(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	other := h.createOtherWorkspace()
	mine := h.createResources(h.live, "+12025550101")
	for name, open := range h.readFuncs(h.live, mine) {
		require.NoError(t, open(), name)
	}
	nothing := map[string]int{"agents": 0, "pathways": 0, "campaigns": 0, "calls": 0, "numbers": 0, "webhooks": 0, "events": 0}
	for who, p := range map[string]domain.Principal{"another workspace": other, "a test key": h.test} {
		ways := h.readFuncs(p, mine)
		maps.Copy(ways, h.deleteFuncs(p, mine))
		for name, open := range ways {
			assert.Equal(t, domain.CodeNotFound, domain.CodeOf(open()), "%s: %s", who, name)
		}
		assert.Equal(t, nothing, h.listSizes(p), who)
	}
	_, err := h.services().Events.ListEvents(t.Context(), other, events.Query{After: mine.event, Limit: 10})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
	_, err = h.services().Numbers.CreateNumber(t.Context(), other, &domain.PhoneNumber{Number: "+12025550101"})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err), "a number belongs to one workspace")
	_, err = h.services().Agents.CreateAgent(t.Context(), other, &domain.Agent{Name: "thief", PathwayID: mine.pathway})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
	_, err = h.services().Calls.PlaceCall(t.Context(), other, domain.NewCall{To: carrierNumber(1, 4, "11"), From: "+12025550199", AgentID: mine.agent})
	assert.Equal(t, domain.CodeCallerIDNotAllowed, domain.CodeOf(err))
	for name, open := range h.readFuncs(h.live, mine) { // the failed requests changed nothing
		require.NoError(t, open(), name)
	}
}

func TestTestKeyCallsOnlyTheTestCarrier(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, err := d.Trunks.CreateTrunk(ctx, h.live, &domain.Trunk{Name: "real", Proxies: []domain.Proxy{{Host: "127.0.0.1", Port: 9, Transport: "udp"}}, NumberFormat: "e164"})
	require.NoError(t, err)
	hook, err := d.Webhooks.CreateWebhook(ctx, h.live, &domain.Webhook{URL: h.receiver.url, Events: []string{"*"}})
	require.NoError(t, err)
	c, err := d.Calls.PlaceCall(ctx, h.test, domain.NewCall{To: "+12025550143", AgentID: h.createAgent(h.test, keyMenuPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(t, err)
	h.waitUntil(15*time.Second, "the call has ended", func() bool { return h.getCall(h.test, c.ID).Final() })
	now := h.getCall(h.test, c.ID)
	assert.Equal(t, "confirmed", now.Disposition, now.EndedReason)
	trunk, err := d.Trunks.Trunk(ctx, h.test, now.Legs[0].TrunkID)
	require.NoError(t, err)
	assert.True(t, trunk.Simulator)
	assert.Len(t, h.phoneLog.all(), 1)
	log, err := d.Webhooks.WebhookLog(ctx, h.live, hook.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, log.Data, "a live endpoint gets no test events")
	ledger := 0
	_, err = h.store.List(ctx, commit.Query{Kind: "ledger", Workspace: h.live.WorkspaceID, Index: "all", Limit: 10}, func() domain.Record { return &domain.LedgerRow{} },
		func(domain.Record) error { ledger++; return nil })
	require.NoError(t, err)
	assert.Zero(t, ledger, "tests are free")
}

func TestRevokedExpiredOrRestrictedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	make1 := func(p domain.Principal, edit func(*domain.APIKey)) (domain.Principal, string, string) {
		k := &domain.APIKey{Meta: domain.Meta{Environment: domain.Live}, Name: "k", Permissions: []domain.Permission{domain.AllRead}}
		if edit != nil {
			edit(k)
		}
		created, text, err := d.Keys.CreateKey(ctx, p, record.AuditAction{}, k)
		require.NoError(t, err)
		who, _ := d.Keys.Authenticate(ctx, text, here)
		return who, created.ID, text
	}
	code := func(text string, from netip.Addr) domain.Code {
		_, err := d.Keys.Authenticate(ctx, text, from)
		return domain.CodeOf(err)
	}

	who, id, text := make1(h.live, nil)
	_, _, child := make1(who, nil)
	grand, _, _ := make1(who, nil)
	_, _, grandchild := make1(grand, nil)
	for _, k := range []string{text, child, grandchild} {
		assert.Empty(t, code(k, elsewhere))
	}
	require.NoError(t, errorOf(d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, id, keys.RevokeRequest{})))
	for _, k := range []string{text, child, grandchild} {
		assert.Equal(t, domain.CodeExpiredAPIKey, code(k, here), "a key is revoked with the keys that it created")
	}

	_, id, text = make1(h.live, func(k *domain.APIKey) { k.AllowedIPs = []string{"127.0.0.0/8", "2001:db8::/32"} })
	assert.Empty(t, code(text, here))
	assert.Empty(t, code(text, netip.MustParseAddr("2001:db8::1")))
	assert.Equal(t, domain.CodeIPNotAllowed, code(text, elsewhere))
	_, err := d.Keys.UpdateKey(ctx, h.live, id, func(k *domain.APIKey) error { k.AllowedIPs = []string{"192.0.2.0/24"}; return nil })
	require.NoError(t, err)
	assert.Equal(t, domain.CodeIPNotAllowed, code(text, here), "a change takes effect with its reply")
	assert.Empty(t, code(text, elsewhere))

	past := time.Now().Add(-time.Second)
	_, _, old := make1(h.live, func(k *domain.APIKey) { k.ExpiresAt = &past })
	assert.Equal(t, domain.CodeExpiredAPIKey, code(old, here))
	assert.Equal(t, domain.CodeInvalidAPIKey, code(text[:len(text)-1]+"!", elsewhere))

	soon := time.Now().Add(time.Hour)
	brief, briefID, _ := make1(h.live, func(k *domain.APIKey) { k.ExpiresAt = &soon })
	_, _, endless := make1(brief, nil)
	adopted, adoptedID, stored := make1(brief, nil)
	_, _, below := make1(adopted, nil)
	adopt := func(k *domain.APIKey) error { k.ParentID = ""; return nil }
	_, err = d.Keys.UpdateKey(ctx, h.live, adoptedID, adopt)
	require.NoError(t, err)
	_, err = d.Keys.UpdateKey(ctx, h.live, briefID, func(k *domain.APIKey) error { k.ExpiresAt = &past; return nil })
	require.NoError(t, err)
	assert.Equal(t, domain.CodeExpiredAPIKey, code(endless, here), "a key outlives no parent that has expired")
	assert.Empty(t, code(stored, here), "an adopted key is still valid")
	assert.Empty(t, code(below, here), "keys of the adopted key are still valid")
	_, err = d.Keys.UpdateKey(ctx, h.live, grand.KeyID, adopt)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), "a key that ended with its parent cannot be changed")

	h.shutdown()
	h.start()
	d = h.services()
	assert.Equal(t, domain.CodeExpiredAPIKey, code(grandchild, here), "the state survives a restart")
	assert.Empty(t, code(stored, here))
	assert.Empty(t, code(text, elsewhere))
}

func TestSigningKeysSurviveRestartAndTokensEndWithTheirAPIKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	created := 0
	fresh := func() (string, string, error) { created++; return "public", "a secret seed", nil }
	first, err := d.Tokens.EnsureSigningKeys(ctx, fresh)
	require.NoError(t, err)
	require.Len(t, first.Verifying, 1)
	assert.Same(t, first.Verifying[0], first.Active, "the first signing key signs at once")
	again, err := d.Tokens.EnsureSigningKeys(ctx, fresh)
	require.NoError(t, err)
	assert.Equal(t, first, again)

	key := &domain.APIKey{Meta: domain.Meta{Environment: domain.Live}, Name: "k", Permissions: []domain.Permission{domain.AllRead}}
	key, _, err = d.Keys.CreateKey(ctx, h.live, record.AuditAction{}, key)
	require.NoError(t, err)
	alive := func() domain.Code { return domain.CodeOf(d.Keys.CheckKeyIsValid(ctx, h.live.WorkspaceID, key.ID)) }
	assert.Empty(t, alive())
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(d.Keys.CheckKeyIsValid(ctx, "ws_other", key.ID)), "of another workspace")

	h.shutdown()
	h.start()
	d = h.services()
	k, err := d.Tokens.SigningKey(ctx, first.Active.ID)
	require.NoError(t, err)
	require.NotNil(t, k, "tokens signed before a restart stay valid")
	assert.Equal(t, "a secret seed", k.Private)
	none, err := d.Tokens.SigningKey(ctx, "jwk_nobody")
	require.NoError(t, err)
	assert.Nil(t, none)
	assert.Equal(t, 1, created)
	assert.Empty(t, alive())
	require.NoError(t, errorOf(d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, key.ID, keys.RevokeRequest{})))
	assert.Equal(t, domain.CodeExpiredToken, alive())
}

func TestRequestWithAnIdempotencyKeyRunsOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx := t.Context()
	key := func(k string) record.IdempotencyKey {
		return record.IdempotencyKey{Key: k, Method: "POST", Path: "/v1/calls"}
	}
	reserve := func(p domain.Principal, k record.IdempotencyKey) (*record.StoredReply, domain.Code) {
		_, r, err := h.services().Idempotency.Reserve(ctx, p, k, "")
		return r, domain.CodeOf(err)
	}
	free := func(p domain.Principal, k record.IdempotencyKey) {
		t.Helper()
		r, code := reserve(p, k)
		assert.Nil(t, r)
		assert.Empty(t, code)
	}

	free(h.live, key("a"))
	_, code := reserve(h.live, key("a"))
	assert.Equal(t, domain.CodeIdempotencyConflict, code)
	free(h.test, key("a")) // the key of another credential
	free(h.live, record.IdempotencyKey{Key: "a", Method: "POST", Path: "/v1/agents"})
	reply := record.StoredReply{Digest: "d", Sealed: []byte("sealed")}
	require.NoError(t, h.services().Idempotency.StoreReply(ctx, h.live, key("a"), reply))
	r, code := reserve(h.live, key("a"))
	assert.Empty(t, code)
	assert.Equal(t, &reply, r)
	free(h.live, key("b"))
	require.NoError(t, h.services().Idempotency.Release(ctx, h.live, key("b"), false))
	free(h.live, key("b"))

	var wait sync.WaitGroup
	got := make(chan bool, 20)
	for range 20 {
		wait.Go(func() {
			_, r, err := h.services().Idempotency.Reserve(ctx, h.live, key("c"), "")
			got <- err == nil && r == nil
		})
	}
	wait.Wait()
	close(got)
	assert.Len(t, slices.DeleteFunc(slices.Collect(chanSeq(got)), func(ok bool) bool { return !ok }), 1, "one of many concurrent requests runs")

	h.shutdown()
	h.start()
	r, code = reserve(h.live, key("a"))
	assert.Empty(t, code)
	assert.Equal(t, &reply, r, "an answer outlives the process")
	free(h.live, key("b")) // the result of the first request is returned
	_, code = reserve(h.live, key("b"))
	assert.Equal(t, domain.CodeIdempotencyConflict, code)
}

func chanSeq[T any](c <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	}
}

func TestEventListContinuesAfterAnyEvent(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	for i := range 25 {
		_, err := d.Agents.UpdateAgent(ctx, h.live, agent, func(a *domain.Agent) error { a.Name = fmt.Sprint("name ", i); return nil })
		require.NoError(t, err)
	}
	testing := h.createAgent(h.test, keyMenuPathway())
	_, err := d.Agents.UpdateAgent(ctx, h.test, testing, func(a *domain.Agent) error { a.Name = "x"; return nil })
	require.NoError(t, err)
	all := h.events(h.live.WorkspaceID)
	require.Len(t, all, 26)
	var got []string
	after := ""
	for pages := 0; ; pages++ {
		require.Less(t, pages, 10)
		page, err := d.Events.ListEvents(ctx, h.live, events.Query{After: after, Limit: 7})
		require.NoError(t, err)
		for _, e := range page.Data {
			got = append(got, e.ID)
		}
		if page.Next == "" {
			break
		}
		after = page.Next
	}
	want := make([]string, 0, 25)
	for _, e := range all[:25] {
		want = append(want, e.ID)
	}
	assert.Equal(t, want, got)
	none, err := d.Events.ListEvents(ctx, h.live, events.Query{Types: []string{"call.*"}, Limit: 7})
	require.NoError(t, err)
	assert.Empty(t, none.Data)
	for id, code := range map[string]domain.Code{
		mailbox.NewID(domain.PrefixEvent): domain.CodeValidation, "evt_x": domain.CodeValidation, "x": domain.CodeValidation, agent: domain.CodeValidation,
		"evt_01ARZ3NDEKTSV4RRFFQ69G5FAV": domain.CodeCursorExpired, // an id of the year 2016
	} {
		_, err := d.Events.ListEvents(ctx, h.live, events.Query{After: id, Limit: 7})
		assert.Equal(t, code, domain.CodeOf(err), id)
		_, err = d.Events.FollowEvents(ctx, h.live, events.Query{After: id})
		assert.Equal(t, code, domain.CodeOf(err), id)
		_, err = d.Events.Event(ctx, h.live, id)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), id)
	}
	one, err := d.Events.Event(ctx, h.live, all[3].ID)
	require.NoError(t, err)
	assert.Equal(t, all[3], one)
	_, err = d.Events.Event(ctx, h.test, all[3].ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "the event belongs to the other environment")
}

func TestEqualActionsWithinAMinuteShareOneAuditRow(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	used := record.AuditAction{Type: "auth", Action: "api_key.used", IP: here, UserAgent: "curl"}
	for range 50 {
		d.Audit.RecordSoon(ctx, h.live, used)
	}
	far := used
	far.IP = elsewhere
	d.Audit.RecordSoon(ctx, h.live, far)
	d.Audit.RecordSoon(ctx, h.live, record.AuditAction{Type: "auth", Action: "auth.failed", IP: here, Failed: true, Reason: "ip_not_allowed"})
	d.Audit.RecordSoon(ctx, h.test, used)
	read := func(p domain.Principal, action string) (rows, count int) {
		list, err := d.Audit.ListAudit(ctx, p, audit.Query{Action: action, PageQuery: record.PageQuery{Limit: 100}})
		require.NoError(t, err)
		for _, e := range list.Data {
			rows, count = rows+1, count+e.Count
		}
		return rows, count
	}
	h.waitUntil(5*time.Second, "the actions are stored", func() bool { _, n := read(h.live, "api_key.used"); return n == 52 })
	rows, _ := read(h.live, "api_key.used")
	assert.LessOrEqual(t, rows, 6, "three, or six where the minute turned")
	rows, n := read(h.live, "auth.failed")
	assert.Equal(t, []int{1, 1}, []int{rows, n})
	_, n = read(h.test, "api_key.used")
	assert.Equal(t, 1, n, "a test key sees actions of test keys")
	d.Audit.RecordSoon(ctx, h.live, record.AuditAction{Type: "admin", Action: "trunk.created", IP: here})
	h.shutdown()
	h.start()
	d = h.services()
	_, n = read(h.live, "trunk.created")
	assert.Equal(t, 1, n, "waiting audit rows are stored at the stop")
}

func TestRequestForAWorkspaceThatIsStillLoadingGetsUnavailable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d := services.New(&services.Config{Store: h.store, Keys: h.keys, Node: node.Config{Log: slog.New(slog.DiscardHandler)}})
	_, err := d.Workspaces.Workspace(t.Context(), h.test)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "%v", err)
	_, err = h.services().Workspaces.Workspace(t.Context(), domain.Principal{WorkspaceID: "ws_01J00000000000000000000000"})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "%v", err)
}
