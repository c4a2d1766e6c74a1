package auth_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/auth"
)

// One phone that begins anew all the time uses up its own share and nobody
// else's, and nothing that was used is ever taken again.
func TestNoAccountUsesUpTheMemoryOfProofs(t *testing.T) {
	t.Parallel()
	p, at := auth.NewProofs(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	quiet := p.Make(at)
	require.True(t, p.Take("quiet", quiet, 1, at))
	var used []string
	for i := range 5 * auth.MaxUserProofs {
		at = at.Add(10 * time.Millisecond)
		nonce := p.Make(at)
		require.True(t, p.Take("busy", nonce, 1, at), "the %dth is fresh, and lets it in", i)
		used = append(used, nonce)
	}
	kept, _ := p.Kept()
	assert.LessOrEqual(t, kept, auth.MaxUserProofs+1)
	for i, nonce := range used {
		require.False(t, p.Take("busy", nonce, 1, at), "%d is used", i)
	}
	assert.False(t, p.Take("busy", used[0], 2, at), "what is forgotten is too old for whatever count")
	assert.True(t, p.Take("busy", used[len(used)-1], 2, at))
	assert.True(t, p.Take("quiet", quiet, 2, at), "the other one has all that it had")
	assert.False(t, p.Take("quiet", quiet, 2, at))
}

func TestTheMemoryOfProofsIsBoundedOverAllAccounts(t *testing.T) {
	t.Parallel()
	p, at := auth.NewProofs(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := p.Make(at)
	require.True(t, p.Take("0", first, 1, at))
	for i := range auth.MaxProofs + 10 {
		at = at.Add(time.Millisecond)
		require.True(t, p.Take(strconv.Itoa(i), p.Make(at), 1, at))
	}
	kept, accounts := p.Kept()
	assert.LessOrEqual(t, kept, auth.MaxProofs)
	assert.LessOrEqual(t, accounts, auth.MaxProofs)
	assert.False(t, p.Take("0", first, 1, at), "it was used, remembered or not")
	at = at.Add(6 * time.Minute)
	require.True(t, p.Take("late", p.Make(at), 1, at))
	kept, accounts = p.Kept()
	assert.Equal(t, []int{1, 1}, []int{kept, accounts}, "what its time ends is let go")
}
