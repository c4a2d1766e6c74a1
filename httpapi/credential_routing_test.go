package httpapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/dashboard"
	"github.com/callboard/callboard/httpapi/locate"
	"github.com/callboard/callboard/httpapi/token"
)

// everyRoute returns the routes of the OpenAPI document and of the dashboard.
func everyRoute(t *testing.T, d *testServer) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(d.must(200, "GET", "/openapi.json", "", nil).Body, &doc))
	var all []string
	for path, methods := range doc.Paths {
		for method := range methods {
			if method == strings.ToLower(method) && len(method) <= 6 && method != "$ref" {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	for _, r := range dashboard.Routes() {
		all = append(all, r.Method+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(r.Path, "{$1}"))
	}
	return all
}

// destinations returns, for each kind of credential, the workspace to whose shard a request of a route is sent. A
// request that any shard can handle has no entry.
func destinations(t *testing.T, route string) string {
	t.Helper()
	ws := func(n int) string { return "ws_" + ulidOf(n) }
	key, parsed, err := access.NewKey("key_"+ulidOf(1), domain.Live, [24]byte{1})
	require.NoError(t, err)
	public, private, err := token.NewKey()
	require.NoError(t, err)
	signs := &domain.SigningKey{Meta: domain.Meta{ID: "jwk_1"}, Public: public, Private: private}
	sign := func(c token.Claims) string {
		text, err := token.Sign(c, signs)
		require.NoError(t, err)
		return "Bearer " + text
	}
	client := &domain.OAuthClient{Meta: domain.Meta{ID: "client_" + ulidOf(3), WorkspaceID: ws(3)}}
	method, path, _ := strings.Cut(route, " ")
	path = strings.ReplaceAll(path, "{id}", "x_"+ulidOf(8))
	var lines []string
	for _, c := range []struct{ name, query, form, header, value string }{
		{name: "key", header: "Authorization", value: "Bearer " + key},
		{name: "token", header: "Authorization", value: sign(token.UserClaims("i", "u", domain.Principal{WorkspaceID: ws(2), KeyID: "key_" + ulidOf(1)}, nil, time.Hour, time.Now()))},
		{name: "oauth", header: "Authorization", value: sign(token.AccessClaims("i", "u", "", client, nil, time.Hour, time.Now()))},
		{name: "basic", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("client_"+ulidOf(4)+":s"))},
		{name: "cookie", header: "Cookie", value: "__Host-callboard=" + access.JoinWorkspaceSecret(ws(5), ulidOf(1)+".s")},
		{name: "ticket", query: "ticket=" + access.JoinWorkspaceSecret(ws(6), "s")},
		{name: "link", query: "token=" + access.NewLinkToken(&domain.LinkKey{WorkspaceID: ws(7), Secret: "s"}, "call_"+ulidOf(1), time.Now())},
		{name: "placed", query: "token=" + access.JoinWorkspaceSecret(ws(10), "s")},
		{name: "asked", query: "client_id=client_" + ulidOf(11)},
		{name: "form", form: "client_id=client_" + ulidOf(12) + "&token=" + access.JoinWorkspaceSecret(ws(13), "s")},
		{name: "nothing"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), method, path+"?"+c.query, http.NoBody)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		var form []byte
		if locate.NeedsForm(r) {
			form = []byte(c.form)
		}
		found := locate.OwnerOf(r, form)
		to := found.Workspace + found.ID
		for name, is := range map[string]string{
			"key": parsed.ID, "token": ws(2), "oauth": ws(3), "basic": "client_" + ulidOf(4), "cookie": ws(5), "ticket": ws(6), "link": ws(7), "placed": ws(10),
			"asked": "client_" + ulidOf(11), "form": "client_" + ulidOf(12) + " " + ws(13),
		} {
			if to != "" && strings.Contains(is, to) {
				to = name
			}
		}
		switch to {
		case "":
		case c.name:
			lines = append(lines, to)
		default:
			lines = append(lines, c.name+":"+to)
		}
	}
	return strings.Join(lines, " ")
}

func TestEveryRouteIsForwardedByItsCredential(t *testing.T) {
	const (
		api   = "key token oauth ticket link"
		pages = "key token oauth cookie"
	)
	others := map[string]string{
		"POST /oauth/token": "basic form", "POST /oauth/revoke": "basic form", "POST /oauth/introspect": "basic form",
		"GET /oauth/authorize": "asked", "POST /oauth/authorize": "form",
		"GET /sign-in": "placed", "POST /sign-in": "form",
	}
	all := everyRoute(t, startServer(t, httpapi.Config{}))
	known := make(map[string]bool)
	for _, route := range all {
		known[route] = true
		want, other := others[route]
		switch {
		case other:
		case strings.Contains(route, " /v1/"):
			want = api
		default:
			want = pages
		}
		assert.Equal(t, want, destinations(t, route), route)
	}
	for _, c := range routeCases() {
		route, _, _ := strings.Cut(c.route, "?")
		assert.True(t, known[route], route)
	}
	for route := range others {
		assert.True(t, known[route], route)
	}
}

// emptyDirectory is a locate.Directory that knows no credential ids.
type emptyDirectory struct{}

func (emptyDirectory) WorkspaceOf(context.Context, string) (string, error) {
	return "", domain.ErrNotFound
}

// The URL of a ticket contains the workspace id, so that the request reaches the node that issued the ticket.
func TestTicketURLLocatesItsWorkspace(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	at, ok := d.must(201, "POST", "/v1/tickets", "operator", m{"path": "/v1/events/stream?type=call.*"}).json(t)["url"].(string)
	require.True(t, ok)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	assert.Equal(t, locate.Owner{Workspace: d.workspace.ID}, locate.OwnerOf(r, nil))
	n, err := locate.NewFinder(emptyDirectory{}, 64).Shard(r, nil)
	require.NoError(t, err)
	assert.Equal(t, domain.ShardOf(d.workspace.ID, 64), n)
}
