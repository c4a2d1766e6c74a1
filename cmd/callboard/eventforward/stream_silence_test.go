package eventforward

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/client"
)

func TestFollowEndsAfterASilenceOfTheStream(t *testing.T) {
	t.Parallel()
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, ": beat\n\ndata: {\"id\":\"evt_1\",\"type\":\"call.ended\"}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(far.Close)
	var got []string
	last, err := Follow(context.Background(), &client.Client{URL: far.URL, Key: "k"}, 300*time.Millisecond, "", "now", func() {}, func(id, kind string, _ []byte) { got = append(got, id+" "+kind) })
	assert.Equal(t, "evt_1", last)
	require.ErrorIs(t, err, errSilent)
	assert.Equal(t, []string{"evt_1 call.ended"}, got)
}
