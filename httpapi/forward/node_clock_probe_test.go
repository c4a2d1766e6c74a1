package forward_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/forward"
)

func TestProbeReturnsTimeToNodesOnly(t *testing.T) {
	at := startNode(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "HEAD /healthz", r.Method+" "+r.URL.Path)
		w.Header().Set("Date", "Mon, 02 Mar 2026 12:00:00 GMT")
	}))
	answer, err := credential(t, 1).Probe(t.Context(), at)
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), answer)
	_, err = credential(t, 2).Probe(t.Context(), at)
	require.ErrorIs(t, err, forward.ErrNoNode)
}
