package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
)

// owners are the nodes that have shards.
type owners struct {
	lease.Engine

	of map[int]string
}

func (o owners) Owner(shard int) (lease.Node, bool) {
	id, ok := o.of[shard]
	return lease.Node{ID: id}, ok
}

// Of a spool nobody gets what this node goes on with, is about to, or may be.
func TestASpoolIsGivenWhereAnotherNodeHasTheWorkspace(t *testing.T) {
	t.Parallel()
	of := make(map[int]string) // a workspace of each shard
	for i := 0; len(of) < 4; i++ {
		ws := "ws_" + strconv.Itoa(i)
		of[domain.ShardOf(ws, 4)] = ws
	}
	dir := t.TempDir()
	for shard, ws := range of {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, spoolDir, ws), 0o700))
		if shard != 3 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, spoolDir, ws, "call_1.wav"), []byte("sound"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, spoolDir, ws, "call_1.wav.part-1"), []byte("half"), 0o600))
		}
	}
	m := &member{
		cfg: &configs.Config{Data: dir, Shards: 4}, self: lease.Node{ID: "here"}, seats: map[int]*chair{1: {}},
		engine: owners{of: map[int]string{0: "there", 1: "there", 2: "here"}}, // 1 falls, 2 rises, and nobody has 3
	}
	ask := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		m.shelves().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		return w.Code, w.Body.String()
	}
	_, all := ask(http.MethodGet, "/spool/")
	assert.Equal(t, of[0]+"\n", all)
	for shard, ws := range of {
		want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[shard == 0]
		for _, path := range []string{"/spool/" + ws, "/spool/" + ws + "/call_1.wav"} {
			code, _ := ask(http.MethodGet, path)
			assert.Equal(t, want, code, "%d %s", shard, path)
		}
		code, _ := ask(http.MethodGet, "/spool/"+ws+"/call_1.wav.part-1")
		assert.Equal(t, http.StatusNotFound, code)
		_, _ = ask(http.MethodDelete, "/spool/"+ws+"/call_1.wav")
		_, err := os.Stat(filepath.Join(dir, spoolDir, ws, "call_1.wav"))
		assert.Equal(t, shard == 0 || shard == 3, err != nil, "%d", shard)
	}

	m.emptied(func(shard int) bool { return shard != 0 })
	for shard, ws := range of {
		_, err := os.Stat(filepath.Join(dir, spoolDir, ws))
		assert.Equal(t, shard == 3, err != nil, "%d: only where nothing is left", shard)
	}
}
