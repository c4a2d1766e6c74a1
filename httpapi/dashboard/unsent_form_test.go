package dashboard

import (
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeAPI maps the method and path of an API request, without the query, to its response. Other requests get 404.
type fakeAPI map[string]func(once, query, body string) (int, string)

func (s fakeAPI) serve(method, path, _, once string, body io.Reader) (int, []byte) {
	var text []byte
	if body != nil {
		text, _ = io.ReadAll(body)
	}
	path, query, _ := strings.Cut(path, "?")
	answer := s[method+" "+path]
	if answer == nil {
		return http.StatusNotFound, []byte(`{"error":{"code":"not_found","message":"There is none."}}`)
	}
	status, said := answer(once, query, string(text))
	return status, []byte(said)
}

func respondWith(status int, answer string) func(string, string, string) (int, string) {
	return func(string, string, string) (int, string) { return status, answer }
}

// servePage returns the response to a request of a user with all permissions, and the body of the response.
func servePage(t *testing.T, s fakeAPI, method, path string, form url.Values, query ...string) (Response, string) {
	t.Helper()
	for _, r := range Routes() {
		pattern := "^" + regexp.MustCompile(`:\w+`).ReplaceAllString(r.Path, "([^/]+)") + "$"
		parts := regexp.MustCompile(pattern).FindStringSubmatch(path)
		if r.Method != method || parts == nil {
			continue
		}
		req := &Request{Method: method, Path: path, Form: form, Query: url.Values{}, API: s.serve, Schemas: fakeSchemas{}, Visitor: Visitor{Name: "Ada", Fresh: true, Rights: func(string) bool { return true }}}
		if len(query) > 0 {
			req.Query, _ = url.ParseQuery(query[0])
			req.Part = req.Query.Get("part")
		}
		for i, name := range regexp.MustCompile(`:\w+`).FindAllString(r.Path, -1) {
			if name == ":verb" {
				req.Verb = parts[i+1]
			} else {
				req.ID = parts[i+1]
			}
		}
		page := New().Serve(r, req)
		require.NoError(t, page.Fault)
		return page, string(page.Body)
	}
	require.FailNow(t, "no route", "%s %s", method, path)
	return Response{}, ""
}

// fakeSchemas are the schemas of the request bodies that the tests of this package send.
type fakeSchemas struct{}

func (fakeSchemas) BodySchema(_, path string) *huma.Schema {
	words := &huma.Schema{Type: huma.TypeString}
	number := &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0), Description: "A number."}
	switch path {
	case "/v1/campaigns":
		return &huma.Schema{Type: huma.TypeObject, Required: []string{"name"}, Properties: map[string]*huma.Schema{
			"name": words, "agent_id": words, "pacing": {Type: huma.TypeObject, Properties: map[string]*huma.Schema{"calls_per_minute": number}},
		}}
	case "/v1/things", "/v1/things/{id}":
		return &huma.Schema{Type: huma.TypeObject, Required: []string{"name"}, Properties: map[string]*huma.Schema{
			"name": words, "count": number, "on": {Type: huma.TypeBoolean}, "started_at": {Type: huma.TypeString, Format: "date-time"}, "password": words,
			"tags": {Type: huma.TypeArray, Items: words}, "kinds": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Enum: []any{"a", "b"}}},
			"mode": {Type: huma.TypeString, Enum: []any{"fast", "slow"}, Default: "fast"}, "metadata": {Type: huma.TypeObject, AdditionalProperties: words},
			"servers": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, Required: []string{"host"}, Properties: map[string]*huma.Schema{"host": words, "port": number}}},
			"limits":  {Type: huma.TypeObject, Properties: map[string]*huma.Schema{"max": number}},
		}}
	}
	return &huma.Schema{Type: huma.TypeObject}
}

func (fakeSchemas) Members(s *huma.Schema) (*huma.Schema, []string) {
	return s, slices.Sorted(maps.Keys(s.Properties))
}

const unavailable = `{"error":{"code":"unavailable","message":"The store is away."}}`

func TestFormValuesAreKeptAfterError(t *testing.T) {
	t.Parallel()
	const plan = `{"name": "mine <b>"}`
	typed := url.Values{"plan": {plan}, "version": {"3"}}
	for _, path := range []string{"/pathways/p", "/pathways/p/check"} {
		page, body := servePage(t, fakeAPI{"GET /v1/pathways/p": respondWith(503, unavailable)}, "POST", path, typed)
		assert.Equal(t, 503, page.Status, path)
		assert.Contains(t, body, "The store is away.")
		assert.Contains(t, body, `{&#34;name&#34;: &#34;mine &lt;b&gt;&#34;}</textarea>`, "the editor shows the plan")
		assert.Contains(t, body, `name="version" value="3"`)
		assert.Contains(t, body, `data-unsaved="yes"`)
	}
	const confirmed = "confirmed"
	broken := fakeAPI{"POST /v1/appointments/a/cancel": respondWith(500, unavailable)}
	page, body := servePage(t, broken, "POST", "/appointments/a/cancel", url.Values{"reason": {"ill"}, confirmed: {"yes"}, "once": {strings.Repeat("ab", 16)}})
	assert.Equal(t, 500, page.Status)
	s := fakeAPI{"POST /v1/appointments/a/cancel": respondWith(422, `{"error":{"code":"idempotency_mismatch","message":"Something else."}}`)}
	_, other := servePage(t, s, "POST", "/appointments/a/cancel", url.Values{"reason": {"ill"}, confirmed: {"yes"}, "once": {strings.Repeat("ab", 16)}})
	assert.Regexp(t, `name="once" value="[0-9a-f]{32}"`, other)
	assert.NotContains(t, other, strings.Repeat("ab", 16), "the idempotency key of another request is not sent again")
	assert.Regexp(t, `action="/appointments/a/cancel"[^>]*id="kept">(?s).*name="once" value="(ab){16}".*value="ill"`, body, "the form is returned although its action has no page")
}

func TestConflictingChangeIsShownWithTheSentForm(t *testing.T) {
	t.Parallel()
	sent := ""
	s := fakeAPI{
		"GET /v1/pathways/p": respondWith(200, `{"name":"theirs","start":"a","version":4,"variables":[],"nodes":[{"id":"a","type":"say","prompt":"<i>"},{"id":"new"}],"edges":[{"from":"a","to":"new"}]}`),
		"PATCH /v1/pathways/p": func(_, _, body string) (int, string) {
			sent = body
			return 409, `{"error":{"code":"invalid_state","message":"Version 4 is saved by now.","param":"version"}}`
		},
	}
	page, body := servePage(t, s, "POST", "/pathways/p", url.Values{"version": {"3"}, "plan": {`{"name":"mine","start":"a","nodes":[{"id":"a","type":"say","prompt":"mine"},{"id":"old"}],"edges":[{"from":"a","to":"new"}]}`}})
	assert.Equal(t, 409, page.Status)
	assert.Contains(t, sent, `"version":3`)
	assert.Contains(t, html.UnescapeString(body), `"prompt": "<i>"`, "the saved version is shown with its original text")
	assert.Contains(t, html.UnescapeString(body), `"prompt":"mine"`, "the user's version is shown")
	assert.Contains(t, body, `name="version" value="4"`, "the next save replaces the version that the page shows")
	assert.Equal(t, []string{"name", "node a", "node new: only in the saved version", "node old: only in your version"},
		strings.Split(strings.TrimSuffix(strings.TrimPrefix(regexp.MustCompile(`(?s)Differences:</p><ul>(.*?)</ul>`).FindStringSubmatch(body)[1], "<li>"), "</li>"), "</li><li>"))
}

func TestDoubleClickGetsResultOfFirstRequest(t *testing.T) {
	t.Parallel()
	once := strings.Repeat("0f", 16)
	var names []string
	s := fakeAPI{
		"GET /v1/agents": respondWith(200, `{"data":[]}`),
		"POST /v1/campaigns": func(once, _, _ string) (int, string) {
			if names = append(names, once); len(names) == 1 {
				return 409, `{"error":{"code":"idempotency_conflict","message":"It runs."}}`
			}
			return 201, `{"id":"campaign_x"}`
		},
	}
	page, _ := servePage(t, s, "POST", "/campaigns", url.Values{"name": {"x"}, "once": {once}})
	assert.Equal(t, "/campaigns/campaign_x?done=created", page.Location)
	assert.Equal(t, []string{once, once}, names)

	field := regexp.MustCompile(`name="once" value="([0-9a-f]{32})"`)
	for code, again := range map[string]bool{"unavailable": true, "idempotency_mismatch": false} {
		s["POST /v1/campaigns"] = respondWith(422, `{"error":{"code":"`+code+`","message":"No."}}`)
		_, body := servePage(t, s, "POST", "/campaigns", url.Values{"name": {"x"}, "once": {once}})
		shown := field.FindStringSubmatch(body)
		require.NotNil(t, shown)
		assert.Equal(t, again, shown[1] == once, "%s: a repeat keeps the idempotency key, a new request gets a new key", code)
	}
	_, one := servePage(t, s, "GET", "/campaigns/new", nil)
	_, two := servePage(t, s, "GET", "/campaigns/new", nil)
	assert.NotEqual(t, field.FindStringSubmatch(one)[1], field.FindStringSubmatch(two)[1])
	for _, bad := range []string{"", "x", strings.Repeat("zz", 16), strings.Repeat("0f", 200)} {
		assert.Empty(t, (&Request{Form: url.Values{"once": {bad}}}).idempotencyKey(), bad)
	}
}

func TestRepeatedRequestDoesNotWaitAfterTheRequestEnds(t *testing.T) {
	t.Parallel()
	over, requests := make(chan struct{}), 0
	close(over)
	for name, r := range map[string]*Request{
		"server is shutting down": {Ended: func() <-chan struct{} { return over }},
		"client is gone":          {Gone: func() bool { return true }},
	} {
		requests = 0
		r.Form = url.Values{"once": {strings.Repeat("0f", 16)}}
		r.API = func(string, string, string, string, io.Reader) (int, []byte) {
			requests++
			return 409, []byte(`{"error":{"code":"idempotency_conflict","message":"It runs."}}`)
		}
		_, err := r.send("POST", "/v1/campaigns", object{})
		require.Error(t, err)
		assert.Equal(t, 1, requests, name)
	}
}

func TestRefusedUploadShowsCampaignPage(t *testing.T) {
	t.Parallel()
	s := fakeAPI{
		"GET /v1/campaigns/c":           respondWith(200, `{"id":"c","name":"spring","status":"draft"}`),
		"GET /v1/campaigns/c/status":    respondWith(200, `{"progress":{"in_progress":0,"percent_complete":0}}`),
		"POST /v1/campaigns/c/contacts": respondWith(422, `{"error":{"code":"validation_failed","message":"The file has no phone."}}`),
	}
	page, body := servePage(t, s, "POST", "/campaigns/c/contacts", nil)
	assert.Equal(t, 422, page.Status)
	assert.Contains(t, body, "The file has no phone.")
	assert.Contains(t, body, `type="file"`, "the user can upload another file")
}

func TestPathwayChatFormIsKeptAfterError(t *testing.T) {
	t.Parallel()
	s := fakeAPI{"GET /v1/pathways/p": respondWith(200, `{"id":"p","name":"n"}`), "POST /v1/pathways/p/chat": respondWith(503, unavailable)}
	form := url.Values{
		"talk": {`[{"who":"agent","text":"Hello."}]`}, "inputs": {`[{"text":"before"}]`}, "answers": {`[]`}, "waits": {`{"for":"words"}`}, "text": {"I want <b>"},
	}
	page, body := servePage(t, s, "POST", "/pathways/p/try", form)
	assert.Equal(t, 503, page.Status)
	assert.Contains(t, body, "<q>Hello.</q>")
	assert.NotContains(t, body, "<q>I want")
	assert.Contains(t, body, `value="I want &lt;b&gt;"`, "the user can send the text again")
	assert.Contains(t, body, `name="inputs" value="[{&#34;text&#34;:&#34;before&#34;}]"`)
}

func TestCallListUpdateKeepsFilters(t *testing.T) {
	t.Parallel()
	requested := ""
	s := fakeAPI{"GET /v1/calls": func(_, query, _ string) (int, string) {
		requested = query
		return 200, `{"data":[]}`
	}}
	query := url.Values{"status": {"active"}, "direction": {"inbound"}, "agent_id": {"agent_x"}, "contact_id": {"contact_x"}, "campaign_id": {"campaign_x"}, "transcript": {"a & b"}, "cursor": {"c"}}
	_, body := servePage(t, s, "GET", "/calls", nil, query.Encode())
	poll := html.UnescapeString(regexp.MustCompile(`hx-get="/calls\?([^"]*)"`).FindStringSubmatch(body)[1])
	got, err := url.ParseQuery(poll)
	require.NoError(t, err)
	first := requested
	servePage(t, s, "GET", "/calls", nil, poll)
	assert.Equal(t, first, requested, "the update requests the same calls")
	got.Del("part")
	assert.Equal(t, query, got)
	for _, name := range []string{"contact_id", "campaign_id"} {
		assert.Contains(t, body, `type="hidden" name="`+name+`"`, "the filter form keeps the field")
	}
}

func TestRescheduleTimesUseDurationAndZoneOfAppointment(t *testing.T) {
	t.Parallel()
	var requested url.Values
	s := fakeAPI{
		"GET /v1/appointments/a": respondWith(200, `{"id":"a","status":"booked","provider_id":"provider_x","duration_minutes":45,"timezone":"Asia/Tokyo","patient":{"name":"Ada"}}`),
		"GET /v1/appointments/availability": func(_, query, _ string) (int, string) {
			requested, _ = url.ParseQuery(query)
			return 200, `{"slots":[{"local_start":"2030-04-01T10:00:00+09:00"}],"has_more":true}`
		},
	}
	_, body := servePage(t, s, "GET", "/appointments/a", nil, "from=2030-04-01")
	assert.Equal(t, url.Values{"provider": {"provider_x"}, "from": {"2030-04-01"}, "duration_minutes": {"45"}, "timezone": {"Asia/Tokyo"}, "limit": {"500"}}, requested)
	assert.Contains(t, body, "There are more free times: select a later day.")
}

func TestCampaignChartStartsAtCampaignStart(t *testing.T) {
	t.Parallel()
	s := fakeAPI{
		"GET /v1/campaigns/c":          respondWith(200, `{"id":"c","name":"n","started_at":"2030-04-01T09:00:00Z"}`),
		"GET /v1/campaigns/c/status":   respondWith(200, `{"status":"running","progress":{"total":100,"in_progress":0}}`),
		"GET /v1/campaigns/c/progress": respondWith(200, `{"marks":[{"at":"2030-04-01T09:05:00Z","percent":5,"attempted":9,"finished":5,"outcomes":{"confirmed":2,"declined":1,"busy":2}}]}`),
	}
	_, body := servePage(t, s, "GET", "/campaigns/c", nil, "part=chart")
	assert.Regexp(t, `(?s)data-at="1901264400".*data-n="0".*data-at="1901264700".*data-n="9".*data-n="3"`, body)
	delete(s, "GET /v1/campaigns/c/progress")
	_, body = servePage(t, s, "GET", "/campaigns/c", nil, "part=chart")
	assert.NotContains(t, body, "<h2>Progress", "a single point gives no chart")
}
