package redis_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/persistence/storetest"
)

// opener gives each test a prefix of its own on one server.
func opener(t testing.TB) storetest.Open {
	t.Helper()
	url, _ := redistest.Start(t)
	var n atomic.Int64
	return func(t testing.TB) persistence.Driver {
		t.Helper()
		d, err := redis.Open(t.Context(), url, redis.Options{Prefix: fmt.Sprintf("test%d:", n.Add(1))})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
}

func TestRedisConforms(t *testing.T) { storetest.Run(t, opener(t)) }

func BenchmarkRedis(b *testing.B) { storetest.Bench(b, opener(b)) }
