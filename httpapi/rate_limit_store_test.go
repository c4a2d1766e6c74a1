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

// fakeRateWindows keep counts as a store does.
type fakeRateWindows struct {
	mu    sync.Mutex
	rows  map[string]domain.RateWindows
	down  error // of reading and writing
	lost  error // of writing
	asked int   // writings
}

func (w *fakeRateWindows) RateWindows(_ context.Context, id string) (domain.RateWindows, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rows[id], w.down
}

func (w *fakeRateWindows) StoreRateWindows(_ context.Context, row *domain.RateWindows) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if w.down != nil {
		return w.down
	}
	if w.lost != nil {
		return w.lost
	}
	if w.rows == nil {
		w.rows = make(map[string]domain.RateWindows)
	}
	w.rows[row.WorkspaceID] = *row
	return nil
}

// kept is how many requests of a limit are kept.
func (w *fakeRateWindows) kept(id, path string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.rows[id].Counts[path].Log {
		n += e.N
	}
	return n
}

// passed is how many of n requests are not refused.
func (d *testServer) passed(n int) (ok int) {
	for range n {
		if d.do("GET", "/v1/agents", "operator", nil).Status == 200 {
			ok++
		}
	}
	return ok
}

func TestWhatIsUsedOfTheLimitsOutlivesTheProcess(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.limited(20, 10)
	require.Equal(t, 17, d.passed(17))
	call := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)}
	d.must(201, "POST", "/v1/calls/outbound", "operator", call)
	ws := d.workspace.ID
	require.Eventually(t, func() bool { return d.windows.kept(ws, "") == 18 && d.windows.kept(ws, "/v1/calls/outbound") == 1 }, 10*time.Second, time.Millisecond)

	killed := startServerWith(t, d.fakeServices, httpapi.Config{})
	use := killed.must(200, "GET", "/v1/usage/rate-limits", "operator", nil).json(t)
	window, _ := use["current_window"].(m)
	assert.InDelta(t, 19, window["requests_made"], 0, "eighteen of the last process, and this")
	path, _ := use["endpoints"].(m)["/v1/calls/outbound"].(m)
	assert.InDelta(t, 1, path["requests_made"], 0)
	assert.Equal(t, 1+3, killed.passed(10), "one is left, and ⌈0.15·20⌉ = 3 above it")

	require.NoError(t, killed.server.Shutdown(t.Context()))
	again := startServerWith(t, d.fakeServices, httpapi.Config{})
	assert.Zero(t, again.passed(3), "nor does the burst come back with the next process")
}

func TestRequestsAreRefusedWhileStoredCountsAreUnknown(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.windows.down = domain.Errorf(domain.CodeUnavailable, "the store is down").With("retry_after", 1)
	assert.Equal(t, 503, d.do("GET", "/v1/agents", "operator", nil).Status)
	d.windows.mu.Lock()
	d.windows.down = nil
	d.windows.mu.Unlock()
	d.must(200, "GET", "/v1/agents", "operator", nil)
}

func TestNothingIsKeptOfAWorkspaceThatIsGone(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.limited(20, 10)
	d.windows.lost = domain.ErrFenced
	asked := func() int {
		d.windows.mu.Lock()
		defer d.windows.mu.Unlock()
		return d.windows.asked
	}
	require.Equal(t, 1, d.passed(1))
	require.Eventually(t, func() bool { return asked() == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, d.server.Shutdown(t.Context())) // which writes what is still to be written
	assert.Equal(t, 1, asked(), "it is not tried again")
}
