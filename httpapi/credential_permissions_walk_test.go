package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

// credential is a credential that the test uses, with its permissions.
type credential struct {
	bearer string   // an API key or a token
	kind   string   // key, jwt, oauth, or "" for any other
	rights []string // permissions of the credential
	query  string   // query with a ticket or a link
	cookie string
}

// permitted reports whether a credential with the permissions rights has one of the needed permissions, directly or by
// a wildcard.
func permitted(rights, needed []string) bool {
	return slices.ContainsFunc(needed, func(need string) bool {
		_, verb, _ := strings.Cut(need, ":")
		return slices.Contains(rights, need) || slices.Contains(rights, "*:"+verb)
	})
}

// needs returns, for every route that needs a credential, the permissions of which one is enough. The permission
// "operator" marks the routes for operators.
func needs() map[string][]string {
	out := map[string][]string{
		"POST /v1/auth/refresh": {"*:read", "*:write", "calls:read", "calls:write", "agents:read", "agents:write", "analytics:read"},
		"POST /v1/users":        {"*:write"}, "PATCH /v1/users/{id}": {"*:write"}, "DELETE /v1/users/{id}": {"*:write"},
		"POST /v1/users/{id}/sign-in-link": {"*:write"}, "DELETE /v1/users/{id}/sessions/{session_id}": {"*:write"},
	}
	for _, c := range routeCases() {
		route, _, _ := strings.Cut(c.route, "?")
		if c.permissions == "" {
			continue
		}
		out[route] = strings.Fields(c.permissions)
		if c.permissions == "operator" {
			out[route] = []string{"operator", "*:write"}
			if strings.HasPrefix(route, "GET ") {
				out[route] = []string{"operator", "*:read"}
			}
		}
	}
	// To read an event or an export, a credential also needs the read permission of the records in it.
	out["GET /v1/events/stream"], out["GET /v1/events/{id}"] = []string{"analytics:read"}, []string{"analytics:read"}
	out["GET /v1/exports/{id}/download"] = []string{"calls:read", "analytics:read"}
	return out
}

// verdict returns the expected result of a request with a credential: "in" if it is admitted, or the status and reason
// of the refusal.
func verdict(route string, required, keysOnly []string, who string, s credential) string {
	switch {
	case who == "link" && route == "GET /v1/calls/{id}/recording":
		return "in"
	case who == "ticket" && slices.Contains([]string{"GET /v1/calls/{id}/listen", "GET /v1/agents/{id}/talk", "GET /v1/events/stream"}, route):
		return "401 invalid_ticket"
	case s.kind == "":
		return "401 authentication_required"
	case s.kind != "jwt" && route == "POST /v1/auth/refresh":
		return "403 takes a token"
	case s.kind != "key" && slices.Contains(keysOnly, route):
		return "403 takes a key"
	case !permitted(s.rights, required):
		return "403 lacks a permission"
	case slices.Contains(required, "operator") && who != "operator":
		return "403 operator_required"
	}
	return "in"
}

// resultOf returns the result of a response in the same notation as verdict: "in", or the status and reason of the
// refusal.
func resultOf(t *testing.T, r reply) string {
	t.Helper()
	if r.Status == http.StatusTooManyRequests || r.Status >= http.StatusInternalServerError { // neither admitted nor refused
		return strconv.Itoa(r.Status)
	}
	if r.Status != http.StatusUnauthorized && r.Status != http.StatusForbidden {
		return "in"
	}
	e := r.failure(t)
	switch required := e["required"].(type) {
	case string:
		return map[string]string{"api_key": "403 takes a key", "token": "403 takes a token"}[required]
	case []any:
		return "403 lacks a permission"
	}
	return fmt.Sprint(r.Status, " ", e["code"])
}

func TestEveryRouteWithEveryCredentialKind(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	call := d.createCall()
	b, _ := d.signedIn("admin")
	at := func(path string) string { return "/v1/calls/" + call + path }
	_, ticket, _ := strings.Cut(d.must(201, "POST", "/v1/tickets", "operator", m{"path": at("/listen")}).json(t)["url"].(string), "?")
	_, link, _ := strings.Cut(d.must(201, "POST", at("/recording/link"), "operator", m{}).json(t)["url"].(string), "?")
	whole := []string{"*:read", "*:write"}
	creds := map[string]credential{
		"nothing": {}, "cookie": {cookie: b.cookie}, "ticket": {query: ticket}, "link": {query: link},
		"operator": {bearer: "operator", kind: "key", rights: whole}, "live": {bearer: "all", kind: "key", rights: whole},
	}
	for _, p := range append([]string{"*:read *:write"}, strings.Fields("*:read *:write calls:read calls:write agents:read agents:write analytics:read")...) {
		rights := strings.Fields(p)
		typed := make([]domain.Permission, len(rights))
		for i := range rights {
			typed[i] = domain.Permission(rights[i])
		}
		test := d.keys["all"]
		test.Environment, test.Permissions = domain.Test, typed
		d.keys["test "+p] = test
		creds["test "+p] = credential{bearer: "test " + p, kind: "key", rights: rights}
		if len(rights) == 1 {
			creds["live "+p] = credential{bearer: p, kind: "key", rights: rights}
		}
		creds["jwt "+p] = credential{bearer: d.userToken("ada", rights...), kind: "jwt", rights: rights}
		creds["oauth "+p] = credential{bearer: d.token(rights...), kind: "oauth", rights: rights}
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(d.must(200, "GET", "/openapi.json", "", nil).Body, &doc))
	keysOnly := keyRoutes(t)
	table, routes := needs(), map[string]bool{}
	got, want := map[string]string{}, map[string]string{}
	n := 0
	for path, ops := range doc.Paths {
		for method, op := range ops {
			route := strings.ToUpper(method) + " " + path
			if len(op.Security) == 0 {
				continue
			}
			routes[route] = true
			for who, s := range creds {
				n++
				d.useOtherWorkspace(n)
				want[route+" by "+who] = verdict(route, table[route], keysOnly, who, s)
				got[route+" by "+who] = resultOf(t, d.probe(strings.ToUpper(method), path, call, s, n))
			}
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(table)), slices.Collect(maps.Keys(routes)), "the table has every route")
	maps.DeleteFunc(got, func(what, is string) bool {
		same := want[what] == is
		if same {
			delete(want, what)
		}
		return same
	})
	assert.Equal(t, want, got)
	assert.Greater(t, n, 6000)
}

// useOtherWorkspace gives the workspace of the test server another id, so that its rate limits are unused.
func (d *testServer) useOtherWorkspace(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := *d.workspace
	w.ID = "ws_" + ulidOf(n%1000)
	d.workspace = &w
}

// probe sends a request that is refused or has no effect, with one credential, and returns the response.
func (d *testServer) probe(method, path, call string, s credential, n int) reply {
	query := s.query
	switch path {
	case "/v1/calls/{id}/recording":
		path = strings.Replace(path, "{id}", call, 1)
	case "/v1/events/stream":
		query += "&after=no"
	}
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.Header.SetMethod(method)
	req.SetRequestURI(d.url(strings.NewReplacer("{", "", "}", "").Replace(path) + "?" + query))
	if (strings.HasPrefix(path, "/v1/workspaces") || strings.HasPrefix(path, "/v1/alert-rules")) && method != http.MethodGet { // the credential is checked before the body
		req.SetBodyString("{}")
		req.Header.SetContentType("application/json")
	}
	req.Header.Set("X-Forwarded-For", addressNo(n))
	if s.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+s.bearer)
	}
	if s.cookie != "" {
		req.Header.Set("Cookie", s.cookie)
	}
	require.NoError(d.t, d.many.Do(req, res))
	return reply{res.StatusCode(), http.Header{"X-Request-Id": {string(res.Header.Peek("X-Request-Id"))}}, bytes.Clone(res.Body())}
}
