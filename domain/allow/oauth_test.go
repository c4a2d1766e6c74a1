package allow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
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
		assert.Equal(t, c.want, allow.Meet(c.a, c.b), name)
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
		got, err := allow.Scope(text, most)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"openid", "calls:read offline_access", "agents:write", "*:write", "calls:*", strings.Repeat("calls:read ", 50)} {
		_, err := allow.Scope(text, most)
		assert.Equal(t, domain.OAuthInvalidScope, domain.CodeOf(err), text)
	}
	got, err := allow.Scope(allow.ScopeText(most), most)
	require.NoError(t, err)
	assert.Equal(t, most, got)
}

func TestOnlyTheVerifierOfAChallengeProvesIt(t *testing.T) {
	t.Parallel()
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	assert.True(t, allow.GoodChallenge(challenge))
	assert.True(t, allow.Proves(challenge, verifier))
	for _, other := range []string{"", challenge, verifier + "A", verifier[:42], strings.Repeat("a", 129), verifier + " ", strings.ToLower(verifier)} {
		assert.False(t, allow.Proves(challenge, other), other)
	}
	assert.True(t, allow.Proves("", ""), "a client with a secret may do without")
	assert.False(t, allow.Proves("", verifier), "a challenge that got lost")
	for _, bad := range []string{"", verifier[:42], challenge + "A", strings.Replace(challenge, "-", "+", 1), challenge[:42] + "="} {
		assert.False(t, allow.GoodChallenge(bad), bad)
	}
}

func TestASecretHasItsShape(t *testing.T) {
	t.Parallel()
	text, last4 := allow.NewSecret([24]byte{1, 2, 3})
	assert.Regexp(t, `^svc_cs_[a-z2-9]{46}$`, text)
	assert.True(t, strings.HasSuffix(text, last4))
	other, _ := allow.NewSecret([24]byte{1, 2, 4})
	assert.NotEqual(t, text, other)
}
