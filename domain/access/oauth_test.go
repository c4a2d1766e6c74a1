package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

func TestPermissionIntersection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, want permissions }{
		"the same":                {permissions{domain.CallsRead}, permissions{domain.CallsRead}, permissions{domain.CallsRead}},
		"a star narrowed":         {permissions{domain.AllRead}, permissions{domain.CallsRead, domain.CallsWrite}, permissions{domain.CallsRead}},
		"narrowed by a star":      {permissions{domain.CallsRead, domain.CallsWrite}, permissions{domain.AllRead}, permissions{domain.CallsRead}},
		"nothing in common":       {permissions{domain.CallsRead}, permissions{domain.CallsWrite, domain.AgentsRead}, permissions{}},
		"nothing with nothing":    {nil, nil, permissions{}},
		"at most the request":     {permissions{domain.AllRead}, permissions{domain.CallsRead, domain.AllRead}, permissions{domain.AllRead}},
		"none twice":              {permissions{domain.CallsRead, domain.CallsRead}, permissions{domain.AllRead}, permissions{domain.CallsRead}},
		"two stars and two verbs": {permissions{domain.AllRead, domain.AllWrite}, permissions{domain.AllWrite, domain.CallsRead}, permissions{domain.AllWrite, domain.CallsRead}},
	} {
		assert.Equal(t, c.want, access.IntersectPermissions(c.a, c.b), name)
	}
}

func TestScopeIsLimitedToClientPermissions(t *testing.T) {
	t.Parallel()
	most := permissions{domain.AllRead, domain.CallsWrite}
	for text, want := range map[string]permissions{
		"":                                 most,
		"  ":                               most,
		"calls:read":                       {domain.CallsRead},
		"calls:write  *:read calls:write ": {domain.CallsWrite, domain.AllRead},
	} {
		got, err := access.ParseScope(text, most)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"openid", "calls:read offline_access", "agents:write", "*:write", "calls:*", strings.Repeat("calls:read ", 50)} {
		_, err := access.ParseScope(text, most)
		assert.Equal(t, domain.OAuthInvalidScope, domain.CodeOf(err), text)
	}
	got, err := access.ParseScope(access.FormatScope(most), most)
	require.NoError(t, err)
	assert.Equal(t, most, got)
}

func TestOnlyMatchingVerifierPassesChallenge(t *testing.T) {
	t.Parallel()
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	assert.True(t, access.IsValidChallenge(challenge))
	assert.True(t, access.VerifyChallenge(challenge, verifier))
	for _, other := range []string{"", challenge, verifier + "A", verifier[:42], strings.Repeat("a", 129), verifier + " ", strings.ToLower(verifier)} {
		assert.False(t, access.VerifyChallenge(challenge, other), other)
	}
	assert.True(t, access.VerifyChallenge("", ""), "a client with a secret may do without")
	assert.False(t, access.VerifyChallenge("", verifier), "a challenge that got lost")
	for _, bad := range []string{"", verifier[:42], challenge + "A", strings.Replace(challenge, "-", "+", 1), challenge[:42] + "="} {
		assert.False(t, access.IsValidChallenge(bad), bad)
	}
}

func TestSecretFormat(t *testing.T) {
	t.Parallel()
	text, last4 := access.NewClientSecret([24]byte{1, 2, 3})
	assert.Regexp(t, `^svc_cs_[a-z2-9]{46}$`, text)
	assert.True(t, strings.HasSuffix(text, last4))
	other, _ := access.NewClientSecret([24]byte{1, 2, 4})
	assert.NotEqual(t, text, other)
}

func TestCodeIsValidOnceForItsClientWithinAMinute(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	good := domain.OAuthCode{ClientID: "client_a", RedirectURI: "https://a/", Until: at.Add(domain.OAuthCodeLifetime)}
	used := good
	used.GrantID = "grant_x"
	for name, c := range map[string]struct {
		code             domain.OAuthCode
		client, redirect string
		verifier         string
		after            time.Duration
		again, ok        bool
	}{
		"good":                   {good, "client_a", "https://a/", "", domain.OAuthCodeLifetime - 1, false, true},
		"too late":               {good, "client_a", "https://a/", "", domain.OAuthCodeLifetime, false, false},
		"another client":         {good, "client_b", "https://a/", "", 0, false, false},
		"another redirect":       {good, "client_a", "https://a", "", 0, false, false},
		"a verifier for nothing": {good, "client_a", "https://a/", strings.Repeat("v", 43), 0, false, false},
		"again":                  {used, "client_a", "https://a/", "", 0, true, false},
		"again, late":            {used, "client_a", "https://a/", "", time.Hour, true, false},
		"again, by a stranger":   {used, "client_b", "https://a/", "", 0, false, false},
	} {
		again, err := access.CheckCode(&c.code, c.client, c.redirect, c.verifier, at.Add(c.after))
		assert.Equal(t, []bool{c.again, c.ok}, []bool{again, err == nil}, name)
		if err != nil {
			assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), name)
		}
	}
}

func TestRefreshTokenIsValidOnceForItsClient(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	g := domain.OAuthGrant{ClientID: "client_a", Generation: 3, RefreshedAt: at, Meta: domain.Meta{CreatedAt: at}}
	old := g
	old.CreatedAt = at.Add(-domain.RefreshTokenLifetime + time.Hour)
	gone := g
	gone.RevokedAt = &at
	for name, c := range map[string]struct {
		grant      domain.OAuthGrant
		client     string
		generation int
		after      time.Duration
		again, ok  bool
	}{
		"good":                 {g, "client_a", 3, domain.RefreshTokenIdleTime - 1, false, true},
		"not used for long":    {g, "client_a", 3, domain.RefreshTokenIdleTime, false, false},
		"used, but for long":   {old, "client_a", 3, time.Hour, false, false},
		"the one before":       {g, "client_a", 2, 0, true, false},
		"another client":       {g, "client_b", 3, 0, false, false},
		"again, by a stranger": {g, "client_b", 2, 0, false, false},
		"revoked":              {gone, "client_a", 3, 0, false, false},
	} {
		again, err := access.CheckRefresh(&c.grant, c.client, c.generation, at.Add(c.after))
		assert.Equal(t, []bool{c.again, c.ok}, []bool{again, err == nil}, name)
	}
}

func TestRefreshTokenRoundTrip(t *testing.T) {
	t.Parallel()
	id := domain.ID(domain.PrefixGrant, time.UnixMilli(1_700_000_000_000), [10]byte{1})
	text := access.NewRefreshToken([]byte("pepper"), id, 7)
	got, generation, ok := access.ParseRefreshToken([]byte("pepper"), text)
	assert.Equal(t, []any{id, 7, true}, []any{got, generation, ok})
	for _, bad := range []string{
		"", "svc_rt_", text + "0", text[:len(text)-1], strings.Replace(text, "_7_", "_8_", 1), strings.Replace(text, "_7_", "_07_", 1), strings.Replace(text, "_7_", "_+7_", 1), strings.Repeat(text, 3),
	} {
		_, _, ok = access.ParseRefreshToken([]byte("pepper"), bad)
		assert.False(t, ok, bad)
	}
	_, _, ok = access.ParseRefreshToken([]byte("salt"), text)
	assert.False(t, ok, "made by another install")
}
