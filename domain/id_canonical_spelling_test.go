package domain_test

import (
	"math/rand/v2"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// CanonicalID and the ULID parser agree: an ID is valid only if the parser accepts it and formats it the same.
func TestIDHasOneSpelling(t *testing.T) {
	t.Parallel()
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyzILOUilou-_ \x00\xff"
	const capitals = 32 // number of capital letters and digits, which come first
	r := rand.New(rand.NewPCG(7, 8))
	good := 0
	for n := range 20_000 {
		text := make([]byte, ulid.EncodedSize)
		for i := range text {
			text[i] = letters[r.IntN(capitals)]
		}
		text[0] = letters[r.IntN(10)]
		if n%2 == 0 {
			text[r.IntN(len(text))] = letters[r.IntN(len(letters))]
		}
		got, err := domain.ParseID(domain.PrefixCall, "call_"+string(text))
		u, bad := ulid.ParseStrict(string(text))
		if bad != nil {
			require.ErrorIs(t, err, domain.ErrInvalidID, "%q", text)
			continue
		}
		good++
		require.NoError(t, err, "%q", text)
		assert.Equal(t, "call_"+u.String(), got, "%q", text)
	}
	assert.Greater(t, good, 5000)
	const id = "01J00000000000000000000000"
	for text, want := range map[string]string{
		"campaign_" + id: "campaign_" + id, "camp_" + id: "campaign_" + id, "camp_01j00000000000000000000000": "campaign_" + id,
		"campaign" + id: "", "campaign-" + id: "", "campaign_" + id + "0": "", "campaign_": "", "call_" + id: "", "": "",
	} {
		got, _ := domain.ParseID(domain.PrefixCampaign, text)
		assert.Equal(t, want, got, text)
	}
}
