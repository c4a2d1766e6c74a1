package main_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countAccepted sends n requests and returns how many get status 200 instead of the rate limit error.
func (s *service) countAccepted(n int) (ok int) {
	for range n {
		if status, _, _ := s.tryRequest("GET", "/v1/workspace", nil); status == 200 {
			ok++
		}
	}
	return ok
}

func TestCrashPermitsAtMostOneExtraBurstOfRequests(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	const requests, burst = 100, 15
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": requests, "concurrent_inbound": 1, "concurrent_outbound": 1, "calls_per_minute": 10,
	}})
	created := 1 + s.countAccepted(90)
	require.Equal(t, 91, created)
	s.kill9()
	s.start()
	created += s.countAccepted(2 * requests)
	assert.GreaterOrEqual(t, created, requests)
	assert.LessOrEqual(t, created, requests+2*burst, "two bursts: one of them because of the crash")
}
