package httpapi_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/token"
)

const (
	base = "https://voice.example.com"
	page = "https://app.example.com"
)

// userToken returns a JWT for a user.
func (d *testServer) userToken(user string, rights ...string) string {
	d.t.Helper()
	text, ok := d.must(200, "POST", "/v1/auth/token", "operator", m{"user_id": user, "permissions": rights, "expires_in": 600}).json(d.t)["token"].(string)
	require.True(d.t, ok)
	return text
}

func TestJWTGrantsOnlyItsPermissions(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	before := time.Now().Add(-time.Second)
	body := d.must(200, "POST", "/v1/auth/token", "operator", m{"user_id": "ada", "permissions": []string{"calls:read"}}).json(t)
	until, err := time.Parse(time.RFC3339, fmt.Sprint(body["expires_at"]))
	require.NoError(t, err)
	assert.WithinRange(t, until, before.Add(time.Hour), time.Now().Add(time.Hour))
	text, _ := body["token"].(string)
	delete(body, "token")
	delete(body, "expires_at")
	assert.Equal(t, m{"token_type": "Bearer", "expires_in": 3600.0, "permissions": []any{"calls:read"}, "workspace_id": "ws_" + ulidOf(1)}, body)

	d.takeAuditEntries()
	d.must(200, "GET", "/v1/calls", text, nil)
	assert.Equal(t, []string{"auth api_key.used key_operator  false "}, d.takeAuditEntries())
	assert.Equal(t, "insufficient_permissions", d.must(403, "GET", "/v1/agents", text, nil).failure(t)["code"])

	var set struct {
		Keys []map[string]string `json:"keys"`
	}
	r := d.must(200, "GET", "/.well-known/jwks.json", "", nil)
	require.NoError(t, json.Unmarshal(r.Body, &set))
	require.Len(t, set.Keys, 1)
	assert.Equal(t, "public, max-age=300", r.Header.Get("Cache-Control"))
	claims := jwt.MapClaims{}
	read, err := jwt.ParseWithClaims(text, claims, func(*jwt.Token) (any, error) {
		x, err := base64.RawURLEncoding.DecodeString(set.Keys[0]["x"])
		return ed25519.PublicKey(x), err
	})
	require.NoError(t, err)
	assert.Equal(t, set.Keys[0]["kid"], read.Header["kid"])
	assert.Equal(t, []any{"ada", base, "ws_" + ulidOf(1)}, []any{claims["sub"], claims["iss"], claims["workspace_id"]})
}

func TestJWTRequestIsValidated(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	for name, c := range map[string]struct {
		body   m
		status int
		param  string
	}{
		"no user id":         {m{"user_id": "", "permissions": []string{"calls:read"}}, 422, "user_id"},
		"no permissions":     {m{"user_id": "u", "permissions": []string{}}, 422, "permissions"},
		"unknown permission": {m{"user_id": "u", "permissions": []string{"calls:*"}}, 422, "permissions[0]"},
		"lifetime too short": {m{"user_id": "u", "permissions": []string{"calls:read"}, "expires_in": 59}, 422, "expires_in"},
		"lifetime too long":  {m{"user_id": "u", "permissions": []string{"calls:read"}, "expires_in": 86401}, 422, "expires_in"},
		"negative lifetime":  {m{"user_id": "u", "permissions": []string{"calls:read"}, "expires_in": -5}, 422, "expires_in"},
		"lifetime of a day":  {m{"user_id": "u", "permissions": []string{"calls:read"}, "expires_in": 86400}, 200, ""},
	} {
		r := d.must(c.status, "POST", "/v1/auth/token", "operator", c.body)
		if c.param != "" {
			details, _ := r.failure(t)["details"].([]any)
			require.NotEmpty(t, details, name)
			assert.Equal(t, c.param, details[0].(map[string]any)["param"], name)
		}
	}
	more := m{"user_id": "u", "permissions": []string{"calls:read", "calls:write"}}
	assert.Equal(t, "insufficient_permissions", d.must(403, "POST", "/v1/auth/token", "calls:read", more).failure(t)["code"])
}

func TestJWTCannotCreateCredentials(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	text := d.userToken("ada", "*:read", "*:write")
	for path, body := range map[string]m{
		"/v1/api-keys":   {"name": "k", "permissions": []string{"calls:read"}},
		"/v1/webhooks":   {"url": "https://example.com/hook", "events": []string{"*"}},
		"/v1/auth/token": {"user_id": "u", "permissions": []string{"calls:read"}},
	} {
		f := d.must(403, "POST", path, text, body).failure(t)
		assert.Equal(t, "insufficient_permissions", f["code"], path)
		assert.Equal(t, "api_key", f["required"], path)
	}
	assert.Equal(t, "token", d.must(403, "POST", "/v1/auth/refresh", "operator", nil).failure(t)["required"])
}

func TestJWTRefreshEndsAfterOneDayAndWithItsKey(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	text := d.userToken("ada", "calls:read")
	first := d.claims(text)
	d.takeAuditEntries()
	again := d.must(200, "POST", "/v1/auth/refresh", text, nil).json(t)
	assert.Contains(t, d.takeAuditEntries(), "auth token.refreshed key_operator key_operator false ")
	assert.InDelta(t, 600.0, again["expires_in"], 0)
	next := d.claims(fmt.Sprint(again["token"]))
	assert.Equal(t, first["first_iat"], next["first_iat"])
	assert.NotEqual(t, first["jti"], next["jti"])

	old := d.forgeToken(func(c *token.Claims) { // the token was first issued 23 h 55 min ago and has been refreshed
		c.First = time.Now().Add(-24*time.Hour + 5*time.Minute).Unix()
	})
	last := d.must(200, "POST", "/v1/auth/refresh", old, nil).json(t)
	assert.InDelta(t, 300, last["expires_in"], 2, "the last token expires one day after the first")

	d.mu.Lock()
	d.revokedKeys = map[string]bool{"key_operator": true}
	d.mu.Unlock()
	assert.Equal(t, "expired_token", d.must(401, "GET", "/v1/calls", text, nil).failure(t)["code"])
	assert.Equal(t, "expired_token", d.must(401, "POST", "/v1/auth/refresh", text, nil).failure(t)["code"])
}

func TestTokenAudienceIsString(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	id, secret := d.secretClient("calls:read")
	issued := d.userToken("ada", "calls:read")
	for name, text := range map[string]any{
		"issued":    issued,
		"refreshed": d.must(200, "POST", "/v1/auth/refresh", issued, nil).json(t)["token"],
		"OAuth":     d.form("/oauth/token", m{"grant_type": "client_credentials", "client_id": id, "client_secret": secret}).json(t)["access_token"],
	} {
		token := fmt.Sprint(text)
		assert.Equal(t, "callboard-api", d.claims(token)["aud"], name)
		d.must(200, "GET", "/v1/calls", token, nil)
	}
}

func (d *testServer) claims(text string) jwt.MapClaims {
	d.t.Helper()
	c := jwt.MapClaims{}
	_, _, err := jwt.NewParser().ParseUnverified(text, c)
	require.NoError(d.t, err)
	return c
}

// forgeToken signs changed claims with the service's own key, as an attacker with access to the key could.
func (d *testServer) forgeToken(change func(*token.Claims)) string {
	d.t.Helper()
	keys, err := d.EnsureSigningKeys(d.t.Context(), token.NewKey)
	require.NoError(d.t, err)
	c := token.UserClaims(base, "ada", d.keys["operator"], []domain.Permission{domain.CallsRead}, 10*time.Minute, time.Now())
	change(&c)
	text, err := token.Sign(c, keys.Active)
	require.NoError(d.t, err)
	return text
}

func TestForgedTokensAreRefusedWithTheirErrorCode(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback()})
	good := d.userToken("ada", "calls:read")
	parts := strings.Split(good, ".")
	part := func(v any) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	keys, err := d.EnsureSigningKeys(t.Context(), token.NewKey)
	require.NoError(t, err)
	kid := keys.Active.ID
	public, err := base64.RawURLEncoding.DecodeString(keys.Active.Public)
	require.NoError(t, err)
	hs := func(secret []byte) string { // the public key is used as a shared secret
		text := part(m{"alg": "HS256", "typ": "JWT", "kid": kid}) + "." + parts[1]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	foreign := &domain.SigningKey{Private: base64.RawURLEncoding.EncodeToString(stranger.Seed())}
	foreign.ID = kid
	theirs, err := token.Sign(token.UserClaims(base, "ada", d.keys["operator"], []domain.Permission{domain.AllWrite}, time.Hour, time.Now()), foreign)
	require.NoError(t, err)
	expired := d.forgeToken(func(c *token.Claims) { c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Second)) })
	broken := strings.Split(expired, ".")
	more := d.claims(good)
	more["permissions"] = []string{"*:write"}

	address := 0
	for name, c := range map[string]struct{ text, code string }{
		"algorithm none":                    {part(m{"alg": "none", "kid": kid}) + "." + parts[1] + ".", "invalid_token"},
		"algorithm None":                    {part(m{"alg": "None", "kid": kid}) + "." + parts[1] + "." + parts[2], "invalid_token"},
		"HS256 with the public key":         {hs(public), "invalid_token"},
		"HS256 with the encoded public key": {hs([]byte(keys.Active.Public)), "invalid_token"},
		"changed permissions":               {parts[0] + "." + part(more) + "." + parts[2], "invalid_token"},
		"signed with another key":           {theirs, "invalid_token"},
		"key id that is a path":             {part(m{"alg": "EdDSA", "kid": "../../etc/passwd"}) + "." + parts[1] + "." + parts[2], "invalid_token"},
		"key id that is an object":          {part(m{"alg": "EdDSA", "kid": m{}}) + "." + parts[1] + "." + parts[2], "invalid_token"},
		"own key in the header":             {part(m{"alg": "EdDSA", "jwk": m{"kty": "OKP"}}) + "." + parts[1] + "." + parts[2], "invalid_token"},
		"truncated":                         {good[:len(good)-4], "invalid_token"},
		"no signature":                      {parts[0] + "." + parts[1] + ".", "invalid_token"},
		"expired":                           {expired, "expired_token"},
		"expired and tampered":              {broken[0] + "." + broken[1] + "." + parts[2], "invalid_token"},
		"other issuer":                      {d.forgeToken(func(c *token.Claims) { c.Issuer = "https://evil.example.com" }), "invalid_token"},
		"other audience":                    {d.forgeToken(func(c *token.Claims) { c.Audience = "other" }), "invalid_token"},
		"expired with another audience": {d.forgeToken(func(c *token.Claims) {
			c.Audience, c.ExpiresAt = "other", jwt.NewNumericDate(time.Now().Add(-time.Hour))
		}), "invalid_token"},
		"no expiry":                {d.forgeToken(func(c *token.Claims) { c.ExpiresAt = nil }), "invalid_token"},
		"issued in the future":     {d.forgeToken(func(c *token.Claims) { c.IssuedAt = jwt.NewNumericDate(time.Now().Add(time.Hour)) }), "invalid_token"},
		"no subject":               {d.forgeToken(func(c *token.Claims) { c.Subject = "" }), "invalid_token"},
		"no creating key":          {d.forgeToken(func(c *token.Claims) { c.KeyID = "" }), "invalid_token"},
		"too long a token":         {good + strings.Repeat("A", 5000), "invalid_token"},
		"invalid base64":           {"eyJ!!.e.e", "invalid_token"},
		"empty parts":              {"eyJ..", "invalid_token"},
		"single part without dots": {"eyJhbGciOiJIUzI1NiJ9", "invalid_api_key"},
	} {
		address++
		r := d.do("GET", "/v1/calls", c.text, nil, "X-Forwarded-For", addressNo(address)) // each address has its own limit of failures
		if assert.Equal(t, http.StatusUnauthorized, r.Status, name) {
			assert.Equal(t, c.code, r.failure(t)["code"], name)
			assert.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"), name)
		}
	}
}

func TestPreflightsOfAllowedOriginsAreNotCountedAsFailures(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	d.must(200, "PATCH", "/v1/workspace", "operator", m{"allowed_origins": []string{page}})
	expired := d.forgeToken(func(c *token.Claims) { c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Second)) })
	for range 60 {
		d.must(204, "OPTIONS", "/v1/calls", "", nil, "Origin", page, "Access-Control-Request-Method", "GET")
	}
	r := d.must(401, "GET", "/v1/calls", expired, nil, "Origin", page)
	assert.Equal(t, page, r.Header.Get("Access-Control-Allow-Origin"), "the page may read the error about its expired token")
	assert.Equal(t, "expired_token", r.failure(t)["code"])
	r = d.must(401, "GET", "/v1/calls", expired, nil, "Origin", "https://evil.example.com")
	assert.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))
	limited := 0
	for range 600 {
		if d.do("OPTIONS", "/v1/calls", "", nil, "Origin", page, "Access-Control-Request-Method", "GET").Status == http.StatusTooManyRequests {
			limited++
		}
	}
	assert.Positive(t, limited, "failed tokens have their own limit")
	strangers := map[int]int{}
	for range 40 {
		strangers[d.do("OPTIONS", "/v1/calls", "", nil, "Origin", "https://evil.example.com", "Access-Control-Request-Method", "GET").Status]++
	}
	assert.Positive(t, strangers[http.StatusForbidden])
	assert.Positive(t, strangers[http.StatusTooManyRequests], "pages outside the allowed origins count towards the address limit")
}

func TestAllowedOriginsMayUseTokensOnly(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	text := d.userToken("ada", "calls:read")
	assert.Equal(t, "origin_not_allowed", d.must(403, "GET", "/v1/calls", text, nil, "Origin", page).failure(t)["code"])
	ask := []string{"Origin", page, "Access-Control-Request-Method", "GET"}
	d.must(403, "OPTIONS", "/v1/calls", "", nil, ask...)
	for _, bad := range []string{"app.example.com", page + "/", "https://*.example.com", "ftp://x", "*", "null"} {
		d.must(422, "PATCH", "/v1/workspace", "operator", m{"allowed_origins": []string{bad}})
	}
	d.must(200, "PATCH", "/v1/workspace", "operator", m{"allowed_origins": []string{page}})

	r := d.must(200, "GET", "/v1/calls", text, nil, "Origin", page)
	assert.Equal(t, []string{page, "Origin"}, []string{r.Header.Get("Access-Control-Allow-Origin"), r.Header.Get("Vary")})
	r = d.must(204, "OPTIONS", "/v1/calls", "", nil, ask...)
	assert.Equal(t, page, r.Header.Get("Access-Control-Allow-Origin"))
	assert.Contains(t, r.Header.Get("Access-Control-Allow-Headers"), "Authorization")
	assert.Empty(t, r.Header.Get("Access-Control-Allow-Credentials"))
	r = d.must(403, "GET", "/v1/calls", text, nil, "Origin", "https://evil.example.com")
	assert.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))
	d.must(403, "GET", "/v1/calls", "operator", nil, "Origin", page)
}

func TestOneUserCannotUseWholeRateLimit(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	ada, bob := d.userToken("ada", "calls:read"), d.userToken("bob", "calls:read")
	d.mu.Lock()
	w := *d.workspace
	w.Limits.RequestsPerMinute = 20
	d.workspace = &w
	d.mu.Unlock()
	count := func(who string) (n int) {
		for range 30 {
			if d.do("GET", "/v1/calls", who, nil).Status == http.StatusOK {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 10, count(ada), "10 and no burst")
	assert.GreaterOrEqual(t, count(bob), 8)
}
