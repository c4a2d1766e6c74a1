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

func TestTwoListsOfPermissionsMeetByMeaning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, want perms }{
		"the same":                {perms{domain.CallsRead}, perms{domain.CallsRead}, perms{domain.CallsRead}},
		"a star narrowed":         {perms{domain.AllRead}, perms{domain.CallsRead, domain.CallsWrite}, perms{domain.CallsRead}},
		"narrowed by a star":      {perms{domain.CallsRead, domain.CallsWrite}, perms{domain.AllRead}, perms{domain.CallsRead}},
		"nothing in common":       {perms{domain.CallsRead}, perms{domain.CallsWrite, domain.AgentsRead}, perms{}},
		"nothing with nothing":    {nil, nil, perms{}},
		"no more than was asked":  {perms{domain.AllRead}, perms{domain.CallsRead, domain.AllRead}, perms{domain.AllRead}},
		"none twice":              {perms{domain.CallsRead, domain.CallsRead}, perms{domain.AllRead}, perms{domain.CallsRead}},
		"two stars and two verbs": {perms{domain.AllRead, domain.AllWrite}, perms{domain.AllWrite, domain.CallsRead}, perms{domain.AllWrite, domain.CallsRead}},
	} {
		assert.Equal(t, c.want, access.Meet(c.a, c.b), name)
	}
}

func TestAScopeIsReadWithinWhatTheClientCanBeGiven(t *testing.T) {
	t.Parallel()
	most := perms{domain.AllRead, domain.CallsWrite}
	for text, want := range map[string]perms{
		"":                                 most,
		"  ":                               most,
		"calls:read":                       {domain.CallsRead},
		"calls:write  *:read calls:write ": {domain.CallsWrite, domain.AllRead},
	} {
		got, err := access.Scope(text, most)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"openid", "calls:read offline_access", "agents:write", "*:write", "calls:*", strings.Repeat("calls:read ", 50)} {
		_, err := access.Scope(text, most)
		assert.Equal(t, domain.OAuthInvalidScope, domain.CodeOf(err), text)
	}
	got, err := access.Scope(access.ScopeText(most), most)
	require.NoError(t, err)
	assert.Equal(t, most, got)
}

func TestOnlyTheVerifierOfAChallengeProvesIt(t *testing.T) {
	t.Parallel()
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	assert.True(t, access.GoodChallenge(challenge))
	assert.True(t, access.Proves(challenge, verifier))
	for _, other := range []string{"", challenge, verifier + "A", verifier[:42], strings.Repeat("a", 129), verifier + " ", strings.ToLower(verifier)} {
		assert.False(t, access.Proves(challenge, other), other)
	}
	assert.True(t, access.Proves("", ""), "a client with a secret may do without")
	assert.False(t, access.Proves("", verifier), "a challenge that got lost")
	for _, bad := range []string{"", verifier[:42], challenge + "A", strings.Replace(challenge, "-", "+", 1), challenge[:42] + "="} {
		assert.False(t, access.GoodChallenge(bad), bad)
	}
}

func TestASecretHasItsShape(t *testing.T) {
	t.Parallel()
	text, last4 := access.NewSecret([24]byte{1, 2, 3})
	assert.Regexp(t, `^svc_cs_[a-z2-9]{46}$`, text)
	assert.True(t, strings.HasSuffix(text, last4))
	other, _ := access.NewSecret([24]byte{1, 2, 4})
	assert.NotEqual(t, text, other)
}

func TestACodeIsGoodOnceForItsClientWithinAMinute(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	good := domain.OAuthCode{ClientID: "client_a", RedirectURI: "https://a/", Until: at.Add(domain.CodeLife)}
	used := good
	used.GrantID = "grant_x"
	for name, c := range map[string]struct {
		code             domain.OAuthCode
		client, redirect string
		verifier         string
		after            time.Duration
		again, ok        bool
	}{
		"good":                   {good, "client_a", "https://a/", "", domain.CodeLife - 1, false, true},
		"too late":               {good, "client_a", "https://a/", "", domain.CodeLife, false, false},
		"another client":         {good, "client_b", "https://a/", "", 0, false, false},
		"another redirect":       {good, "client_a", "https://a", "", 0, false, false},
		"a verifier for nothing": {good, "client_a", "https://a/", strings.Repeat("v", 43), 0, false, false},
		"again":                  {used, "client_a", "https://a/", "", 0, true, false},
		"again, late":            {used, "client_a", "https://a/", "", time.Hour, true, false},
		"again, by a stranger":   {used, "client_b", "https://a/", "", 0, false, false},
	} {
		again, err := access.Redeem(&c.code, c.client, c.redirect, c.verifier, at.Add(c.after))
		assert.Equal(t, []bool{c.again, c.ok}, []bool{again, err == nil}, name)
		if err != nil {
			assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), name)
		}
	}
}

func TestARefreshTokenIsGoodOnceForItsClientWhileItIsUsed(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	g := domain.OAuthGrant{ClientID: "client_a", Generation: 3, RefreshedAt: at, Meta: domain.Meta{CreatedAt: at}}
	old := g
	old.CreatedAt = at.Add(-domain.RefreshTotal + time.Hour)
	gone := g
	gone.RevokedAt = &at
	for name, c := range map[string]struct {
		grant      domain.OAuthGrant
		client     string
		generation int
		after      time.Duration
		again, ok  bool
	}{
		"good":                 {g, "client_a", 3, domain.RefreshIdle - 1, false, true},
		"not used for long":    {g, "client_a", 3, domain.RefreshIdle, false, false},
		"used, but for long":   {old, "client_a", 3, time.Hour, false, false},
		"the one before":       {g, "client_a", 2, 0, true, false},
		"another client":       {g, "client_b", 3, 0, false, false},
		"again, by a stranger": {g, "client_b", 2, 0, false, false},
		"revoked":              {gone, "client_a", 3, 0, false, false},
	} {
		again, err := access.Renew(&c.grant, c.client, c.generation, at.Add(c.after))
		assert.Equal(t, []bool{c.again, c.ok}, []bool{again, err == nil}, name)
	}
}

func TestARefreshTokenIsReadByWhoMadeIt(t *testing.T) {
	t.Parallel()
	id := domain.ID(domain.PrefixGrant, time.UnixMilli(1_700_000_000_000), [10]byte{1})
	text := access.RefreshText([]byte("pepper"), id, 7)
	got, generation, ok := access.ReadRefresh([]byte("pepper"), text)
	assert.Equal(t, []any{id, 7, true}, []any{got, generation, ok})
	for _, bad := range []string{
		"", "svc_rt_", text + "0", text[:len(text)-1], strings.Replace(text, "_7_", "_8_", 1), strings.Replace(text, "_7_", "_07_", 1), strings.Replace(text, "_7_", "_+7_", 1), strings.Repeat(text, 3),
	} {
		_, _, ok = access.ReadRefresh([]byte("pepper"), bad)
		assert.False(t, ok, bad)
	}
	_, _, ok = access.ReadRefresh([]byte("salt"), text)
	assert.False(t, ok, "made by another install")
}
