package httpapi_test

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/dashboard"
)

type pageRequest struct {
	method, path string
	reads, form  bool // form: the page of a form, which needs the permission to send it
}

// pageRequests returns requests for all routes of the dashboard. It creates a resource of each kind, with markup in its
// name.
func (d *testServer) pageRequests() (all []pageRequest) {
	const evil = `<script>alert(1)</script>`
	ids := map[string]string{
		"campaigns": d.create("/v1/campaigns", m{"name": evil, "agent_id": "agent_" + ulidOf(1)}), "agents": d.create("/v1/agents", m{"name": evil, "first_message": evil}),
		"pathways": d.create("/v1/pathways", goodPathway()), "calls": d.create("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}),
		"appointments": d.create("/v1/appointments", goodAppointment()), "keys": d.create("/v1/api-keys", m{"name": evil, "permissions": []string{"calls:read"}}),
		"webhooks": d.create("/v1/webhooks", m{"url": "https://example.com/hook", "events": []string{"*"}}),
	}
	for kind, body := range map[string]m{
		"do-not-call": {"name": evil}, "knowledge": {"name": evil}, "tools": goodTool(), "numbers": {"number": "+12025550177", "agent_id": ids["agents"]}, "sms-gateways": goodGateway(),
		"phones": {"extension": "1001", "name": evil}, "team": {"name": evil, "role": "viewer"}, "oauth-apps": {"name": evil, "scopes": []string{"calls:read"}},
		"providers": {"name": evil, "timezone": "UTC", "hours": m{"monday": []m{{"start": "09:00", "end": "17:00"}}}}, "trunks": {"name": evil, "proxies": []m{{"host": "127.0.0.1", "port": 5060, "transport": "udp"}}},
	} {
		ids[kind] = d.create(dashboard.ResourceLists()["/"+kind], body)
	}
	ids["exports"], _ = d.must(202, "POST", "/v1/exports", "operator", m{"type": "calls"}).json(d.t)["id"].(string)
	verbs := map[string]string{"campaigns": "pause", "appointments": "confirm", "webhooks": "pause", "pathways": "check"}
	for _, r := range dashboard.Routes() {
		if r.Operator {
			continue // covered by operatorPageRequests
		}
		kind := strings.Split(r.Path, "/")[1]
		all = append(all, pageRequest{r.Method, strings.NewReplacer(":id", ids[kind], ":verb", cmp.Or(verbs[kind], "delete")).Replace(r.Path), r.ReadOnly, r.Needs != ""})
	}
	return all
}

func TestDashboardNeedsSessionAndSameOriginForms(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	pages := d.pageRequests()
	reader, _ := d.signedIn("viewer")
	signedOut, deleted := &browser{d: d}, &browser{d: d}
	former, user := d.signedIn("admin")
	deleted.cookie = former.cookie
	d.must(200, "DELETE", "/v1/users/"+user, "operator", nil)
	for n, r := range pages {
		path, form := r.path, url.Values{"name": {"x"}}
		from := []string{"X-Forwarded-For", addressNo(n)}
		assert.Equal(t, 401, signedOut.send(r.method, path, form, from...).Status, "%s: no user is signed in", path)
		assert.Equal(t, 401, deleted.send(r.method, path, form, from...).Status, "%s: the user was deleted", path)
		if strings.HasPrefix(path, "/exports") && (r.method == http.MethodPost || r.form) {
			continue // whoever may read data may export them
		}
		if r.method == http.MethodPost {
			assert.Equal(t, 403, reader.send(r.method, path, form, "Origin", "https://evil.example.com").Status, "%s: the form comes from another site", path)
			assert.Equal(t, 403, reader.send(r.method, path, form, "Origin", "").Status, "%s: the form has no origin", path)
			want := 403
			if r.reads {
				want = 200
			}
			assert.Equal(t, want, reader.send(r.method, path, form).Status, "%s: a viewer cannot change anything", path)
			continue
		}
		if r.form {
			refused := reader.send(r.method, path, nil)
			assert.Equal(t, 403, refused.Status, path)
			assert.Contains(t, string(refused.Body), "Your role <strong>viewer</strong> does not permit this.", path)
			continue
		}
		if strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, "/file") {
			assert.Contains(t, []int{200, 409}, reader.send(r.method, path, nil).Status, path)
			continue
		}
		if strings.HasSuffix(path, "/recording") {
			assert.Contains(t, []int{303, 403, 404, 409}, reader.send(r.method, path, nil).Status, path)
			continue
		}
		page := reader.send(r.method, path, nil)
		require.Equal(t, 200, page.Status, "%s: %s", path, page.Body)
		assert.Equal(t, dashboard.Policy, page.Header.Get("Content-Security-Policy"))
		assert.NotContains(t, string(page.Body), "<script>alert", path)
		assert.NotContains(t, string(page.Body), "could not be made", path)
		assert.NotRegexp(t, `svc_sk_|whsec_`, string(page.Body), path)
		assert.Less(t, len(page.Body), 150<<10)
	}
	guessed := map[int]int{}
	for range 40 { // updates of a signed-out page have a limit of their own and do not block sign-ins
		guessed[deleted.send("GET", "/?part=live", nil, "HX-Request", "true", "X-Forwarded-For", addressNo(200)).Status]++
	}
	assert.Equal(t, map[int]int{401: 30, 429: 10}, guessed)
	assert.Equal(t, 401, deleted.send("GET", "/", nil, "X-Forwarded-For", addressNo(200)).Status)
	assert.Equal(t, 404, reader.send("GET", "/calls/..%2Fwebhooks", nil).Status, "an escaped path segment does not reach another page")
	assert.Equal(t, 404, reader.send("GET", "/campaigns/campaign_"+ulidOf(7), nil).Status)
}

func TestDashboardActionsHaveAPIPermissionsAndEffects(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	agent := d.create("/v1/agents", m{"name": "a", "first_message": "Hello."})
	b, _ := d.signedIn("manager")

	wrong := b.send("POST", "/campaigns", url.Values{"name": {"spring"}, "agent_id": {agent}, "pacing.calls_per_minute": {"0"}})
	assert.Equal(t, 422, wrong.Status)
	assert.Contains(t, string(wrong.Body), `id="f-pacing-calls_per_minute-error"`)
	assert.Contains(t, string(wrong.Body), `value="spring"`, "the form keeps the typed value")
	created := b.send("POST", "/campaigns", url.Values{"name": {"spring"}, "agent_id": {agent}, "pacing.calls_per_minute": {"30"}, "compliance.calling_hours.start": {"09:00"}, "compliance.calling_hours.end": {"18:00"}, "compliance.calling_hours.timezone": {"local"}})
	require.Equal(t, 303, created.Status, "%s", created.Body)
	path, _, _ := strings.Cut(created.Header.Get("Location"), "?")
	id := path[strings.LastIndex(path, "/")+1:]
	c := d.must(200, "GET", "/v1/campaigns/"+id, "operator", nil).json(t)
	assert.Equal(t, []any{"spring", 30.0, "local"}, []any{c["name"], c["pacing"].(m)["calls_per_minute"], c["compliance"].(m)["calling_hours"].(m)["timezone"]})

	const boundary = "cut"
	upload, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url(path+"/contacts"), strings.NewReader(
		"--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\nphone,name\n+12025550123,Ada\n+12025550124,Bob\n\r\n--cut--\r\n"))
	require.NoError(t, err)
	upload.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	upload.Header.Set("Origin", base)
	upload.Header.Set("Cookie", b.cookie)
	res, err := d.client.Transport.RoundTrip(upload)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 303, res.StatusCode)
	assert.Len(t, d.contacts, 2)

	require.Equal(t, 303, b.send("POST", path+"/start", url.Values{"confirmed": {"yes"}}).Status)
	assert.Equal(t, 404, b.send("POST", path+"/explode", nil).Status)
	part := b.send("GET", path+"?part=live", nil)
	assert.Contains(t, string(part.Body), `id="live"`)
	assert.NotContains(t, string(part.Body), "<html", "htmx gets only the part")

	key := d.create("/v1/api-keys", m{"name": "k", "permissions": []string{"calls:read"}})
	assert.Equal(t, 403, b.send("POST", "/keys/"+key+"/revoke", nil).Status, "a manager cannot revoke API keys")
	admin, _ := d.signedIn("admin")
	assert.Equal(t, 303, admin.send("POST", "/keys/"+key+"/revoke", url.Values{"confirmed": {"yes"}, "typed": {"k"}}).Status)
	d.must(404, "GET", "/v1/api-keys/"+key, "operator", nil)

	_ = d.takeAuditEntries()
	clerk, _ := d.signedIn("agent")
	assert.Equal(t, 200, clerk.send("GET", "/", nil).Status)
	for _, act := range d.takeAuditEntries() {
		assert.NotContains(t, act, "auth.failed", "a page that omits a part without permission records no failed access")
	}
}
