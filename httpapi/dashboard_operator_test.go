package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/dashboard"
)

// signedInOperator creates a user with a role, makes the user an operator and returns a browser with a session of the
// user.
func (d *testServer) signedInOperator(role string) (b *browser, user string) {
	d.t.Helper()
	user = d.create("/v1/users", m{"name": "Grace <b>", "role": role})
	d.must(200, "PATCH", "/v1/users/"+user, "operator", m{"operator": true})
	return d.signIn(user), user
}

// Sessions and sign-in links that were created before the user became an operator give no operator rights.
func TestOperatorRightsApplyToSessionsStartedAfterPromotion(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	early, user := d.signedIn("admin")
	link := d.must(201, "POST", "/v1/users/"+user+"/sign-in-link", "all", nil).json(t)["url"].(string)
	_, token, _ := strings.Cut(link, "token=")
	promote := func(is bool) any {
		return d.must(200, "PATCH", "/v1/users/"+user, "operator", m{"operator": is}).json(t)["operator_since"]
	}
	since := promote(true)
	require.NotNil(t, since)
	assert.Equal(t, since, promote(true), "the user is an operator already")
	assert.Equal(t, 404, early.send("GET", "/operator", nil).Status)
	assert.Equal(t, 404, early.send("POST", "/operator/drain", nil).Status)
	assert.NotContains(t, string(early.send("GET", "/", nil).Body), `href="/operator"`)
	assert.NotEqual(t, 200, early.send("POST", "/sign-in", url.Values{"token": {token}}).Status, "the link was created before the user became an operator")
	b := d.signIn(user)
	assert.Equal(t, 200, b.send("GET", "/operator", nil).Status)
	assert.Nil(t, promote(false))
	assert.Equal(t, 404, b.send("GET", "/operator", nil).Status)
	promote(true)
	assert.Equal(t, 404, b.send("GET", "/operator", nil).Status, "the session began before the user became an operator again")
	assert.Empty(t, d.arguments, "no node was drained")
}

// operatorPageRequests returns requests for the operator's page and for all its form actions.
func (d *testServer) operatorPageRequests() (all []pageRequest) {
	rule := d.create("/v1/alert-rules", m{"name": "<script>alert(1)</script>", "kind": "trunk_down"})
	for _, r := range dashboard.Routes() {
		if !r.Operator {
			continue
		}
		for _, verb := range []string{"dialling-stop", "dialling-resume", "drain", "undrain", "test", "pause", "resume", "delete"} {
			switch of := strings.Contains(r.Path, "/rules/"); {
			case !strings.Contains(r.Path, ":verb") && verb != "drain":
			case strings.Contains(r.Path, ":verb") && of != strings.Contains("test pause resume delete", verb):
			default:
				all = append(all, pageRequest{r.Method, strings.NewReplacer(":id", rule, ":verb", verb).Replace(r.Path), false, false})
			}
		}
	}
	return all
}

func TestOnlyOperatorKeysCreateAndChangeOperators(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	d.keys["test operator"] = domain.Principal{KeyID: "key_t", WorkspaceID: d.workspace.ID, Environment: domain.Test, Permissions: []domain.Permission{domain.AllRead, domain.AllWrite}, Operator: true}
	refused := func(key, method, path string, body any) {
		t.Helper()
		assert.Equal(t, "operator_required", d.must(403, method, path, key, body).failure(t)["code"], "%s %s", method, path)
	}
	refused("all", "POST", "/v1/users", m{"name": "Eve", "role": "admin", "operator": true})
	for key, role := range map[string]string{"operator": "manager", "test operator": "admin"} {
		assert.Equal(t, "operator", d.must(422, "POST", "/v1/users", key, m{"name": "Eve", "role": role, "operator": true}).failure(t)["param"])
	}
	created := d.must(201, "POST", "/v1/users", "operator", m{"name": "Ada", "role": "admin", "operator": true}).json(t)
	assert.Equal(t, true, created["operator"])
	path, _ := created["id"].(string)
	path = "/v1/users/" + path
	_, plain := d.signedIn("admin")
	refused("all", "PATCH", "/v1/users/"+plain, m{"operator": true})
	for _, body := range []m{{"name": "mine"}, {"allowed_ips": []string{}}, {"role": "viewer"}, {"operator": false}} {
		refused("all", "PATCH", path, body)
	}
	refused("all", "POST", path+"/sign-in-link", nil)
	refused("all", "DELETE", path, nil)
	refused("all", "DELETE", path+"/sessions/sess_"+ulidOf(1), nil)
	d.must(200, "GET", path, "all", nil)
	assert.Equal(t, "operator", d.must(422, "PATCH", path, "operator", m{"role": "agent"}).failure(t)["param"], "a user cannot stay an operator with the role agent")
	d.must(201, "POST", path+"/sign-in-link", "operator", nil)
	assert.Equal(t, false, d.must(200, "PATCH", path, "operator", m{"operator": false, "role": "agent"}).json(t)["operator"])
	d.must(200, "DELETE", path, "all", nil)
}

func TestOperatorPageIsNotFoundForOtherUsers(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	d.workspace.Name = "<script>alert(1)</script>"
	pages := d.operatorPageRequests()
	require.Len(t, pages, 10)
	viewer, _ := d.signedIn("viewer")
	admin, _ := d.signedIn("admin")
	looker, _ := d.signedInOperator("viewer")
	former, who := d.signedInOperator("admin")
	d.must(200, "PATCH", "/v1/users/"+who, "operator", m{"operator": false})
	deleted, user := d.signedInOperator("admin")
	d.must(200, "DELETE", "/v1/users/"+user, "operator", nil)
	_ = d.takeAuditEntries()
	for n, p := range pages {
		form := url.Values{"name": {"x"}, "kind": {"trunk_down"}}
		for name, b := range map[string]*browser{"a viewer": viewer, "an admin": admin, "one who was an operator": former} {
			page := b.send(p.method, p.path, form)
			assert.Equal(t, 404, page.Status, "%s: %s %s", name, p.method, p.path)
			assert.Empty(t, page.Header.Get("HX-Refresh"), "a reload is requested once")
			assert.NotContains(t, string(page.Body), "Workspaces")
		}
		assert.Equal(t, 401, deleted.send(p.method, p.path, form, "X-Forwarded-For", addressNo(n)).Status, "%s: the user was deleted", p.path)
		if p.method == http.MethodPost {
			assert.Equal(t, 403, looker.send(p.method, p.path, form).Status, "%s: the user is only a viewer", p.path)
			assert.Equal(t, 403, looker.send(p.method, p.path, form, "Origin", "https://evil.example.com").Status, "%s: the form comes from another site", p.path)
		}
	}
	watched := former.send("GET", "/operator?part=live", nil, "HX-Request", "true")
	assert.Equal(t, []any{404, "true"}, []any{watched.Status, watched.Header.Get("HX-Refresh")}, "an open page reloads and gets 404")
	tried := 0
	for _, act := range d.takeAuditEntries() {
		if strings.Contains(act, "auth.failed") && strings.Contains(act, "operator_required") {
			tried++
		}
	}
	assert.Equal(t, 3*9, tried, "the audit log names the user")
	assert.Empty(t, d.arguments, "dialling was not stopped")
	assert.NotContains(t, string(admin.send("GET", "/", nil).Body), `href="/operator"`)
	for _, part := range []string{"", "?part=live", "?part=people"} {
		page := looker.send("GET", "/operator"+part, nil)
		require.Equal(t, 200, page.Status, "%s", page.Body)
		assert.Contains(t, string(page.Body), "&lt;script&gt;alert(1)&lt;/script&gt;", part)
		assert.NotContains(t, string(page.Body), "<script>alert", part)
		assert.NotContains(t, string(page.Body), "<button class=\"danger\"", part)
	}
}

func TestOperatorRightsApplyOnOperatorPageOnly(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	agent := d.create("/v1/agents", m{"name": "a", "first_message": "Hello."})
	b, user := d.signedInOperator("admin")
	assert.Contains(t, string(b.send("GET", "/", nil).Body), `href="/operator"`)
	_ = d.takeAuditEntries()
	for _, verb := range []string{"dialling-stop", "dialling-resume", "drain", "undrain"} {
		assert.Equal(t, 403, b.send("POST", "/operator/"+verb, nil, "Origin", "https://evil.example.com").Status, "the form comes from another site")
		assert.Equal(t, 303, b.send("POST", "/operator/"+verb, url.Values{"reason": {"a complaint"}, "confirmed": {"yes"}}).Status)
	}
	assert.Equal(t, []any{"stop a complaint by " + user, "resume by " + user, "drain by " + user, "undrain by " + user}, d.arguments)
	acts := strings.Join(d.takeAuditEntries(), "\n")
	for _, act := range []string{"dialling.stopped", "dialling.resumed", "node.drained", "node.undrained"} {
		assert.Contains(t, acts, "admin "+act)
	}
	assert.Equal(t, 404, b.send("POST", "/operator/explode", nil).Status)

	form := url.Values{"name": {"Rate"}, "kind": {"answer_rate"}, "percent": {"thirty"}, "emails": {"ops@example.com, night@example.com"}}
	wrong := b.send("POST", "/operator/rules", form)
	assert.Equal(t, 422, wrong.Status)
	assert.Contains(t, string(wrong.Body), `value="thirty"`, "the form keeps the typed value")
	form.Set("percent", "30")
	form.Set("min_calls", "50")
	require.Equal(t, 303, b.send("POST", "/operator/rules", form).Status)
	rule := d.must(200, "GET", "/v1/alert-rules", "operator", nil).json(t)["data"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"Rate", 0.3, 50.0, []any{"ops@example.com", "night@example.com"}}, []any{rule["name"], rule["below"], rule["min_calls"], rule["emails"]})
	path := "/operator/rules/" + rule["id"].(string)
	require.Equal(t, 303, b.send("POST", path+"/pause", nil).Status)
	assert.Equal(t, true, d.must(200, "GET", "/v1/alert-rules/"+rule["id"].(string), "operator", nil).json(t)["paused"])
	refused := b.send("POST", path+"/test", nil)
	assert.Equal(t, 502, refused.Status)
	assert.Contains(t, string(refused.Body), "ops@example.com: no", "the message names the refused e-mail address")
	require.Equal(t, 303, b.send("POST", path+"/delete", url.Values{"confirmed": {"yes"}}).Status)
	d.must(404, "GET", "/v1/alert-rules/"+rule["id"].(string), "operator", nil)

	d.callerIDs = nil
	campaign := b.send("POST", "/campaigns", url.Values{"name": {"spring"}, "agent_id": {agent}, "pacing.calls_per_minute": {"30"}})
	assert.Equal(t, 422, campaign.Status, "other pages refuse fields that need an operator key: %s", campaign.Body)
}

func TestOperatorPageHasRateLimitSeparateFromWorkspace(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	b, _ := d.signedInOperator("admin")
	plain, _ := d.signedIn("admin")
	d.workspace.Limits.RequestsPerMinute = 1
	for range 3 {
		plain.send("GET", "/", nil)
	}
	require.Equal(t, 429, plain.send("GET", "/", nil).Status)
	require.Equal(t, 429, plain.send("GET", "/operator", nil).Status, "a user without the operator permission uses the common rate limit")
	assert.Equal(t, 200, b.send("GET", "/operator", nil).Status)
	assert.Equal(t, 303, b.send("POST", "/operator/dialling-stop", url.Values{"confirmed": {"yes"}}).Status)
}
