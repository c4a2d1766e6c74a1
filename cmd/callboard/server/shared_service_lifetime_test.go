package server

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/configs"
)

func TestSharedServiceIsOpenFromTheFirstStartUntilTheLastShardStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		count  int
		failed bool
		closed bool
	}{
		{"one shard", 1, false, true},
		{"several shards keep SIP open", 2, false, false},
		{"several shards, start failed", 2, true, true},
	} {
		created := 0
		s := newRunningShards(c.count, func() *Service {
			created++
			return newService(context.Background(), &configs.Config{}, slog.New(slog.DiscardHandler), Options{})
		})
		t.Cleanup(s.close)
		first, second := s.beginStart(), s.beginStart()
		assert.Same(t, first, second, c.name)
		assert.Equal(t, 1, created, c.name)
		s.endStart(&ownedShard{shard: &shard{number: 0}})
		s.closeUnused(c.failed)
		assert.Same(t, first, s.currentService(), "%s: a shard runs and one starts", c.name)
		s.endStart(nil)
		s.closeUnused(c.failed)
		assert.Same(t, first, s.currentService(), "%s: a shard runs", c.name)
		s.remove(0)
		s.closeUnused(c.failed)
		assert.Equal(t, c.closed, s.currentService() == nil, c.name)
		assert.Equal(t, c.closed, first.processCtx.Err() != nil, c.name)
	}
}
