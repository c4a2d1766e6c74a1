package main_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

func TestAdminListenerServesPprofOnlyToLoopbackHosts(t *testing.T) {
	t.Parallel()
	addr := "127.0.0.1:" + strconv.Itoa(siptest.Port(t))
	s := newService(t, "CALLBOARD_ADMIN_ADDR="+addr)
	ask := func(path, host string) int {
		req, err := http.NewRequest(http.MethodGet, "http://"+addr+path, nil)
		require.NoError(t, err)
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	got := map[string]int{
		"own name": ask("/debug/pprof/goroutine", addr), "localhost": ask("/debug/pprof/heap", "localhost:1"),
		"a stranger's name": ask("/debug/pprof/goroutine", "rebound.example:80"), "no such page": ask("/v1/calls", addr),
	}
	assert.Equal(t, map[string]int{"own name": 200, "localhost": 200, "a stranger's name": 403, "no such page": 404}, got)
	// The owner of the data folder can read the profiles over the local socket, even if no admin address is configured.
	within := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(s.dataFolder(), "admin.sock"))
	}}}
	defer within.CloseIdleConnections()
	for path, want := range map[string]string{"/debug/pprof/heap?debug=1": "heap profile:", "/metrics": "callboard_ready 1", "/debug/counters": "{"} {
		resp, err := within.Get("http://localhost" + path)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, errors.Join(err, resp.Body.Close()))
		assert.Contains(t, string(text), want, path)
	}
}
