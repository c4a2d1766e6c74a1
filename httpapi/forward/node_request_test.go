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

func TestNodeAnswersRequestsToItself(t *testing.T) {
	t.Parallel()
	b := &board{has: map[int]string{}}
	asks, before := newMachine(t, b, patience), newMachine(t, b, patience)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	doors := forward.NewConnRouter(credential(t, 1), nil)
	doors.HandleNodeRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if string(text) == "bad" {
			http.Error(w, "no", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, "of "+string(text))
	}))
	go func() { _ = doors.Serve(ln) }()
	t.Cleanup(doors.Close)
	at := ln.Addr().String()

	for range 3 {
		got, err := asks.f.RequestNode(t.Context(), at, []byte("whose"))
		require.NoError(t, err)
		assert.Equal(t, "of whose", string(got))
	}
	_, err = asks.f.RequestNode(t.Context(), at, []byte("bad"))
	require.ErrorContains(t, err, "418")
	require.NoError(t, asks.f.ProbeNode(t.Context(), at), "it is reached as ever")
	_, err = asks.f.RequestNode(t.Context(), before.at, []byte("whose"))
	require.Error(t, err, "a node that answers no questions")

	stranger := forward.New(forward.Config{Shards: 8, Owner: b.owner, Credential: credential(t, 2)})
	t.Cleanup(stranger.Close)
	_, err = stranger.RequestNode(t.Context(), at, []byte("whose"))
	require.Error(t, err, "who has not the key is shown out")

	doors.Close()
	_, err = asks.f.RequestNode(t.Context(), at, []byte("whose"))
	require.Error(t, err)
}
