package locate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/locate"
)

// directory is a Directory that records its queries.
type directory struct {
	mu         sync.Mutex
	workspaces map[string]string
	queries    []string
	err        error
	release    chan struct{} // answers wait until it is closed
}

func (d *directory) WorkspaceOf(_ context.Context, id string) (string, error) {
	d.mu.Lock()
	d.queries = append(d.queries, id)
	w, ok := d.workspaces[id]
	fails, holds := d.err, d.release
	d.mu.Unlock()
	if holds != nil {
		<-holds
	}
	switch {
	case fails != nil:
		return "", fails
	case !ok:
		return "", domain.ErrNotFound
	}
	return w, nil
}

func (d *directory) queryCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queries)
}

func TestKnownIdIsQueriedOnceAndUnknownIdOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, id := apiKey(t)
		d := &directory{workspaces: map[string]string{}}
		f := locate.NewFinder(d, 16)
		r := request("GET", "/v1/calls", "Authorization", "Bearer "+key)
		shard := func() int {
			t.Helper()
			n, err := f.Shard(r, nil)
			require.NoError(t, err)
			return n
		}
		assert.Zero(t, shard())
		time.Sleep(999 * time.Millisecond)
		assert.Zero(t, shard())
		assert.Equal(t, 1, d.queryCount())
		d.workspaces[id] = other
		require.NotZero(t, domain.ShardOf(other, 16))
		time.Sleep(time.Millisecond)
		assert.Equal(t, domain.ShardOf(other, 16), shard(), "the resource was created meanwhile")
		time.Sleep(time.Hour)
		assert.Equal(t, domain.ShardOf(other, 16), shard())
		assert.Equal(t, 2, d.queryCount())
	})
}

func TestDirectoryFailureIsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, id := apiKey(t)
		d := &directory{workspaces: map[string]string{id: other}, err: errors.New("away")}
		f := locate.NewFinder(d, 16)
		_, err := f.Shard(request("GET", "/v1/calls", "Authorization", "Bearer "+key), nil)
		require.Error(t, err)
		d.err = nil
		n, err := f.Shard(request("GET", "/v1/calls", "Authorization", "Bearer "+key), nil)
		require.NoError(t, err)
		assert.Equal(t, domain.ShardOf(other, 16), n, "at once")
	})
}

// However many requests there are, the Directory gets a bounded number of concurrent queries, at most one per id.
func TestDirectoryQueriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &directory{workspaces: map[string]string{}, release: make(chan struct{})}
		f := locate.NewFinder(d, 16)
		var all sync.WaitGroup
		ask := func(id int) {
			all.Go(func() {
				r := request(http.MethodPost, "/oauth/token")
				_, err := f.Shard(r, []byte(fmt.Sprintf("client_id=client_01ARZ3NDEKTSV4RRFFQ69G5%03d", id)))
				assert.NoError(t, err)
			})
		}
		for range 5 {
			for id := range 100 {
				ask(id)
			}
		}
		synctest.Wait()
		assert.Equal(t, 16, d.queryCount())
		close(d.release)
		all.Wait()
		assert.Equal(t, 100, d.queryCount())
	})
}

func TestRequestEndsWhileDirectoryHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, _ := apiKey(t)
		d := &directory{release: make(chan struct{})}
		f := locate.NewFinder(d, 16)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Shard(request("GET", "/v1/calls", "Authorization", "Bearer "+key).WithContext(ctx), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(d.release)
		synctest.Wait()
	})
}

func TestRequestWithoutWorkspaceGoesToShardZero(t *testing.T) {
	d := &directory{}
	f := locate.NewFinder(d, 16)
	n, err := f.Shard(request("GET", "/v1/calls"), nil)
	require.NoError(t, err)
	assert.Zero(t, n)
	key, _ := apiKey(t)
	n, err = locate.NewFinder(d, 1).Shard(request("GET", "/v1/calls", "Authorization", "Bearer "+key), nil)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Zero(t, d.queryCount(), "a single shard needs no search")
}

// The Finder caches a bounded number of ids and evicts the ids that were not used recently.
func TestFinderEvictsUnusedIds(t *testing.T) {
	d := &directory{workspaces: map[string]string{}}
	f := locate.NewFinderWithLimits(d, 16, 10, 5)
	id := func(n int) string { return fmt.Sprintf("client_01ARZ3NDEKTSV4RRFFQ69G5%03d", n) }
	ask := func(n int) {
		t.Helper()
		_, err := f.Shard(request(http.MethodPost, "/oauth/token"), []byte("client_id="+id(n)))
		require.NoError(t, err)
	}
	for n := range 500 {
		d.workspaces[id(n)] = other
	}
	for n := range 500 {
		ask(n)
		ask(0) // a used id stays cached
		cached, unknown := f.CachedIDs()
		assert.LessOrEqual(t, cached, 20)
		assert.Zero(t, unknown)
	}
	assert.Equal(t, 500, d.queryCount())
	for n := 500; n < 600; n++ {
		ask(n)
		_, unknown := f.CachedIDs()
		assert.LessOrEqual(t, unknown, 5)
	}
}
