package httpapi_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

// fakeRateWindows stores the counts of rate limits in memory.
type fakeRateWindows struct {
	mu       sync.Mutex
	rows     map[string]domain.RateWindows
	err      error // error of reads and writes
	writeErr error // error of writes
	writes   int   // number of writes
}

func (w *fakeRateWindows) RateWindows(_ context.Context, id string) (domain.RateWindows, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rows[id], w.err
}

func (w *fakeRateWindows) StoreRateWindows(_ context.Context, row *domain.RateWindows) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.err != nil {
		return w.err
	}
	if w.writeErr != nil {
		return w.writeErr
	}
	if w.rows == nil {
		w.rows = make(map[string]domain.RateWindows)
	}
	w.rows[row.WorkspaceID] = *row
	return nil
}

// storedCount returns the number of stored requests of a workspace to a path.
func (w *fakeRateWindows) storedCount(id, path string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.rows[id].Counts[path].Log {
		n += e.N
	}
	return n
}

// countAllowed sends n requests and returns how many of them the rate limit allows.
func (d *testServer) countAllowed(n int) (ok int) {
	for range n {
		if d.do("GET", "/v1/agents", "operator", nil).Status == 200 {
			ok++
		}
	}
	return ok
}

func TestRateLimitCountsSurviveRestart(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(20, 10)
	require.Equal(t, 17, d.countAllowed(17))
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	d.must(201, "POST", "/v1/calls/outbound", "operator", call)
	ws := d.workspace.ID
	require.Eventually(t, func() bool {
		return d.windows.storedCount(ws, "") == 18 && d.windows.storedCount(ws, "/v1/calls/outbound") == 1
	}, 10*time.Second, time.Millisecond)

	killed := startServerWith(t, d.fakeServices, httpapi.Config{})
	use := killed.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)
	window, _ := use["current_window"].(m)
	assert.InDelta(t, 19, window["requests_made"], 0, "18 requests before the restart and this request")
	path, _ := use["endpoints"].(m)["/v1/calls/outbound"].(m)
	assert.InDelta(t, 1, path["requests_made"], 0)
	assert.Equal(t, 1+3, killed.countAllowed(10), "one request is left, and ⌈0.15·20⌉ = 3 as a burst")

	require.NoError(t, killed.server.Shutdown(t.Context()))
	again := startServerWith(t, d.fakeServices, httpapi.Config{})
	assert.Zero(t, again.countAllowed(3), "a restart does not refill the burst")
}

func TestRequestsAreRefusedWhileStoredCountsAreUnknown(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.windows.err = domain.Errorf(domain.CodeUnavailable, "the store is down").With("retry_after", 1)
	assert.Equal(t, 503, d.do("GET", "/v1/agents", "operator", nil).Status)
	d.windows.mu.Lock()
	d.windows.err = nil
	d.windows.mu.Unlock()
	d.must(200, "GET", "/v1/agents", "operator", nil)
}

func TestRateLimitCountsOfDeletedWorkspaceAreNotStored(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.setLimits(20, 10)
	d.windows.writeErr = domain.ErrFenced
	writes := func() int {
		d.windows.mu.Lock()
		defer d.windows.mu.Unlock()
		return d.windows.writes
	}
	require.Equal(t, 1, d.countAllowed(1))
	require.Eventually(t, func() bool { return writes() == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, d.server.Shutdown(t.Context())) // writes the unwritten counts
	assert.Equal(t, 1, writes(), "no second attempt")
}
