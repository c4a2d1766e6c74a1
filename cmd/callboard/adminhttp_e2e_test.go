package main_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

func TestProfilesAreServedToLoopbackNamesOnly(t *testing.T) {
	t.Parallel()
	addr := "127.0.0.1:" + strconv.Itoa(siptest.Port(t))
	newService(t, "CALLBOARD_ADMIN_ADDR="+addr)
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
}
