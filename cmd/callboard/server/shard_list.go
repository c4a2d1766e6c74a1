package server

import (
	"slices"
	"sync"
)

// shardList is the shards that a process runs. It may be used by several goroutines.
type shardList struct {
	mu   sync.Mutex
	list []*shard
}

func (l *shardList) add(t *shard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, t)
}

func (l *shardList) remove(t *shard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(x *shard) bool { return x == t })
}

func (l *shardList) all() []*shard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}
