package persistence_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

func TestReaderFencesNoProcess(t *testing.T) {
	url, _ := redistest.Start(t)
	d, err := redis.Open(t.Context(), url, redis.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	_, err = persistence.NewReader(t.Context(), d, master)
	require.ErrorIs(t, err, domain.ErrNotFound, "the store is empty")
	s, err := persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "100|node", Shard: persistence.Shard{Number: 0, Count: 2}})
	require.NoError(t, err)
	claim := func(number string) commit.Change {
		return commit.Change{Puts: []domain.Record{&domain.NumberClaim{Number: number, WorkspaceID: "ws_1"}}}
	}
	_, err = s.Apply(t.Context(), claim("+12025550100"))
	require.NoError(t, err)
	_, err = persistence.NewReader(t.Context(), d, bytes.Repeat([]byte{9}, 32))
	require.Error(t, err, "another master key")
	r, err := persistence.NewReader(t.Context(), d, master)
	require.NoError(t, err)
	assert.Equal(t, s.RootKey(), r.RootKey())
	got := &domain.NumberClaim{Number: "+12025550100"}
	_, err = r.Get(t.Context(), got)
	require.NoError(t, err)
	assert.Equal(t, "ws_1", got.WorkspaceID)
	_, err = r.Get(t.Context(), &domain.NumberClaim{Number: "+12025550199"})
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = s.Apply(t.Context(), claim("+12025550101"))
	require.NoError(t, err, "the owner is not fenced")
}
