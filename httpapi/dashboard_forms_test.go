package httpapi_test

import (
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

func TestPageUpdatesDoNotExtendSession(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	b, _ := d.signedIn("admin")
	for _, c := range []struct {
		method, path string
		headers      []string
		watching     bool
	}{
		{"GET", "/", nil, false},
		{"GET", "/?part=live", []string{"HX-Request", "true"}, true},
		{"POST", "/campaigns", []string{"HX-Request", "true"}, false},
	} {
		b.send(c.method, c.path, nil, c.headers...)
		assert.Equal(t, c.watching, d.watching, "%s %s", c.method, c.path)
	}
}

func TestAPIKeyCreationNeedsRecentSignIn(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	b, _ := d.signedIn("admin")
	form := url.Values{"name": {"till"}, "permissions": {"calls:read", "calls:write"}, "allowed_ips": {"192.0.2.0/24, 198.51.100.7"}, "environment": {"test"}, "expires_at": {"2099-01-31"}}
	made := b.send("POST", "/keys", form)
	require.Equal(t, 200, made.Status, "%s", made.Body)
	assert.Contains(t, string(made.Body), "svc_sk_live_secret")
	assert.Equal(t, "no-store", made.Header.Get("Cache-Control"))
	l, err := d.ListKeys(t.Context(), domain.Principal{}, keys.Query{PageQuery: record.PageQuery{Limit: 1}})
	require.NoError(t, err)
	k := l.Data[0]
	assert.Equal(t, []any{"till", []domain.Permission{"calls:read", "calls:write"}, []string{"192.0.2.0/24", "198.51.100.7"}, domain.Test, "2099-01-31T23:59:59Z"},
		[]any{k.Name, k.Permissions, k.AllowedIPs, k.Environment, k.ExpiresAt.UTC().Format(time.RFC3339)}, "to the end of the day")
	assert.NotContains(t, string(b.send("GET", "/keys", nil).Body), "svc_sk_live_secret")

	form["permissions"] = []string{"all"}
	wrong := b.send("POST", "/keys", form)
	assert.Equal(t, 422, wrong.Status)
	assert.Contains(t, string(wrong.Body), `value="till"`, "the form keeps the typed value")

	form["permissions"], form["once"] = []string{"calls:read"}, []string{strings.Repeat("ab", 16)}
	count := func() int {
		l, err := d.ListKeys(t.Context(), domain.Principal{}, keys.Query{PageQuery: record.PageQuery{Limit: 100}})
		require.NoError(t, err)
		return len(l.Data)
	}
	before := count()
	first, second := b.send("POST", "/keys", form), b.send("POST", "/keys", form)
	assert.Equal(t, []int{200, 200}, []int{first.Status, second.Status}, "%s", second.Body)
	assert.Equal(t, before+1, count(), "a double click creates one key")
	form.Del("once")

	id := strings.TrimPrefix(strings.TrimPrefix(b.cookie, "__Host-callboard="), "cookie-")
	s, err := d.sessions.get(id)
	require.NoError(t, err)
	d.mu.Lock()
	s.CreatedAt = time.Now().Add(-16 * time.Minute)
	d.mu.Unlock()
	form["permissions"], form["name"] = []string{"calls:read"}, []string{"late"}
	late := b.send("POST", "/keys", form)
	assert.Equal(t, 403, late.Status)
	assert.Contains(t, string(late.Body), "Sign in again")
	assert.Contains(t, string(late.Body), `name="name" value="late"`, "the form keeps the typed value")
	page := b.send("GET", "/keys", nil)
	assert.NotContains(t, string(page.Body), "late", "nothing was created")
	assert.Contains(t, string(b.send("GET", "/keys/new", nil).Body), "needs a sign-in within the last 15 minutes")
}

func TestAppointmentForms(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	provider := d.create("/v1/providers", m{"name": "Dr. <Rivera>", "timezone": "UTC", "hours": m{"monday": []m{{"start": "09:00", "end": "17:00"}}}})
	b, _ := d.signedIn("manager")
	page := string(b.send("GET", "/appointments/new?provider="+provider+"&from=2030-04-01", nil).Body)
	assert.Contains(t, page, `value="2030-04-01T10:00:00Z"`, "a free appointment time")
	form := url.Values{"provider": {provider}, "from": {"2030-04-01"}, "datetime": {"2030-04-01T10:00:00Z"}, "name": {"Ada"}, "phone": {"(202) 555-0123"}, "notes": {"taken"}}
	taken := b.send("POST", "/appointments", form)
	assert.Equal(t, 409, taken.Status)
	assert.Contains(t, string(taken.Body), "Somebody has it.")
	assert.Contains(t, string(taken.Body), `value="Ada"`, "the form keeps the typed value")
	form.Del("notes")
	made := b.send("POST", "/appointments", form)
	require.Equal(t, 303, made.Status, "%s", made.Body)
	path, _, _ := strings.Cut(made.Header.Get("Location"), "?")
	assert.Contains(t, string(b.send("GET", path, nil).Body), "12025550123<")
	require.Equal(t, 303, b.send("POST", path+"/reschedule", url.Values{"datetime": {"2030-04-02T11:00:00Z"}}).Status)
	require.Equal(t, 303, b.send("POST", path+"/cancel", url.Values{"reason": {"ill"}, "confirmed": {"yes"}}).Status)
	d.mu.Lock()
	asked := d.arguments
	d.mu.Unlock()
	assert.Contains(t, asked, any(booking.Reschedule{Datetime: "2030-04-02T11:00:00Z"}))
	assert.Contains(t, asked, any("ill"))
}

func TestPathwayIsEditedAsJSONAndTested(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	id := d.create("/v1/pathways", m{
		"name": "bar", "start": "ask",
		"nodes": []m{{"id": "ask", "type": "collect", "input": "dtmf", "prompt": "Press <one>.", "length": 1}, {"id": "yes", "type": "end", "prompt": "Thanks."}, {"id": "no", "type": "end"}},
		"edges": []m{{"from": "ask", "to": "yes", "when": m{"type": "dtmf", "digits": "1"}}, {"from": "ask", "to": "no", "when": m{"type": "else"}}},
	})
	b, _ := d.signedIn("manager")
	page := string(b.send("GET", "/pathways/"+id+"/edit", nil).Body)
	plan := html.UnescapeString(regexp.MustCompile(`(?s)<textarea[^>]*>(.*)</textarea>`).FindStringSubmatch(page)[1])

	broken := b.send("POST", "/pathways/"+id, url.Values{"plan": {plan + "x"}})
	assert.Equal(t, 422, broken.Status)
	assert.Contains(t, string(broken.Body), "unexpected data after the object")
	assert.Contains(t, string(broken.Body), "}x</textarea>", "the form keeps the typed value")
	bad := strings.NewReplacer(`"start": "ask"`, `"start": "gone"`, `"to": "yes"`, `"to": "nowhere"`).Replace(plan)
	for _, path := range []string{"/pathways/" + id, "/pathways/" + id + "/check"} {
		page := string(b.send("POST", path, url.Values{"plan": {bad}}).Body)
		assert.Contains(t, page, `data-param="start"`, path)
		assert.Contains(t, page, `data-param="edges[0].to"`, "%s: the page shows all problems at once", path)
	}
	assert.Contains(t, string(b.send("POST", "/pathways/"+id+"/check", url.Values{"plan": {plan}}).Body), "No problems found.")
	better := strings.ReplaceAll(plan, "Thanks.", "Thank you.")
	require.Equal(t, 303, b.send("POST", "/pathways/"+id, url.Values{"version": fields(reply{Body: []byte(page)})["version"], "plan": {strings.ReplaceAll(better, "\n", "\r\n")}}).Status)
	saved := d.must(200, "GET", "/v1/pathways/"+id, "operator", nil)
	assert.Contains(t, string(saved.Body), "Thank you.")

	late := b.send("POST", "/pathways/"+id, url.Values{"version": {"1"}, "plan": {strings.ReplaceAll(plan, "Thanks.", "Thanks to you.")}})
	assert.Equal(t, 409, late.Status, "another user saved first")
	assert.Contains(t, string(late.Body), "Thanks to you.")
	assert.Contains(t, string(late.Body), "Thank you.", "the page shows both versions")
	assert.Contains(t, string(d.must(200, "GET", "/v1/pathways/"+id, "operator", nil).Body), "Thank you.", "the saved version is not overwritten")
	f := d.must(409, "PATCH", "/v1/pathways/"+id, "operator", m{"name": "x", "version": 1}).failure(t)
	assert.Equal(t, []any{"invalid_state", "version", 2.0}, []any{f["code"], f["param"], f["current_version"]})
	d.must(200, "PATCH", "/v1/pathways/"+id, "operator", m{"name": "x", "version": 2})
	assert.Equal(t, 404, b.send("POST", "/pathways/"+id+"/burn", url.Values{"plan": {plan}}).Status)

	talk := b.send("GET", "/pathways/"+id+"/try", nil)
	assert.Contains(t, string(talk.Body), "<q>Press &lt;one&gt;.</q>")
	form := url.Values{}
	for _, f := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(string(talk.Body), -1) {
		form.Set(f[1], html.UnescapeString(f[2]))
	}
	form.Set("text", "1")
	said := string(b.send("POST", "/pathways/"+id+"/try", form).Body)
	assert.Regexp(t, `(?s)Press &lt;one&gt;.*<q>1</q>.*Thank you\..*has ended`, said)
	assert.NotContains(t, said, `id="say"`, "an ended conversation has no input field")
}

func TestSettingsFormSavesAllFields(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	b, _ := d.signedIn("admin")
	form := url.Values{"name": {"Ours"}, "default_country": {"DE"}, "retention.recordings_days": {"30"}, "frequency_caps.per_number_per_day": {"2"}, "allowed_origins": {"https://a.example\r\nhttps://b.example"}}
	require.Equal(t, 303, b.send("POST", "/settings", form).Status)
	w := d.must(200, "GET", "/v1/workspace", "operator", nil).json(t)
	assert.Equal(t, []any{"Ours", "DE", 30.0, 2.0, []any{"https://a.example", "https://b.example"}},
		[]any{w["name"], w["default_country"], w["retention"].(m)["recordings_days"], w["frequency_caps"].(m)["per_number_per_day"], w["allowed_origins"]})
	form.Set("retention.recordings_days", "a month")
	wrong := b.send("POST", "/settings", form)
	assert.Equal(t, 422, wrong.Status)
	assert.Contains(t, string(wrong.Body), "Recordings must be a number.")
	assert.Contains(t, string(wrong.Body), `value="a month"`)
}

func TestListenPageTicketEndsWithSession(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	call := d.createCall()
	ticket := func(b *browser) string {
		page := b.send("POST", "/calls/"+call+"/listen", nil)
		require.Equal(t, 200, page.Status, "%s", page.Body)
		return html.UnescapeString(regexp.MustCompile(`data-path="([^"]*)"`).FindStringSubmatch(string(page.Body))[1])
	}
	b, user := d.signedIn("agent")
	path := ticket(b)
	ws, status, err := d.openSocket(path, "")
	require.NoError(t, err, status)
	_ = ws.Close(websocket.StatusNormalClosure, "")
	_, status, err = d.openSocket(path, "")
	require.Error(t, err)
	assert.Equal(t, 401, status, "once")

	again := ticket(b)
	d.must(200, "DELETE", "/v1/users/"+user, "operator", nil)
	_, status, err = d.openSocket(again, "")
	require.Error(t, err)
	assert.Equal(t, 401, status, "the user was deleted")
}

func TestUploadFormNamesColumnsBeforeFile(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	b, _ := d.signedIn("manager")
	path := "/v1/campaigns/" + d.createCampaign() + "/contacts"
	part := func(name, value string) string {
		return "--cut\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	const file = "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n\ufeffMobile;Phone;Who\r\n+12025550123;office;Ada\r\n\r\n--cut--\r\n"
	send := func(path, body, kind string) reply {
		return d.do("POST", path, "operator", body, "Content-Type", kind)
	}
	const form = "multipart/form-data; boundary=cut"
	r := send(path, part("phone_column", "Mobile")+part("name_column", "who")+part("country_column", "")+file, form)
	require.Equal(t, 200, r.Status, "%s", r.Body)
	require.Len(t, d.contacts, 1)
	name, _ := d.contacts[0].Context.Text("name")
	office, _ := d.contacts[0].Context.Text("file_phone")
	assert.Equal(t, []string{"+12025550123", "Ada", "office"}, []string{d.contacts[0].Phone, name, office})
	r = send(path+"?phone_column=Tel", "Tel,x\n+12025550124,y\n", "text/csv")
	require.Equal(t, 200, r.Status, "%s", r.Body)

	for want, r := range map[string]reply{
		"phone_column": send(path, part("phone_column", "gone")+file, form),
		"name_column":  send(path, part("phone_column", "Mobile")+part("name_column", strings.Repeat("x", 1001))+file, form),
		"header":       send(path, part("name_column", "Phone")+strings.ReplaceAll(file, "Who", "Mobile"), form),
	} {
		require.Equal(t, 422, r.Status, "%s: %s", want, r.Body)
		assert.Equal(t, want, r.failure(t)["param"], "%s", r.Body)
	}

	page := string(b.send("GET", strings.TrimSuffix(strings.TrimPrefix(path, "/v1"), "/contacts"), nil).Body)
	assert.Less(t, strings.Index(page, `name="phone_column"`), strings.Index(page, `type="file"`), "browsers send fields in page order, and the server reads the file as a stream")
}

func TestFormValuesAreReturnedAfterSessionEnds(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	id := d.create("/v1/pathways", goodPathway())
	b, user := d.signedIn("admin")
	d.must(200, "DELETE", "/v1/users/"+user, "operator", nil)
	form := url.Values{"plan": {"{\n\"mine\": \"<b>\"}"}, "version": {"1"}}
	page := b.send("POST", "/pathways/"+id, form)
	assert.Equal(t, 401, page.Status)
	assert.Contains(t, string(page.Body), "The form was not processed.")
	assert.Contains(t, string(page.Body), `action="/pathways/`+id+`"`)
	assert.Contains(t, html.UnescapeString(string(page.Body)), "{\n\"mine\": \"<b>\"}</textarea>")
	assert.NotContains(t, string(page.Body), "<b>")
	for _, origin := range []string{"https://evil.example.com", ""} {
		foreign := b.send("POST", "/pathways/"+id, form, "Origin", origin)
		assert.Equal(t, 401, foreign.Status)
		assert.NotContains(t, string(foreign.Body), "mine", "a form from another site is not shown on a page of the dashboard: %q", origin)
	}
}

func TestSignedOutFormReturnIsLimitedInSizeAndRate(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	id := d.create("/v1/pathways", goodPathway())
	stranger := &browser{d: d}
	send := func(plan string, fields int) reply {
		form := url.Values{"plan": {plan}}
		for range fields - 1 {
			form.Add("x", "y")
		}
		return stranger.send("POST", "/pathways/"+id, form, "Sec-Fetch-Site", "same-origin", "X-Forwarded-For", addressNo(201))
	}
	for n, c := range []struct {
		size, fields int
		back         bool
	}{{250 << 10, 1, true}, {257 << 10, 1, false}, {4 << 20, 1, false}, {1, 100, true}, {1, 101, false}} {
		page := send("mine"+strings.Repeat("m", c.size), c.fields)
		assert.Equal(t, 401, page.Status, "%d", n)
		assert.Equal(t, c.back, strings.Contains(string(page.Body), "minem"), "%d", n)
	}
	for range 25 {
		require.Equal(t, 401, send("mine", 1).Status)
	}
	limited := send("mine", 1)
	assert.Equal(t, 429, limited.Status)
	assert.NotEmpty(t, limited.Header.Get("Retry-After"))
	assert.NotContains(t, string(limited.Body), "mine")

	user, _ := d.signedIn("admin")
	again := user.send("POST", "/pathways/"+id, url.Values{"plan": {"mine" + strings.Repeat("m", 300<<10)}, "version": {"1"}})
	assert.Contains(t, string(again.Body), "minem", "a signed-in user gets the whole form back")
}

func TestRepeatedPageRequestIsCountedOnce(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base})
	agent := d.create("/v1/agents", m{"name": "a", "first_message": "Hello."})
	b, _ := d.signedIn("manager")
	used := func() float64 {
		window, _ := d.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)["current_window"].(m)
		n, _ := window["requests_made"].(float64)
		return n
	}
	send := func(busy int) float64 {
		before := used()
		d.keysInUse = busy
		page := b.send("POST", "/campaigns", url.Values{"name": {"spring"}, "agent_id": {agent}, "pacing.calls_per_minute": {"30"}, "once": {strings.Repeat("a"+strconv.Itoa(busy), 16)}})
		require.Equal(t, 303, page.Status, "%s", page.Body)
		return used() - before
	}
	assert.InDelta(t, send(0), send(3), 0, "waiting for the first response uses no further requests of the rate limit")
}
