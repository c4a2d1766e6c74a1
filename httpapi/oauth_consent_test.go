package httpapi_test

import (
	"context"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/callboard/callboard/httpapi"
)

const callback = "https://crm.example.com/cb?from=callboard"

// browser sends requests with the session cookie of a user. It follows no redirects.
type browser struct {
	d      *testServer
	cookie string
}

func (b *browser) send(method, path string, form url.Values, headers ...string) reply {
	b.d.t.Helper()
	req, err := http.NewRequestWithContext(b.d.t.Context(), method, b.d.url(path), strings.NewReader(form.Encode()))
	require.NoError(b.d.t, err)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", base)
	}
	if b.cookie != "" {
		req.Header.Set("Cookie", b.cookie)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.d.client.Transport.RoundTrip(req)
	require.NoError(b.d.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.d.t, err)
	return reply{res.StatusCode, res.Header, text}
}

// signedIn creates a user with a role and returns a browser in which the user has signed in.
func (d *testServer) signedIn(role string) (b *browser, user string) {
	d.t.Helper()
	user = d.create("/v1/users", m{"name": "Ada <b>", "role": role})
	return d.signIn(user), user
}

// signIn returns another browser in which the user has signed in.
func (d *testServer) signIn(user string) *browser {
	d.t.Helper()
	link := d.must(201, "POST", "/v1/users/"+user+"/sign-in-link", "operator", nil).json(d.t)["url"].(string)
	at, err := url.Parse(link)
	require.NoError(d.t, err)
	b := &browser{d: d}
	r := b.send("POST", "/sign-in", url.Values{"token": {at.Query().Get("token")}})
	require.Equal(d.t, 303, r.Status, "%s", r.Body)
	b.cookie, _, _ = strings.Cut(r.Header.Get("Set-Cookie"), ";")
	return b
}

// consentClient creates an OAuth client that gets tokens by the consent of a user, and returns its configuration.
func (d *testServer) consentClient(public bool, scopes ...string) *oauth2.Config {
	d.t.Helper()
	created := d.must(201, "POST", "/v1/oauth/clients", "operator", m{"name": "CRM <script>", "scopes": scopes, "public": public, "redirect_uris": []string{callback}}).json(d.t)
	secret, _ := created["client_secret"].(string)
	return &oauth2.Config{
		ClientID: created["client_id"].(string), ClientSecret: secret, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: d.url("/oauth/authorize"), TokenURL: d.url("/oauth/token")},
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// fields returns the hidden fields of the form on a page.
func fields(page reply) url.Values {
	out := url.Values{}
	for _, m := range hidden.FindAllSubmatch(page.Body, -1) {
		out.Set(string(m[1]), html.UnescapeString(string(m[2])))
	}
	return out
}

func pathOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	require.NoError(t, err)
	return u.RequestURI()
}

// decide opens the consent page, submits the decision and returns the query parameters of the redirect to the client.
func (b *browser) decide(link, decision string) url.Values {
	b.d.t.Helper()
	page := b.send("GET", pathOf(b.d.t, link), nil)
	require.Equal(b.d.t, 200, page.Status, "%s", page.Body)
	f := fields(page)
	f.Set("decision", decision)
	return b.redirectParams(b.send("POST", "/oauth/authorize", f))
}

// redirectParams requires that a response redirects to the client and returns the added query parameters.
func (b *browser) redirectParams(r reply) url.Values {
	b.d.t.Helper()
	require.Equal(b.d.t, 302, r.Status, "%s", r.Body)
	rest, ok := strings.CutPrefix(r.Header.Get("Location"), callback+"&")
	require.True(b.d.t, ok, "exactly where the client said: %s", r.Header.Get("Location"))
	got, err := url.ParseQuery(rest)
	require.NoError(b.d.t, err)
	assert.Equal(b.d.t, base, got.Get("iss"))
	return got
}

func TestAuthorizationCodeFlowWithRefresh(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, d.client)
	for _, public := range []bool{false, true} {
		cfg := d.consentClient(public, "calls:read", "calls:write")
		b, user := d.signedIn("agent")
		verifier := oauth2.GenerateVerifier()
		d.takeAuditEntries()
		got := b.decide(cfg.AuthCodeURL("a state & more", oauth2.S256ChallengeOption(verifier)), "allow")
		assert.Equal(t, "a state & more", got.Get("state"))
		assert.Equal(t, []string{"auth oauth.consented  " + cfg.ClientID + " false "}, d.takeAuditEntries())
		first, err := cfg.Exchange(ctx, got.Get("code"), oauth2.VerifierOption(verifier))
		require.NoError(t, err)
		assert.Equal(t, "calls:read calls:write", first.Extra("scope"))
		assert.Equal(t, []any{user, cfg.ClientID}, []any{d.claims(first.AccessToken)["sub"], d.claims(first.AccessToken)["client_id"]})
		d.must(200, "GET", "/v1/calls", first.AccessToken, nil)
		d.must(403, "GET", "/v1/agents", first.AccessToken, nil)

		second, err := cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: first.RefreshToken}).Token()
		require.NoError(t, err)
		assert.NotEqual(t, first.RefreshToken, second.RefreshToken)
		assert.Contains(t, d.takeAuditEntries(), "auth token.refreshed  "+cfg.ClientID+" false ")

		d.must(200, "PATCH", "/v1/users/"+user, "operator", m{"role": "viewer"})
		d.must(403, "POST", "/v1/calls/outbound", second.AccessToken, m{"to": "+12025550123"})
		third, err := cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: second.RefreshToken}).Token()
		require.NoError(t, err)
		assert.Equal(t, "calls:read", third.Extra("scope"), "the token has at most the user's present permissions")

		_, err = cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: first.RefreshToken}).Token()
		var refused *oauth2.RetrieveError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, "invalid_grant", refused.ErrorCode)
		assert.Contains(t, strings.Join(d.takeAuditEntries(), "\n"), "auth token.reused  "+cfg.ClientID)
		d.must(401, "GET", "/v1/calls", third.AccessToken, nil)
		_, err = cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: third.RefreshToken}).Token()
		require.Error(t, err, "a refresh token that is used twice is revoked")
	}
}

func TestAuthorizationCodeCanBeExchangedOnceByItsClient(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, d.client)
	cfg, other := d.consentClient(false, "calls:read"), d.consentClient(false, "calls:read")
	b, _ := d.signedIn("admin")
	verifier := oauth2.GenerateVerifier()
	code := b.decide(cfg.AuthCodeURL("", oauth2.S256ChallengeOption(verifier)), "allow").Get("code")
	exchange := func(cfg *oauth2.Config, o ...oauth2.AuthCodeOption) string {
		_, err := cfg.Exchange(ctx, code, o...)
		var refused *oauth2.RetrieveError
		require.ErrorAs(t, err, &refused)
		return refused.ErrorCode
	}
	elsewhere := *cfg
	elsewhere.RedirectURL = callback + "&x=1"
	assert.Equal(t, "invalid_grant", exchange(other, oauth2.VerifierOption(verifier)), "another client")
	assert.Equal(t, "invalid_grant", exchange(&elsewhere, oauth2.VerifierOption(verifier)), "another redirect URI")
	assert.Equal(t, "invalid_grant", exchange(cfg), "no verifier")
	assert.Equal(t, "invalid_grant", exchange(cfg, oauth2.VerifierOption(oauth2.GenerateVerifier())), "another verifier")
	good, err := cfg.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	require.NoError(t, err)
	d.must(200, "GET", "/v1/calls", good.AccessToken, nil)
	assert.Equal(t, "invalid_grant", exchange(cfg, oauth2.VerifierOption(verifier)), "again")
	d.must(401, "GET", "/v1/calls", good.AccessToken, nil)

	code = b.decide(cfg.AuthCodeURL(""), "allow").Get("code")
	assert.Equal(t, "invalid_grant", exchange(cfg, oauth2.VerifierOption(verifier)), "a code without a challenge")
	given, err := cfg.Exchange(ctx, code)
	require.NoError(t, err, "a client with a secret needs neither PKCE nor state")
	request := m{"client_id": cfg.ClientID, "client_secret": cfg.ClientSecret, "token": given.RefreshToken}
	assert.Equal(t, []any{true, "refresh_token"}, []any{d.form("/oauth/introspect", request).json(t)["active"], d.form("/oauth/introspect", request).json(t)["token_type"]})
	assert.Equal(t, 200, d.form("/oauth/revoke", request).Status)
	d.must(401, "GET", "/v1/calls", given.AccessToken, nil)
	assert.Equal(t, m{"active": false}, d.form("/oauth/introspect", request).json(t))
}

func TestInvalidClientOrRedirectURIShowsErrorPage(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	cfg := d.consentClient(true, "calls:read")
	b, _ := d.signedIn("admin")
	good := func(change url.Values) string {
		q := url.Values{
			"client_id": {cfg.ClientID}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"calls:read"}, "state": {"s"},
			"code_challenge": {oauth2.S256ChallengeFromVerifier(oauth2.GenerateVerifier())}, "code_challenge_method": {"S256"},
		}
		maps.Copy(q, change)
		return "/oauth/authorize?" + q.Encode()
	}
	n := 100
	from := func() []string { n++; return []string{"X-Forwarded-For", addressNo(n)} }
	for name, change := range map[string]url.Values{
		"no client": {"client_id": nil}, "unknown client": {"client_id": {"client_" + ulidOf(77)}}, "no redirect": {"redirect_uri": nil},
		"other path of the redirect": {"redirect_uri": {"https://crm.example.com/other"}}, "longer redirect": {"redirect_uri": {callback + "/.."}}, "redirect in another case": {"redirect_uri": {strings.ToUpper(callback)}},
		"other host of the redirect": {"redirect_uri": {"https://crm.example.com.evil.example/cb?from=callboard"}}, "two redirects": {"redirect_uri": {callback, "https://evil.example.com/"}},
	} {
		r := b.send("GET", good(change), nil, from()...)
		assert.Equal(t, 400, r.Status, name)
		assert.Empty(t, r.Header.Get("Location"), name)
		assert.Contains(t, r.Header.Get("Content-Type"), "text/html", name)
	}
	for name, c := range map[string]struct {
		change url.Values
		code   string
	}{
		"no response type": {url.Values{"response_type": nil}, "invalid_request"}, "response type token": {url.Values{"response_type": {"token"}}, "unsupported_response_type"},
		"no challenge": {url.Values{"code_challenge": nil, "code_challenge_method": nil}, "invalid_request"}, "plain challenge method": {url.Values{"code_challenge_method": {"plain"}}, "invalid_request"},
		"no challenge method": {url.Values{"code_challenge_method": nil}, "invalid_request"}, "challenge that is not a hash": {url.Values{"code_challenge": {"short"}}, "invalid_request"},
		"unknown scope": {url.Values{"scope": {"openid"}}, "invalid_scope"}, "scope beyond the client's permissions": {url.Values{"scope": {"calls:write"}}, "invalid_scope"},
		"response mode fragment": {url.Values{"response_mode": {"fragment"}}, "invalid_request"},
	} {
		got := b.redirectParams(b.send("GET", good(c.change), nil))
		assert.Equal(t, []string{c.code, "s"}, []string{got.Get("error"), got.Get("state")}, name)
	}
	r := (&browser{d: d}).send("GET", good(nil), nil, from()...)
	assert.Equal(t, 401, r.Status, "no user is signed in")
	assert.Equal(t, "access_denied", b.decide(d.url(good(nil)), "deny").Get("error"))
	agent, _ := d.signedIn("agent")
	noPermission := d.consentClient(false, "analytics:read")
	assert.Equal(t, "access_denied", agent.redirectParams(agent.send("GET", pathOf(t, noPermission.AuthCodeURL("s")), nil)).Get("error"), "the user has none of the requested permissions")
	d.must(200, "PATCH", "/v1/workspace", "operator", m{"plan": "starter"})
	r = b.send("GET", good(nil), nil, from()...)
	assert.Equal(t, 403, r.Status)
	assert.Contains(t, string(r.Body), "plan_required")
}

func TestConsentPageShowsPermissionsAndIsBoundToItsSession(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	cfg := d.consentClient(false, "*:read", "calls:write")
	b, _ := d.signedIn("agent")
	link := pathOf(t, cfg.AuthCodeURL("s"))
	page := b.send("GET", link, nil)
	text := string(page.Body)
	assert.NotContains(t, text, "<script>", "names are escaped")
	assert.Contains(t, text, "CRM &lt;script&gt;")
	assert.NotContains(t, text, "<code>*:read", "the page offers at most the user's permissions")
	for _, p := range []string{"calls:read", "calls:write", "agents:read", "https://crm.example.com"} {
		assert.Contains(t, text, p)
	}
	policy := page.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self' https://crm.example.com", "style-src 'sha256-"} {
		assert.Contains(t, policy, want)
	}
	assert.NotContains(t, policy, "unsafe")
	assert.Equal(t, []string{"DENY", "same-origin", "no-store"}, []string{page.Header.Get("X-Frame-Options"), page.Header.Get("Referrer-Policy"), page.Header.Get("Cache-Control")})

	f := fields(page)
	f.Set("decision", "allow")
	with := func(name, value string) url.Values {
		c := url.Values{}
		maps.Copy(c, f)
		c.Set(name, value)
		return c
	}
	other, _ := d.signedIn("agent")
	for name, r := range map[string]reply{
		"form of another origin": b.send("POST", "/oauth/authorize", f, "Origin", "https://evil.example.com"),
		"cross-site form":        b.send("POST", "/oauth/authorize", f, "Sec-Fetch-Site", "cross-site"),
		"null origin":            b.send("POST", "/oauth/authorize", f, "Origin", "null"),
		"no proof":               b.send("POST", "/oauth/authorize", with("proof", "")),
		"changed scope":          b.send("POST", "/oauth/authorize", with("scope", "calls:read")),
		"changed state":          b.send("POST", "/oauth/authorize", with("state", "t")),
	} {
		assert.Equal(t, 403, r.Status, name)
		assert.Empty(t, r.Header.Get("Location"), name)
	}
	assert.Equal(t, 403, other.send("POST", "/oauth/authorize", with("proof", strings.Repeat("0", 64))).Status, "the proof is of another session")
	assert.Equal(t, 401, (&browser{d: d}).send("POST", "/oauth/authorize", f).Status)
	assert.NotEmpty(t, b.redirectParams(b.send("POST", "/oauth/authorize", f)).Get("code"))
}

func TestSignInLinkIsRedeemedOnceByButton(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	user := d.create("/v1/users", m{"name": "Ada", "role": "viewer", "allowed_ips": []string{"198.18.0.0/16"}})
	f := d.must(403, "POST", "/v1/users/"+user+"/sign-in-link", "*:write", nil).failure(t)
	assert.Equal(t, "insufficient_permissions", f["code"], "a user cannot grant a permission that the user does not have")
	d.must(403, "POST", "/v1/users", "*:write", m{"name": "Eve", "role": "admin"})
	d.must(403, "PATCH", "/v1/users/"+user, "*:write", m{"role": "admin"})
	d.must(422, "POST", "/v1/users", "operator", m{"name": "Eve", "role": "root"})
	d.must(403, "POST", "/v1/users", d.userToken("ada", "*:read", "*:write"), m{"name": "Eve", "role": "viewer"})
	link := d.must(201, "POST", "/v1/users/"+user+"/sign-in-link", "operator", nil).json(t)["url"].(string)
	token, path := url.Values{"token": {link[strings.Index(link, "=")+1:]}}, pathOf(t, link)
	b := &browser{d: d}
	for range 2 {
		page := b.send("GET", path, nil)
		assert.Equal(t, 200, page.Status)
		assert.Empty(t, page.Header.Get("Set-Cookie"), "loading the page does not use up the link")
		assert.Equal(t, token, fields(page))
	}
	assert.Equal(t, 403, b.send("POST", "/sign-in", token, "Origin", "https://evil.example.com").Status)
	r := b.send("POST", "/sign-in", token, "X-Forwarded-For", addressNo(1))
	assert.Equal(t, []any{303, "/"}, []any{r.Status, r.Header.Get("Location")})
	set := r.Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-callboard=", "path=/", "HttpOnly", "secure", "SameSite=Lax"} {
		assert.Contains(t, set, want)
	}
	assert.Equal(t, 401, b.send("POST", "/sign-in", token, "X-Forwarded-For", addressNo(1)).Status, "once")
	b.cookie, _, _ = strings.Cut(set, ";")

	authorizePath := pathOf(t, d.consentClient(false, "calls:read").AuthCodeURL("s"))
	assert.Equal(t, 200, b.send("GET", authorizePath, nil, "X-Forwarded-For", addressNo(2)).Status)
	assert.Equal(t, 401, b.send("GET", authorizePath, nil, "X-Forwarded-For", "203.0.113.9").Status, "the request comes from another address")
	l := d.must(200, "GET", "/v1/users/"+user+"/sessions", "operator", nil)
	assert.NotContains(t, string(l.Body), "hash")
	session := l.json(t)["data"].([]any)[0].(m)["id"].(string)
	d.must(200, "DELETE", "/v1/users/"+user+"/sessions/"+session, "operator", nil)
	assert.Equal(t, 401, b.send("GET", authorizePath, nil, "X-Forwarded-For", addressNo(2)).Status)
	r = b.send("POST", "/sign-out", nil, "X-Forwarded-For", addressNo(2))
	assert.Contains(t, r.Header.Get("Set-Cookie"), "__Host-callboard=;")
	counts := map[int]int{}
	for range 40 {
		counts[b.send("POST", "/sign-in", url.Values{"token": {"guess"}}, "X-Forwarded-For", addressNo(3)).Status]++
	}
	assert.Equal(t, map[int]int{401: 30, 429: 10}, counts)
	d.must(200, "DELETE", "/v1/users/"+user, "operator", nil)
}
