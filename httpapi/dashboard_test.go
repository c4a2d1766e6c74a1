package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/dashboard"
)

type paged struct {
	method, path string
	reads        bool
}

// pages are requests for all routes of the dashboard, with one resource of each
// kind, whose names mean harm.
func (d *testServer) pages() (all []paged) {
	const evil = `<script>alert(1)</script>`
	ids := map[string]string{
		"campaigns": d.make("/v1/campaigns", m{"name": evil, "agent_id": "agent_" + ulidOf(1)}), "agents": d.make("/v1/agents", m{"name": evil, "first_message": evil}),
		"pathways": d.make("/v1/pathways", goodPathway()), "calls": d.make("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}),
		"appointments": d.make("/v1/appointments", goodAppointment()), "access": d.make("/v1/api-keys", m{"name": evil, "permissions": []string{"calls:read"}}),
		"webhooks": d.make("/v1/webhooks", m{"url": "https://example.com/hook", "events": []string{"*"}}),
	}
	verbs := map[string]string{"campaigns": "pause", "appointments": "confirm", "webhooks": "pause", "pathways": "check"}
	for _, r := range dashboard.Routes() {
		if r.Operator {
			continue // see operatorPages
		}
		kind := strings.Split(r.Path, "/")[1]
		all = append(all, paged{r.Method, strings.NewReplacer(":id", ids[kind], ":verb", verbs[kind]).Replace(r.Path), r.Reads})
	}
	return all
}

func TestPagesAreForWhoIsSignedInAndButtonsForPagesOfOurs(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	pages := d.pages()
	reader, _ := d.signedIn("viewer")
	stranger, gone := &browser{d: d}, &browser{d: d}
	former, user := d.signedIn("admin")
	gone.cookie = former.cookie
	d.must(200, "DELETE", "/v1/users/"+user, "operator", nil)
	for n, r := range pages {
		path, form := r.path, url.Values{"name": {"x"}}
		from := []string{"X-Forwarded-For", addressNo(n)}
		assert.Equal(t, 401, stranger.send(r.method, path, form, from...).Status, "%s: nobody is signed in", path)
		assert.Equal(t, 401, gone.send(r.method, path, form, from...).Status, "%s: the user is no more", path)
		if r.method == http.MethodPost {
			assert.Equal(t, 403, reader.send(r.method, path, form, "Origin", "https://evil.example.com").Status, "%s: from a page of somebody else's", path)
			assert.Equal(t, 403, reader.send(r.method, path, form, "Origin", "").Status, "%s: from nowhere", path)
			want := 403
			if r.reads {
				want = 200
			}
			assert.Equal(t, want, reader.send(r.method, path, form).Status, "%s: a viewer changes nothing", path)
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
	for range 40 { // what a page left open asks for is no way to guess sessions, and keeps nobody from signing in
		guessed[gone.send("GET", "/?part=live", nil, "HX-Request", "true", "X-Forwarded-For", addressNo(200)).Status]++
	}
	assert.Equal(t, map[int]int{401: 30, 429: 10}, guessed)
	assert.Equal(t, 401, gone.send("GET", "/", nil, "X-Forwarded-For", addressNo(200)).Status)
	assert.Equal(t, 404, reader.send("GET", "/calls/..%2Fwebhooks", nil).Status, "nothing in a path leads elsewhere")
	assert.Equal(t, 404, reader.send("GET", "/campaigns/campaign_"+ulidOf(7), nil).Status)
}

func TestButtonsDoWhatTheAPIDoesForWhoMay(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	agent := d.make("/v1/agents", m{"name": "a", "first_message": "Hello."})
	b, _ := d.signedIn("manager")

	wrong := b.send("POST", "/campaigns", url.Values{"name": {"spring"}, "agent_id": {agent}, "calls_per_minute": {"0"}})
	assert.Equal(t, 422, wrong.Status)
	assert.Contains(t, string(wrong.Body), "pacing.calls_per_minute")
	assert.Contains(t, string(wrong.Body), `value="spring"`, "what was typed stays")
	made := b.send("POST", "/campaigns", url.Values{"name": {"spring"}, "agent_id": {agent}, "calls_per_minute": {"30"}, "hours_start": {"09:00"}, "hours_end": {"18:00"}, "hours_timezone": {"local"}})
	require.Equal(t, 303, made.Status, "%s", made.Body)
	path, _, _ := strings.Cut(made.Header.Get("Location"), "?")
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

	require.Equal(t, 303, b.send("POST", path+"/start", nil).Status)
	assert.Equal(t, 404, b.send("POST", path+"/explode", nil).Status)
	part := b.send("GET", path+"?part=live", nil)
	assert.Contains(t, string(part.Body), `id="live"`)
	assert.NotContains(t, string(part.Body), "<html", "htmx gets the part alone")

	key := d.make("/v1/api-keys", m{"name": "k", "permissions": []string{"calls:read"}})
	assert.Equal(t, 403, b.send("POST", "/access/keys/"+key+"/revoke", nil).Status, "a manager has no keys")
	admin, _ := d.signedIn("admin")
	assert.Equal(t, 303, admin.send("POST", "/access/keys/"+key+"/revoke", nil).Status)
	d.must(404, "GET", "/v1/api-keys/"+key, "operator", nil)

	_ = d.noted()
	clerk, _ := d.signedIn("agent")
	assert.Equal(t, 200, clerk.send("GET", "/", nil).Status)
	for _, act := range d.noted() {
		assert.NotContains(t, act, "auth.failed", "a page that leaves out what one may not see is no attempt at it")
	}
}
