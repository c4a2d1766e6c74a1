package auth_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/auth"
)

// An account that uses many nonces evicts only its own nonces. A used nonce is never accepted again.
func TestNoncesOfOneAccountAreBounded(t *testing.T) {
	t.Parallel()
	p, at := auth.NewNonceStore(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	quiet := p.NewNonce(at)
	require.True(t, p.Use("quiet", quiet, 1, at))
	var used []string
	for i := range 5 * auth.MaxStoredUserNonces {
		at = at.Add(10 * time.Millisecond)
		nonce := p.NewNonce(at)
		require.True(t, p.Use("busy", nonce, 1, at), "the %dth is fresh, and lets it in", i)
		used = append(used, nonce)
	}
	kept, _ := p.Stored()
	assert.LessOrEqual(t, kept, auth.MaxStoredUserNonces+1)
	for i, nonce := range used {
		require.False(t, p.Use("busy", nonce, 1, at), "%d is used", i)
	}
	assert.False(t, p.Use("busy", used[0], 2, at), "a removed nonce is stale with any count")
	assert.True(t, p.Use("busy", used[len(used)-1], 2, at))
	assert.True(t, p.Use("quiet", quiet, 2, at), "the other account keeps its nonces")
	assert.False(t, p.Use("quiet", quiet, 2, at))
}

func TestNoncesOfAllAccountsAreBounded(t *testing.T) {
	t.Parallel()
	p, at := auth.NewNonceStore(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := p.NewNonce(at)
	require.True(t, p.Use("0", first, 1, at))
	for i := range auth.MaxStoredNonces + 10 {
		at = at.Add(time.Millisecond)
		require.True(t, p.Use(strconv.Itoa(i), p.NewNonce(at), 1, at))
	}
	kept, accounts := p.Stored()
	assert.LessOrEqual(t, kept, auth.MaxStoredNonces)
	assert.LessOrEqual(t, accounts, auth.MaxStoredNonces)
	assert.False(t, p.Use("0", first, 1, at), "a used nonce is refused, stored or not")
	at = at.Add(6 * time.Minute)
	require.True(t, p.Use("late", p.NewNonce(at), 1, at))
	kept, accounts = p.Stored()
	assert.Equal(t, []int{1, 1}, []int{kept, accounts}, "expired nonces are removed")
}
