package node_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record"
)

// observedActor records, for each row of the audit log, its resource and whether the commit contains other rows too.
type observedActor struct {
	mu   sync.Mutex
	with map[string][]string // by action: "along" or "alone", and the audited resource
}

func (w *observedActor) observeCommit(c commit.Change, do func() error) error {
	err := do()
	if err != nil { // the commit failed; after a conflict the service repeats it
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range c.Puts {
		e, ok := r.(*domain.AuditEntry)
		if !ok || e.Action == "api_key.used" {
			continue
		}
		what := "alone"
		if len(c.Puts)+len(c.Deletes) > 1 {
			what = "along"
		}
		w.with[e.Action] = append(w.with[e.Action], what+" "+e.Resource.Type+" "+e.Resource.ID)
	}
	return nil
}

func (w *observedActor) takeObserved() map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.with
	w.with = make(map[string][]string)
	return out
}

// performAudited calls do with an audit entry in its context, as the HTTP API does. The commit of the action then
// contains the audit row.
func (h *fixture) performAudited(action, object, id string, do func(ctx context.Context) error) {
	h.Helper()
	a := record.AuditAction{Type: "admin", Action: action, IP: here, UserAgent: "curl", Resource: domain.Resource{Type: object, ID: id}}
	ctx := h.services().Audit.WithAuditEntry(h.Context(), h.live, a)
	require.NoError(h, do(ctx), action)
	h.services().Audit.Record(ctx, h.live, a)
}

func TestAuditRowIsPartOfTheCommitOfTheAction(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, w := h.services(), &observedActor{with: make(map[string][]string)}
	m.inject(w.observeCommit, nil)
	// one performs an action on a resource and checks that its commit contains the audit row. named is the id of the
	// resource. It is empty if the action creates the resource.
	one := func(action, object, named string, do func(ctx context.Context) (id string, err error)) string {
		t.Helper()
		var id string
		h.performAudited(action, object, named, func(ctx context.Context) (err error) { id, err = do(ctx); return err })
		if named != "" && object != "campaign" {
			id = named
		}
		assert.Equal(t, map[string][]string{action: {"along " + object + " " + id}}, w.takeObserved())
		return id
	}
	just := func(action, object, id string, do func(ctx context.Context) error) {
		t.Helper()
		one(action, object, id, func(ctx context.Context) (string, error) { return id, do(ctx) })
	}
	p := h.live

	hook := one("webhook.created", "webhook", "", func(ctx context.Context) (string, error) {
		return idOf(d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"*"}}))
	})
	just("webhook.updated", "webhook", hook, func(ctx context.Context) error {
		return errorOf(d.Webhooks.UpdateWebhook(ctx, p, hook, func(w *domain.Webhook) error { w.Events = []string{"call.ended"}; return nil }))
	})
	just("webhook.paused", "webhook", hook, func(ctx context.Context) error { return errorOf(d.Webhooks.PauseWebhook(ctx, p, hook)) })
	just("webhook.resumed", "webhook", hook, func(ctx context.Context) error { return errorOf(d.Webhooks.ResumeWebhook(ctx, p, hook)) })
	just("webhook.deleted", "webhook", hook, func(ctx context.Context) error { return d.Webhooks.DeleteWebhook(ctx, p, hook) })

	user := one("user.created", "user", "", func(ctx context.Context) (string, error) {
		return idOf(d.Users.CreateUser(ctx, p, &domain.User{Name: "Ada", Role: "viewer"}))
	})
	just("user.updated", "user", user, func(ctx context.Context) error {
		return errorOf(d.Users.UpdateUser(ctx, p, user, func(u *domain.User) error { u.Name = "Bea"; return nil }))
	})
	var link string
	just("user.sign_in_link_created", "user", user, func(ctx context.Context) (err error) {
		link, _, err = d.Users.CreateSignInLink(ctx, p, user, allowAnyUser)
		return err
	})
	_, _, err := d.Users.SignIn(t.Context(), link, here, "browser")
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{"user.signed_in": {"along user " + user}}, w.takeObserved())
	sessions, err := d.Users.ListSessions(t.Context(), p, user, record.PageQuery{Limit: 1})
	require.NoError(t, err)
	just("user.signed_out", "user", user, func(ctx context.Context) error {
		return d.Users.EndSession(ctx, p, user, sessions.Data[0].ID, allowAnyUser)
	})
	just("user.deleted", "user", user, func(ctx context.Context) error { return d.Users.DeleteUser(ctx, p, user, allowAnyUser) })

	client := one("oauth_client.created", "oauth_client", "", func(ctx context.Context) (string, error) {
		c, _, err := d.OAuth.CreateClient(ctx, p, &domain.OAuthClient{Name: "c", Scopes: []domain.Permission{domain.AllRead}})
		return c.ID, err
	})
	crm := &domain.OAuthClient{Meta: domain.Meta{ID: client, WorkspaceID: p.WorkspaceID, Environment: p.Environment}}
	just("token.revoked", "oauth_client", client, func(ctx context.Context) error {
		return d.OAuth.RevokeOAuth(ctx, crm, "one", time.Now().Add(time.Hour))
	})
	just("oauth.consented", "oauth_client", client, func(ctx context.Context) error {
		return errorOf(d.OAuth.IssueCode(ctx, &domain.OAuthCode{Meta: domain.Meta{WorkspaceID: p.WorkspaceID, Environment: p.Environment}, ClientID: client}))
	})
	just("oauth_client.deleted", "oauth_client", client, func(ctx context.Context) error { return d.OAuth.DeleteClient(ctx, p, client) })

	key, _, err := d.Keys.CreateKey(t.Context(), p, record.AuditAction{}, &domain.APIKey{Name: "k", Permissions: []domain.Permission{domain.AllRead}})
	require.NoError(t, err)
	w.takeObserved()
	just("api_key.updated", "api_key", key.ID, func(ctx context.Context) error {
		return errorOf(d.Keys.UpdateKey(ctx, p, key.ID, func(k *domain.APIKey) error { k.Name = "j"; return nil }))
	})
	one("workspace.updated", "workspace", "", func(ctx context.Context) (string, error) {
		x, err := d.Workspaces.UpdateWorkspace(ctx, p, func(w *domain.Workspace) error { w.Name = "ours"; return nil })
		return x.ID, err
	})
	place := one("workspace.created", "workspace", "", func(ctx context.Context) (string, error) {
		x, _, _, err := d.Workspaces.CreateWorkspace(ctx, &domain.Workspace{Name: "n", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}})
		w.mu.Lock()
		delete(w.with, "api_key.created") // the first key of the workspace has an audit row of its own
		w.mu.Unlock()
		return x.ID, err
	})
	just("workspace.deleted", "workspace", place, func(ctx context.Context) error { return d.Workspaces.DeleteWorkspace(ctx, p, place) })

	list := one("dnc_list.created", "dnc_list", "", func(ctx context.Context) (string, error) {
		return idOf(d.DNC.CreateDNCList(ctx, p, &domain.DNCList{Name: "l"}))
	})
	just("dnc_list.imported", "dnc_list", list, func(ctx context.Context) error {
		return errorOf(d.DNC.ImportDNC(ctx, p, list, func(yield func(domain.RawNumber, error) bool) {
			yield(domain.RawNumber{Line: 1, Phone: "+12025550170"}, nil)
		}))
	})
	just("dnc_list.entry_deleted", "dnc_list", list, func(ctx context.Context) error { return errorOf(d.DNC.DeleteDNCEntry(ctx, p, list, "+12025550170")) })
	just("dnc_list.deleted", "dnc_list", list, func(ctx context.Context) error { return d.DNC.DeleteDNCList(ctx, p, list) })

	agent := h.createAgent(p, waitingPathway())
	w.takeObserved()
	just("agent.published", "agent", agent, func(ctx context.Context) error {
		if err := errorOf(d.Agents.UpdateAgent(context.WithoutCancel(h.Context()), p, agent, func(a *domain.Agent) error { a.FirstMessage = "Hi."; return nil })); err != nil {
			return err
		}
		return errorOf(d.Agents.PublishAgent(ctx, p, agent))
	})
	one("phone_number.created", "phone_number", "", func(ctx context.Context) (string, error) {
		return idOf(d.Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: "+12025550171", AgentID: agent}))
	})
	base := one("knowledge_base.created", "knowledge_base", "", func(ctx context.Context) (string, error) {
		return idOf(d.Knowledge.CreateKnowledge(ctx, p, &domain.KnowledgeBase{Name: "k"}, nil))
	})
	var source string
	just("knowledge_base.source_added", "knowledge_base", base, func(ctx context.Context) (err error) {
		source, err = idOf(d.Knowledge.AddSource(ctx, p, base, domain.NewKnowledgeSource{Type: domain.SourceText, Name: "s", ContentType: "text/plain", Text: "Words."}))
		return err
	})
	just("knowledge_base.source_deleted", "knowledge_base", base, func(ctx context.Context) error { return d.Knowledge.DeleteSource(ctx, p, base, source) })
	just("knowledge_base.deleted", "knowledge_base", base, func(ctx context.Context) error { return d.Knowledge.DeleteKnowledge(ctx, p, base) })

	campaign := h.createCampaign(p, agent, carrierNumber(1, 1, "00"), carrierNumber(1, 2, "00"))
	w.takeObserved()
	ids := domain.ContactID(campaign, 0)
	just("campaign.contact_updated", "contact", ids, func(ctx context.Context) error {
		return errorOf(d.Contacts.UpdateContact(ctx, p, campaign, ids, contactChange{context: domain.Context{"name": "Ada"}}.apply))
	})
	just("campaign.contact_deleted", "contact", ids, func(ctx context.Context) error { return d.Contacts.DeleteContact(ctx, p, campaign, ids) })
	just("campaign.contacts_added", "campaign", campaign, func(ctx context.Context) error {
		return errorOf(d.Contacts.AddContacts(ctx, p, campaign, contactRows(carrierNumber(1, 3, "00"))))
	})
	just("campaign.cancelled", "campaign", campaign, func(ctx context.Context) error { return errorOf(d.Campaigns.CancelCampaign(ctx, p, campaign, false)) })
	just("campaign.deleted", "campaign", campaign, func(ctx context.Context) error { return d.Campaigns.DeleteCampaign(ctx, p, campaign) })
	one("bulk.created", "bulk", "", func(ctx context.Context) (string, error) {
		return idOf(d.Bulk.StartBulk(ctx, p, bulk.NewJob{Type: domain.BulkDNC, Items: []bulk.NewItem{{Number: &domain.RawNumber{Line: 1, Phone: "+12025550172"}}}}))
	})
	one("export.created", "export", "", func(ctx context.Context) (string, error) {
		return idOf(d.Exports.CreateExport(ctx, p, &domain.Export{Type: domain.ExportUsage, Format: "csv"}))
	})

	h.performAudited("token.issued", "api_key", p.KeyID, func(context.Context) error { return nil })
	assert.Equal(t, map[string][]string{"token.issued": {"alone api_key " + p.KeyID}}, w.takeObserved(), "an action without a commit stores its audit row before the reply")
}

func TestFailedActionHasNoAuditRowAndRefusedAuditRowIsStoredLater(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d := h.services()
	act := record.AuditAction{Type: "admin", Action: "webhook.created", IP: here, Resource: domain.Resource{Type: "webhook"}}
	rows := func() int {
		l, err := d.Audit.ListAudit(t.Context(), h.live, audit.Query{Action: act.Action, PageQuery: record.PageQuery{Limit: 10}})
		require.NoError(t, err)
		return len(l.Data)
	}
	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "webhook") {
			return domain.ErrConflict
		}
		return do()
	}, nil)
	ctx := d.Audit.WithAuditEntry(t.Context(), h.live, act)
	_, err := d.Webhooks.CreateWebhook(ctx, h.live, &domain.Webhook{URL: h.receiver.url, Events: []string{"*"}})
	require.Error(t, err)
	assert.Zero(t, rows())

	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "audit") {
			return context.DeadlineExceeded
		}
		return do()
	}, nil)
	d.Audit.Record(t.Context(), h.live, act)
	m.inject(nil, nil)
	h.waitUntil(longWait, "the audit row is stored after the store recovers", func() bool { return rows() == 1 })
}

func TestAuditRowOfOAuthTokenIsPartOfTheTokenCommit(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, w := h.services(), &observedActor{with: make(map[string][]string)}
	c, u := h.createClientAndUser(domain.RoleAdmin)
	code := h.createConsentCode(c, u)
	m.inject(w.observeCommit, nil)
	client := domain.Principal{ClientID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	does := func(action string, do func(ctx context.Context) error) (reported map[string][]string, err error) {
		ctx := d.Audit.WithAuditEntry(t.Context(), client, record.AuditAction{Type: "auth", Action: action, IP: here, Resource: domain.Resource{Type: "oauth_client", ID: c.ID}})
		err = do(ctx)
		return w.takeObserved(), err
	}
	along := "along oauth_client " + c.ID
	var g oauth.IssuedTokens
	reported, err := does("token.issued", func(ctx context.Context) (err error) {
		g, err = d.OAuth.RedeemCode(ctx, c, code, "https://a.example/", "")
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{"token.issued": {along}}, reported)
	refresh := func(ctx context.Context) error { return errorOf(d.OAuth.RenewGrant(ctx, c, g.Refresh, "")) }
	reported, err = does("token.refreshed", refresh)
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{"token.refreshed": {along}}, reported)
	reported, err = does("token.refreshed", refresh)
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
	assert.Equal(t, map[string][]string{"token.reused": {along}}, reported, "a refresh token that is used twice may be stolen")
	log, err := d.Audit.ListAudit(t.Context(), h.live, audit.Query{Type: "auth", PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	actors := make(map[string]domain.Actor)
	for _, e := range log.Data {
		actors[e.Action] = e.Actor
	}
	user, itself := domain.Actor{Type: "user", ID: u.ID}, domain.Actor{Type: "oauth_client", ID: c.ID}
	assert.Equal(t, []domain.Actor{user, user, itself}, []domain.Actor{actors["token.issued"], actors["token.refreshed"], actors["token.reused"]})
}

func TestRetriedAuditCommitWritesOneRow(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d := h.services()
	var mu sync.Mutex
	lost, again := 0, 0
	m.inject(func(c commit.Change, do func() error) error {
		err := do()
		mu.Lock()
		defer mu.Unlock()
		for _, r := range c.Puts {
			if e, ok := r.(*domain.AuditEntry); ok && e.Action == "token.issued" {
				if lost++; lost == 1 {
					return context.DeadlineExceeded // the row was stored, but the caller gets no reply
				}
				again++
			}
		}
		return err
	}, nil)
	h.performAudited("token.issued", "api_key", h.live.KeyID, func(context.Context) error { return nil })
	h.waitUntil(time.Minute, "the audit row is written again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return again > 0
	})
	log, err := d.Audit.ListAudit(t.Context(), h.live, audit.Query{Action: "token.issued", PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	if assert.Len(t, log.Data, 1) {
		assert.Equal(t, 1, log.Data[0].Count)
	}
}
