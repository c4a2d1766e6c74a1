package locate_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/locate"
	"github.com/callboard/callboard/httpapi/token"
)

const (
	ulidA  = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	ulidB  = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
	ws     = "ws_" + ulidA
	other  = "ws_" + ulidB
	client = "client_" + ulidB
)

// apiKey returns an API key and its id. The key does not contain its workspace, so only the Directory knows it.
func apiKey(t testing.TB) (text, id string) {
	t.Helper()
	text, key, err := access.NewKey("key_"+ulidA, domain.Live, [24]byte{1, 2, 3})
	require.NoError(t, err)
	return text, key.ID
}

// jwt returns a token of the workspace ws. With a client id it is an OAuth access token.
func jwt(t testing.TB, clientID string) string {
	t.Helper()
	public, private, err := token.NewKey()
	require.NoError(t, err)
	p := domain.Principal{WorkspaceID: ws, KeyID: "key_" + ulidB}
	c := token.UserClaims("callboard", "user-1", p, nil, time.Hour, time.Now())
	if clientID != "" {
		of := &domain.OAuthClient{Meta: domain.Meta{ID: clientID, WorkspaceID: ws}}
		c = token.AccessClaims("callboard", "", "", of, nil, time.Hour, time.Now())
	}
	text, err := token.Sign(c, &domain.SigningKey{Meta: domain.Meta{ID: "jwk_1"}, Public: public, Private: private})
	require.NoError(t, err)
	return text
}

func request(method, path string, header ...string) *http.Request {
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func TestOwnerOfRequest(t *testing.T) {
	key, keyID := apiKey(t)
	link := access.NewLinkToken(&domain.LinkKey{WorkspaceID: ws, Secret: "s"}, "call_"+ulidB, time.Now())
	placed := access.JoinWorkspaceSecret(ws, "secret")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(client+":secret"))
	session := "a=b; __Host-callboard=" + access.JoinWorkspaceSecret(ws, ulidB+".secret") + "; c=d"
	caller, byKey, byClient := locate.Owner{Workspace: ws}, locate.Owner{ID: keyID}, locate.Owner{ID: client}
	none := locate.Owner{}
	const form = "grant_type=x&client_id=" + client + "&token=y"
	for name, c := range map[string]struct {
		r    *http.Request
		form string
		want locate.Owner
	}{
		"API key":                             {request("GET", "/v1/calls", "Authorization", "Bearer "+key), "", byKey},
		"API key with lax spelling of Bearer": {request("GET", "/v1/calls", "Authorization", "bEARER  "+key+" "), "", byKey},
		"API key with a wrong checksum":       {request("GET", "/v1/calls", "Authorization", "Bearer "+key[:len(key)-1]+"0"), "", none},
		"other authorization scheme":          {request("GET", "/v1/calls", "Authorization", "Token "+key), "", none},
		"key in another header":               {request("GET", "/v1/calls", "X-API-Key", key), "", none},
		"JWT":                                 {request("GET", "/v1/calls", "Authorization", "Bearer "+jwt(t, "")), "", caller},
		"JWT at the refresh route":            {request("POST", "/v1/auth/refresh", "Authorization", "Bearer "+jwt(t, "")), "", caller},
		"API key at the token route":          {request("POST", "/v1/auth/token", "Authorization", "Bearer "+key), "", byKey},
		"OAuth token":                         {request("GET", "/v1/calls", "Authorization", "Bearer "+jwt(t, client)), "", caller},
		"API key and ticket":                  {request("GET", "/v1/events/stream?ticket="+access.JoinWorkspaceSecret(other, "x"), "Authorization", "Bearer "+key), "", byKey},
		"ticket":                              {request("GET", "/v1/events/stream?type=call.*&ticket="+placed), "", caller},
		"escaped ticket":                      {request("GET", "/v1/events/stream?t%69cket="+strings.Replace(placed, ".", "%2E", 1)), "", caller},
		"ticket without a workspace":          {request("GET", "/v1/events/stream?ticket=AAAA"), "", none},
		"link to a recording":                 {request("GET", "/v1/calls/call_"+ulidB+"/recording?token="+url.QueryEscape(link)), "", caller},
		"cookie at an API route":              {request("GET", "/v1/calls", "Cookie", session), "", none},
		"dashboard page":                      {request("GET", "/campaigns/campaign_"+ulidB, "Cookie", session), "", caller},
		"dashboard action":                    {request("POST", "/campaigns/campaign_"+ulidB+"/start", "Cookie", session), "", caller},
		"dashboard page with an API key":      {request("GET", "/", "Cookie", session, "Authorization", "Bearer "+key), "", caller},
		"unknown route with an API key":       {request("GET", "/nowhere", "Authorization", "Bearer "+key), "", byKey},
		"invalid cookie":                      {request("GET", "/", "Cookie", "__Host-callboard=x.y.z"), "", none},
		"operator page":                       {request("GET", "/operator", "Cookie", session), "", caller},
		"operator action":                     {request("POST", "/operator/rules/r/pause", "Cookie", session), "", caller},
		"sign-out":                            {request("POST", "/sign-out", "Cookie", session), "", caller},
		"sign-in link":                        {request("GET", "/sign-in?token="+placed), "", caller},
		"sign-in":                             {request("POST", "/sign-in"), "token=" + placed, caller},
		"sign-in with the session of another workspace": {request("POST", "/sign-in", "Cookie", "__Host-callboard="+access.JoinWorkspaceSecret(other, ulidB+".x")), "token=" + placed, caller},
		"OAuth client in the form":                      {request("POST", "/oauth/token"), form, byClient},
		"OAuth client in Basic authorization":           {request("POST", "/oauth/token", "Authorization", basic), "grant_type=x", byClient},
		"OAuth client in Basic authorization and form":  {request("POST", "/oauth/revoke", "Authorization", basic), "client_id=client_" + ulidA, byClient},
		"OAuth form with an API key":                    {request("POST", "/oauth/introspect", "Authorization", "Bearer "+key), form, none},
		"OAuth client in an escaped form":               {request("POST", "/oauth/token"), "cl%69ent_id=client%5F" + ulidB, byClient},
		"client_id that is not a client":                {request("POST", "/oauth/token"), "client_id=ws_" + ulidB, none},
		"form too long":                                 {request("POST", "/oauth/token"), form + "&x=" + strings.Repeat("x", 16<<10), none},
		"consent page":                                  {request("GET", "/oauth/authorize?client_id="+client+"&scope=x", "Cookie", session), "", byClient},
		"consent form":                                  {request("POST", "/oauth/authorize?client_id=client_"+ulidA, "Cookie", session), form, byClient},
		"CORS preflight":                                {request("OPTIONS", "/v1/calls", "Origin", "https://example.com", "Access-Control-Request-Method", "GET"), "", none},
		"route of one workspace":                        {request("PATCH", "/v1/workspaces/"+other, "Authorization", "Bearer "+key), "", byKey},
		"list of workspaces":                            {request("GET", "/v1/workspaces", "Authorization", "Bearer "+key), "", byKey},
		"creation of a workspace":                       {request("POST", "/v1/workspaces", "Authorization", "Bearer "+key), "", byKey},
		"workspace of the API key":                      {request("GET", "/v1/workspace", "Authorization", "Bearer "+key), "", byKey},
		"alerts":                                        {request("GET", "/v1/alerts?limit=1", "Authorization", "Bearer "+key), "", byKey},
		"JWT with an empty payload":                     {request("GET", "/v1/calls", "Authorization", "Bearer eyJ.e30.x"), "", none},
		"JWT without JSON":                              {request("GET", "/v1/calls", "Authorization", "Bearer eyJ.eyJ.x"), "", none},
		"JWT with an invalid workspace id":              {request("GET", "/v1/calls", "Authorization", "Bearer eyJ."+base64.RawURLEncoding.EncodeToString([]byte(`{"workspace_id":"../x"}`))+".x"), "", none},
		"JWT too long":                                  {request("GET", "/v1/calls", "Authorization", "Bearer eyJ."+strings.Repeat("A", 5000)+".x"), "", none},
		"form at a route that does not need it":         {request("POST", "/v1/calls/outbound", "Authorization", "Bearer "+key), form, byKey},
	} {
		assert.Equal(t, c.want, locate.OwnerOf(c.r, []byte(c.form)), name)
	}
}

func FuzzOwnerOf(f *testing.F) {
	f.Add("POST", "/oauth/token", "client_id=x", "Basic eDp5", "a=b")
	f.Add("GET", "/v1/events/stream?ticket=%", "", "Bearer eyJ.e30.x", "__Host-callboard=a.b")
	f.Fuzz(func(t *testing.T, method, at, form, authorization, cookie string) {
		path, query, _ := strings.Cut(at, "?")
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{"Authorization": {authorization}, "Cookie": {cookie}}}
		locate.NeedsForm(r)
		found := locate.OwnerOf(r, []byte(form))
		if found.Workspace != "" {
			id, err := domain.ParseID(domain.PrefixWorkspace, found.Workspace)
			require.NoError(t, err)
			assert.Equal(t, id, found.Workspace)
		}
		if found.ID != "" {
			assert.Equal(t, domain.CanonicalID(found.ID), found.ID)
			assert.Empty(t, found.Workspace)
		}
	})
}
