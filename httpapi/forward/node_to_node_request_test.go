package forward_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/forward"
)

func TestNodeRequestReachesNodeHandler(t *testing.T) {
	t.Parallel()
	b := &ownerMap{owners: map[int]string{}}
	sender, oldNode := newTestNode(t, b, testTimeout), newTestNode(t, b, testTimeout)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	router := forward.NewConnRouter(credential(t, 1), nil)
	router.HandleNodeRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if string(text) == "bad" {
			http.Error(w, "no", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, "of "+string(text))
	}))
	go func() { _ = router.Serve(ln) }()
	t.Cleanup(router.Close)
	at := ln.Addr().String()

	for range 3 {
		got, err := sender.forwarder.RequestNode(t.Context(), at, []byte("whose"))
		require.NoError(t, err)
		assert.Equal(t, "of whose", string(got))
	}
	_, err = sender.forwarder.RequestNode(t.Context(), at, []byte("bad"))
	require.ErrorContains(t, err, "418")
	require.NoError(t, sender.forwarder.ProbeNode(t.Context(), at), "a probe of the node succeeds")
	_, err = sender.forwarder.RequestNode(t.Context(), oldNode.addr, []byte("whose"))
	require.Error(t, err, "the node has no handler for node requests")

	stranger := forward.New(forward.Config{Shards: 8, Owner: b.owner, Credential: credential(t, 2)})
	t.Cleanup(stranger.Close)
	_, err = stranger.RequestNode(t.Context(), at, []byte("whose"))
	require.Error(t, err, "a client without the key is refused")

	router.Close()
	_, err = sender.forwarder.RequestNode(t.Context(), at, []byte("whose"))
	require.Error(t, err)
}
