package persistence_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// workspaceOf returns the id of a workspace that belongs to a shard.
func workspaceOf(shard, of int) string {
	for i := 0; ; i++ {
		if id := fmt.Sprint("ws_", i); domain.ShardOf(id, of) == shard {
			return id
		}
	}
}

// webhookOf returns a webhook of a workspace. Its secret field is stored encrypted, which needs the workspace's data key.
func webhookOf(workspace, id string) *domain.Webhook {
	h := webhook(id, "secret")
	h.WorkspaceID = workspace
	return h
}

func put(t testing.TB, s *persistence.Store, r domain.Record) error {
	t.Helper()
	_, err := s.Apply(t.Context(), commit.Change{Workspace: r.Key().Workspace, Puts: []domain.Record{r}})
	return err
}

func TestShardsOpenEmptyStoreConcurrently(t *testing.T) {
	const of = 4
	url, _ := redistest.Start(t)
	var drivers []persistence.Driver // the drivers of two processes
	for range 2 {
		d, err := redis.Open(t.Context(), url, redis.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		drivers = append(drivers, d)
	}
	var stores [of]*persistence.Store
	var begins sync.WaitGroup
	for i := range stores {
		begins.Go(func() {
			var err error
			stores[i], err = persistence.OpenShard(t.Context(), drivers[i%2], persistence.Owner{Master: master, Token: fmt.Sprintf("10%d|node", i), Shard: persistence.Shard{Number: i, Count: of}})
			assert.NoError(t, err)
		})
	}
	begins.Wait()
	var writes sync.WaitGroup
	for i, s := range stores {
		writes.Go(func() {
			assert.NoError(t, put(t, s, webhookOf(workspaceOf(i, of), "wh_1")))
			assert.NoError(t, put(t, s, webhookOf("", fmt.Sprint("wh_", i))), "a row without a workspace, with the data key of those rows")
		})
	}
	writes.Wait()
	for i, s := range stores {
		for j := range stores {
			for _, h := range []*domain.Webhook{webhookOf(workspaceOf(j, of), "wh_1"), webhookOf("", fmt.Sprint("wh_", j))} {
				h.Secret = ""
				_, err := s.Get(t.Context(), h)
				require.NoError(t, err)
				assert.Equal(t, "secret", h.Secret, "shard %d reads what %d wrote", i, j)
			}
		}
		assert.Equal(t, stores[0].RootKey(), s.RootKey())
	}
	n, err := persistence.ShardCount(t.Context(), drivers[0])
	require.NoError(t, err)
	assert.Equal(t, of, n)
	_, err = persistence.OpenShard(t.Context(), drivers[1], persistence.Owner{Master: bytes.Repeat([]byte{8}, 32), Token: "200|foreign", Shard: persistence.Shard{Number: 1, Count: of}})
	require.ErrorIs(t, err, persistence.ErrMasterKey)
	require.NoError(t, put(t, stores[1], webhookOf(workspaceOf(1, of), "wh_2")), "the refused process has not fenced the owner")
}

func TestShardRefusesWorkspacesOfOtherShards(t *testing.T) {
	withEachDriver(t, func(t *testing.T, _ *persistence.Store, d persistence.Driver) {
		require.NoError(t, persistence.SetShardCount(t.Context(), d, 3))
		s, err := persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "100|node", Shard: persistence.Shard{Number: 1, Count: 3}})
		require.NoError(t, err)
		mine, other := workspaceOf(1, 3), workspaceOf(2, 3)
		require.NoError(t, put(t, s, webhookOf(mine, "wh_1")))
		sealed := webhook("wh_1", "secret")
		sealed.WorkspaceID = other
		of := event.Draft{ID: "evt_1", Type: "x", WorkspaceID: other, Subject: "x"}
		for name, c := range map[string]commit.Change{
			"a change":                  {Workspace: other},
			"a row":                     {Workspace: mine, Puts: []domain.Record{sealed}},
			"a row without a workspace": {Puts: []domain.Record{sealed}},
			"a counter row":             {Workspace: mine, Adds: []domain.CounterRecord{&domain.Usage{WorkspaceID: other}}},
			"a deleted row":             {Workspace: mine, Deletes: []domain.Key{{Kind: "agent", Workspace: other, ID: "a"}}},
			"an event":                  {Events: []event.Draft{of}},
		} {
			_, err = s.Apply(t.Context(), c)
			require.ErrorIs(t, err, domain.ErrFenced, name)
			require.ErrorIs(t, err, persistence.ErrOtherShard, name)
		}
		_, err = s.Seal(t.Context(), domain.Key{Kind: "x", Workspace: other, ID: "a"}, "f", "text")
		require.ErrorIs(t, err, persistence.ErrOtherShard, "no data key is created for another shard")
		require.ErrorIs(t, s.Erase(t.Context(), other), persistence.ErrOtherShard)
		require.Error(t, s.RotateMasterKey(t.Context(), bytes.Repeat([]byte{9}, 32)))
		tables, err := d.Tables(t.Context(), other)
		require.NoError(t, err)
		assert.Empty(t, tables)
		_, err = s.Apply(t.Context(), commit.Change{Workspace: mine, Guards: []commit.Guard{commit.Absent(sealed.Key())}})
		require.NoError(t, err, "a guard may name any row")
	})
}

func TestWholeStoreAndShardsFenceEachOther(t *testing.T) {
	withEachDriver(t, func(t *testing.T, _ *persistence.Store, d persistence.Driver) {
		require.NoError(t, persistence.SetShardCount(t.Context(), d, 2))
		var parts [2]*persistence.Store
		for i := range parts {
			var err error
			parts[i], err = persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "100|node", Shard: persistence.Shard{Number: i, Count: 2}})
			require.NoError(t, err)
		}
		row := func(i int) domain.Record { return webhookOf(workspaceOf(i, 2), "wh_1") }
		alone := open(t, d)
		for i := range parts {
			require.NoError(t, put(t, alone, row(i)))
			require.ErrorIs(t, put(t, parts[i], row(i)), domain.ErrFenced)
		}
		again, err := persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "101|node", Shard: persistence.Shard{Number: 1, Count: 2}})
		require.NoError(t, err)
		require.NoError(t, put(t, again, row(1)))
		for i := range parts {
			require.ErrorIs(t, put(t, alone, row(i)), domain.ErrFenced, "the process is fenced, also for shard 0")
			require.ErrorIs(t, put(t, parts[i], row(i)), domain.ErrFenced)
		}
	})
}

func TestShardCountMustMatch(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		shards := func() int {
			n, err := persistence.ShardCount(t.Context(), d)
			require.NoError(t, err)
			return n
		}
		assert.Equal(t, 1, shards(), "a store that was never divided")
		part := func(token string, i, of int) (*persistence.Store, error) {
			return persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: token, Shard: persistence.Shard{Number: i, Count: of}})
		}
		_, err := part("100|node", 1, 4)
		require.ErrorIs(t, err, persistence.ErrShardCount)
		require.EqualError(t, err, "all nodes of an installation must have the same number of shards: shards is 4 here, and the store has 1 shards")
		require.NoError(t, put(t, s, webhookOf("ws_1", "wh_1")), "the refused process has not fenced the owner")
		one, err := part("100|node", 0, 1)
		require.NoError(t, err)
		require.ErrorIs(t, put(t, s, webhookOf("ws_1", "wh_1")), domain.ErrFenced)
		require.NoError(t, put(t, one, webhookOf("ws_1", "wh_1")))
		require.NoError(t, persistence.SetShardCount(t.Context(), d, 4))
		assert.Equal(t, 4, shards())
		require.ErrorIs(t, put(t, one, webhookOf("ws_1", "wh_1")), domain.ErrFenced, "a process that was still running")
		_, err = part("101|node", 0, 1)
		require.ErrorIs(t, err, persistence.ErrShardCount)
		_, err = part("101|node", 3, 4)
		require.NoError(t, err)
		for _, bad := range []int{-1, 0, domain.MaxShards + 1} {
			require.ErrorIs(t, persistence.SetShardCount(t.Context(), d, bad), persistence.ErrMalformed)
		}
		for _, bad := range [][2]int{{4, 4}, {-1, 4}, {1, 0}, {0, -1}, {0, domain.MaxShards + 1}} {
			_, err = part("102|node", bad[0], bad[1])
			require.ErrorIs(t, err, persistence.ErrMalformed)
		}
	})
	empty := embedded(t)
	n, err := persistence.ShardCount(t.Context(), empty)
	require.NoError(t, err)
	assert.Zero(t, n)
}
