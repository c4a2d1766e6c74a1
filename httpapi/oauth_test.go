package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/oauth"
)

// form sends a form to an OAuth endpoint. headers are pairs of names and values.
func (d *testServer) form(path string, values m, headers ...string) reply {
	d.t.Helper()
	v := url.Values{}
	for name, text := range values {
		v.Set(name, text.(string))
	}
	return d.do("POST", path, "", strings.NewReader(v.Encode()), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

// oauthError returns the error code of an OAuth error response.
func (r reply) oauthError(t *testing.T) string {
	t.Helper()
	var e oauth.OAuthFailure
	require.NoError(t, json.Unmarshal(r.Body, &e), "%s", r.Body)
	require.NotEmpty(t, e.Description)
	return string(e.Error)
}

// secretClient creates an OAuth client that gets tokens with its id and secret.
func (d *testServer) secretClient(scopes ...string) (id, secret string) {
	d.t.Helper()
	created := d.must(201, "POST", "/v1/oauth/clients", "operator", m{"name": "crm", "scopes": scopes}).json(d.t)
	return created["client_id"].(string), created["client_secret"].(string)
}

func (d *testServer) url(path string) string { return "http://" + d.addr + path }

func TestOAuthClientSecretIsShownOnceAndScopesAreLimitedToCreatorPermissions(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	body := m{"name": "crm", "scopes": []string{"calls:read"}, "redirect_uris": []string{"https://crm.example.com/cb"}}
	created := d.must(201, "POST", "/v1/oauth/clients", "all", body).json(t)
	assert.Equal(t, []any{"s3cret & more", created["id"], []any{"authorization_code", "refresh_token"}, "…wxyz", map[string]any{"type": "api_key", "id": "key_all"}},
		[]any{created["client_secret"], created["client_id"], created["grant_types"], created["secret_hint"], created["created_by"]})
	for _, r := range []reply{d.must(200, "GET", "/v1/oauth/clients", "all", nil), d.must(200, "GET", "/v1/oauth/clients/"+created["id"].(string), "all", nil)} {
		assert.NotContains(t, string(r.Body), "s3cret")
		assert.NotContains(t, string(r.Body), "kept", "the response does not contain the hash")
	}
	assert.NotContains(t, d.must(201, "POST", "/v1/oauth/clients", "all", m{
		"name": "app", "public": true, "scopes": []string{"calls:read"}, "redirect_uris": []string{"http://127.0.0.1:4711/cb"},
	}).json(t), "client_secret")
	for name, c := range map[string]struct {
		body   m
		status int
		param  string
	}{
		"scope beyond creator permissions":      {m{"name": "c", "scopes": []string{"calls:read"}}, 403, ""},
		"no scope":                              {m{"name": "c", "scopes": []string{}}, 422, "scopes"},
		"unknown scope":                         {m{"name": "c", "scopes": []string{"root"}}, 422, "scopes[0]"},
		"code grant without redirect":           {m{"name": "c", "scopes": []string{"*:write"}, "grant_types": []string{"authorization_code"}}, 422, "redirect_uris"},
		"unknown grant type":                    {m{"name": "c", "scopes": []string{"*:write"}, "grant_types": []string{"password"}}, 422, "grant_types[0]"},
		"public client with client credentials": {m{"name": "c", "scopes": []string{"*:write"}, "public": true}, 422, "grant_types"},
		"http redirect to another host":         {m{"name": "c", "scopes": []string{"*:write"}, "redirect_uris": []string{"http://example.com/"}}, 422, "redirect_uris[0]"},
	} {
		r := d.must(c.status, "POST", "/v1/oauth/clients", "*:write", c.body)
		if c.param != "" {
			assert.Equal(t, c.param, r.failure(t)["param"], name)
		}
	}
	f := d.must(403, "POST", "/v1/oauth/clients", d.userToken("ada", "*:read", "*:write"), body).failure(t)
	assert.Equal(t, "api_key", f["required"], "a client cannot be created with a token")
}

func TestClientCredentialsGrantIssuesUsableToken(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	id, secret := d.secretClient("calls:read", "agents:read")
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, d.client)
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
		d.takeAuditEntries()
		cc := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: d.url("/oauth/token"), Scopes: []string{"calls:read"}, AuthStyle: style}
		got, err := cc.Token(ctx)
		require.NoError(t, err)
		assert.Equal(t, []any{"Bearer", "calls:read", 3600.0}, []any{got.TokenType, got.Extra("scope"), got.Extra("expires_in")})
		assert.Empty(t, got.RefreshToken, "RFC 6749 4.4.3")
		assert.Equal(t, []string{"auth token.issued  " + id + " false "}, d.takeAuditEntries())

		res, err := oauth2.NewClient(ctx, oauth2.StaticTokenSource(got)).Get(d.url("/v1/calls"))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusOK, res.StatusCode)
		assert.Equal(t, "insufficient_permissions", d.must(403, "GET", "/v1/agents", got.AccessToken, nil).failure(t)["code"], "the token has only the requested scope")
		claims := d.claims(got.AccessToken)
		assert.Equal(t, []any{id, id, "calls:read", base}, []any{claims["sub"], claims["client_id"], claims["scope"], claims["iss"]})
	}
	r := d.form("/oauth/token", m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret})
	assert.Equal(t, "calls:read agents:read", r.json(t)["scope"], "without a scope parameter the token has all scopes")
	assert.Equal(t, []string{"no-store", "no-cache"}, []string{r.Header.Get("Cache-Control"), r.Header.Get("Pragma")})
	assert.NotEmpty(t, r.Header.Get("X-RateLimit-Limit"))
	text := r.json(t)["access_token"].(string)
	assert.Equal(t, "api_key", d.must(403, "POST", "/v1/oauth/clients", d.token("*:write"), m{"name": "c", "scopes": []string{"*:write"}}).failure(t)["required"])
	d.must(403, "POST", "/v1/auth/refresh", text, nil)
	assert.Equal(t, "origin_not_allowed", d.must(403, "GET", "/v1/calls", text, nil, "Origin", "https://evil.example.com").failure(t)["code"])
}

// token returns an access token of a new client.
func (d *testServer) token(scopes ...string) string {
	d.t.Helper()
	id, secret := d.secretClient(scopes...)
	r := d.form("/oauth/token", m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret})
	require.Equal(d.t, 200, r.Status, "%s", r.Body)
	return r.json(d.t)["access_token"].(string)
}

func TestTokenEndpointReturnsOAuthErrorCodes(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	id, secret := d.secretClient("calls:read")
	page := d.must(201, "POST", "/v1/oauth/clients", "operator", m{"name": "c", "scopes": []string{"calls:read"}, "redirect_uris": []string{"https://a.example.com/"}}).json(t)
	good := func(change m) m {
		f := m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret}
		for k, v := range change {
			f[k] = v
			if v == "" {
				delete(f, k)
			}
		}
		return f
	}
	basic := func(id, secret string) []string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url("/"), http.NoBody)
		require.NoError(t, err)
		req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
		return []string{"Authorization", req.Header.Get("Authorization")}
	}
	n := 0
	for name, c := range map[string]struct {
		form    m
		headers []string
		status  int
		code    string
	}{
		"no grant type":        {good(m{"grant_type": ""}), nil, 400, "invalid_request"},
		"another grant type":   {good(m{"grant_type": "password"}), nil, 400, "unsupported_grant_type"},
		"not its grant type":   {good(m{"client_id": page["id"]}), nil, 400, "unauthorized_client"},
		"another secret":       {good(m{"client_secret": "guess"}), nil, 401, "invalid_client"},
		"no secret":            {good(m{"client_secret": ""}), nil, 401, "invalid_client"},
		"unknown client":       {good(m{"client_id": "client_" + ulidOf(99)}), nil, 401, "invalid_client"},
		"no client":            {good(m{"client_id": "", "client_secret": ""}), nil, 401, "invalid_client"},
		"an API key":           {good(nil), []string{"Authorization", "Bearer operator"}, 401, "invalid_client"},
		"wrong secret, Basic":  {m{"grant_type": "client_credentials"}, basic(id, "guess"), 401, "invalid_client"},
		"in two ways":          {good(nil), basic(id, secret), 400, "invalid_request"},
		"two clients":          {m{"grant_type": "client_credentials", "client_id": page["id"]}, basic(id, secret), 400, "invalid_request"},
		"more than its scope":  {good(m{"scope": "calls:read calls:write"}), nil, 400, "invalid_scope"},
		"a scope that is none": {good(m{"scope": "calls:read openid"}), nil, 400, "invalid_scope"},
	} {
		n++
		r := d.form("/oauth/token", c.form, append(c.headers, "X-Forwarded-For", addressNo(n))...)
		if assert.Equal(t, c.status, r.Status, name) {
			assert.Equal(t, c.code, r.oauthError(t), name)
		}
		if c.status == 401 {
			assert.Contains(t, r.Header.Get("WWW-Authenticate"), "Basic", name)
		}
	}
	for _, raw := range []string{"grant_type=client_credentials&grant_type=x&client_id=" + id + "&client_secret=" + url.QueryEscape(secret), "%zz=1"} {
		r := d.do("POST", "/oauth/token", "", strings.NewReader(raw), "Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", addressNo(99))
		assert.Equal(t, "invalid_request", r.oauthError(t), raw)
	}
	assert.Equal(t, "invalid_request", d.do("POST", "/oauth/token", "", m{"grant_type": "client_credentials"}, "X-Forwarded-For", addressNo(98)).oauthError(t), "the token route does not accept JSON")
	assert.Equal(t, 413, d.form("/oauth/token", good(m{"scope": strings.Repeat("a", 20<<10)}), "X-Forwarded-For", addressNo(97)).Status)
}

func TestOAuthClientSecretGuessesAreRateLimitedByAddress(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	id, secret := d.secretClient("calls:read")
	f := m{"grant_type": "client_credentials", "client_id": id, "client_secret": "guess"}
	d.takeAuditEntries()
	counts := map[int]int{}
	for range 40 {
		counts[d.form("/oauth/token", f, "X-Forwarded-For", addressNo(1)).Status]++
	}
	assert.Equal(t, map[int]int{401: 30, 429: 10}, counts)
	assert.Equal(t, "auth auth.failed  "+id+" true invalid_client", d.takeAuditEntries()[0])
	f["client_secret"] = secret
	assert.Equal(t, 200, d.form("/oauth/token", f, "X-Forwarded-For", addressNo(2)).Status, "the limit does not affect other addresses")
}

func TestOnlyOwningClientRevokesAndIntrospectsToken(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	id, secret := d.secretClient("calls:read")
	other, otherSecret := d.secretClient("calls:read")
	own := m{"client_id": id, "client_secret": secret}
	with := func(who m, text string) m {
		return m{"client_id": who["client_id"], "client_secret": who["client_secret"], "token": text}
	}
	text := d.form("/oauth/token", m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret}).json(t)["access_token"].(string)
	claims := d.claims(text)

	assert.Equal(t, m{
		"active": true, "scope": "calls:read", "client_id": id, "token_type": "Bearer", "exp": claims["exp"], "iat": claims["iat"], "sub": id,
		"aud": "callboard-api", "iss": base, "jti": claims["jti"],
	}, d.form("/oauth/introspect", with(own, text)).json(t))
	foreign := m{"client_id": other, "client_secret": otherSecret}
	for _, c := range []m{with(foreign, text), with(own, text[:len(text)-3]), with(own, "nothing"), with(own, d.userToken("ada", "calls:read"))} {
		assert.Equal(t, m{"active": false}, d.form("/oauth/introspect", c).json(t))
	}
	assert.Equal(t, "invalid_client", d.form("/oauth/introspect", m{"token": text}).oauthError(t))
	assert.Equal(t, "invalid_request", d.form("/oauth/introspect", own).oauthError(t))

	assert.Equal(t, 200, d.form("/oauth/revoke", with(foreign, text)).Status, "the token of another client stays valid")
	d.must(200, "GET", "/v1/calls", text, nil)
	d.takeAuditEntries()
	assert.Equal(t, 200, d.form("/oauth/revoke", with(own, text)).Status)
	assert.Equal(t, []string{"auth token.revoked  " + id + " false "}, d.takeAuditEntries())
	assert.Equal(t, "expired_token", d.must(401, "GET", "/v1/calls", text, nil).failure(t)["code"])
	assert.Equal(t, m{"active": false}, d.form("/oauth/introspect", with(own, text)).json(t))
	assert.Equal(t, 200, d.form("/oauth/revoke", with(own, text)).Status, "again")

	next := d.form("/oauth/token", m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret}).json(t)["access_token"].(string)
	d.must(200, "DELETE", "/v1/oauth/clients/"+id, "operator", nil)
	d.must(401, "GET", "/v1/calls", next, nil)
}

func TestOAuthNeedsTheEnterprisePlan(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	id, secret := d.secretClient("calls:read")
	grant := m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret}
	text := d.form("/oauth/token", grant).json(t)["access_token"].(string)
	d.must(200, "PATCH", "/v1/workspace", "operator", m{"plan": "professional"})
	assert.Equal(t, "plan_required", d.must(403, "POST", "/v1/oauth/clients", "operator", m{"name": "c", "scopes": []string{"calls:read"}}).failure(t)["code"])
	d.must(403, "GET", "/v1/oauth/clients", "operator", nil)
	d.must(403, "GET", "/v1/oauth/clients/"+id, "operator", nil)
	r := d.form("/oauth/token", grant)
	assert.Equal(t, []any{403, "plan_required"}, []any{r.Status, r.oauthError(t)})
	assert.Equal(t, "plan_required", d.must(403, "GET", "/v1/calls", text, nil).failure(t)["code"], "tokens from before the change of plan are refused")
	d.must(200, "DELETE", "/v1/oauth/clients/"+id, "operator", nil)
}

func TestOAuthMetadataListsEndpointsAndMethods(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	r := d.must(200, "GET", "/.well-known/oauth-authorization-server", "", nil)
	got := r.json(t)
	assert.Equal(t, []any{base, base + "/oauth/token", base + "/oauth/revoke", base + "/oauth/introspect", base + "/.well-known/jwks.json"},
		[]any{got["issuer"], got["token_endpoint"], got["revocation_endpoint"], got["introspection_endpoint"], got["jwks_uri"]})
	assert.Contains(t, got["scopes_supported"], string(domain.AnalyticsRead))
}

func TestOAuthEndpointsIgnoreIdempotencyKey(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	id, secret := d.secretClient("calls:read")
	clear(d.replies)
	creds := m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret}
	first, again := d.form("/oauth/token", creds, "Idempotency-Key", "one"), d.form("/oauth/token", creds, "Idempotency-Key", "one")
	require.Equal(t, []int{200, 200}, []int{first.Status, again.Status})
	assert.NotEqual(t, first.json(t)["access_token"], again.json(t)["access_token"], "the repeated request gets a new token")
	request := m{"client_id": id, "client_secret": secret, "token": first.json(t)["access_token"]}
	for range 2 {
		r := d.form("/oauth/revoke", request, "Idempotency-Key", "two")
		assert.Equal(t, []any{200, ""}, []any{r.Status, r.Header.Get("Idempotent-Replayed")})
	}
	assert.Equal(t, false, d.form("/oauth/introspect", request, "Idempotency-Key", "three").json(t)["active"])
	assert.Empty(t, d.replies, "the response is not stored")
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect"} {
		post := d.must(200, "GET", "/openapi.json", "", nil).json(t)["paths"].(m)[path].(m)["post"].(m)
		assert.Contains(t, post["description"], "Idempotency-Key", path)
	}
}
