// Package storecache wraps the store of a shard. It caches values computed from a workspace's records until one of
// the records changes, notifies readers of new events, and refuses commits to deleted workspaces.
package storecache

import (
	"sync"
	"time"
)

// maxCacheAge limits the age of an entry. A commit of unknown outcome may take effect after its change was counted.
const maxCacheAge = 2 * time.Second

// maxCacheEntries is the capacity of one Cache.
const maxCacheEntries = 4096

// changeCounter counts the changes of a workspace's agents, pathways, numbers and trunks.
type changeCounter interface {
	Changes(workspace string) uint64
}

// Cache keeps values computed from a workspace's agents, pathways, numbers and trunks until one of these changes.
// Callers must not change the returned values. The zero value is ready to use.
type Cache[T any] struct {
	mu      sync.RWMutex
	entries map[cacheKey]cacheEntry[T]
}

type cacheKey struct{ workspace, key string }

type cacheEntry[T any] struct {
	value    T
	changes  uint64
	loadedAt time.Time
}

// Current returns the value of a key. It calls load if there is no entry or if a record of the workspace has
// changed.
func (r *Cache[T]) Current(s changeCounter, workspace, key string, load func() (T, error)) (T, error) {
	count, now := s.Changes(workspace), time.Now()
	return r.getOrLoad(cacheKey{workspace, key}, load, cacheEntry[T]{changes: count, loadedAt: now}, func(have cacheEntry[T]) bool {
		return have.changes == count && now.Sub(have.loadedAt) < maxCacheAge
	})
}

// Permanent returns the value of a key that never changes.
func (r *Cache[T]) Permanent(workspace, key string, load func() (T, error)) (T, error) {
	return r.getOrLoad(cacheKey{workspace, key}, load, cacheEntry[T]{}, func(cacheEntry[T]) bool { return true })
}

// Remove deletes the entry of a key.
func (r *Cache[T]) Remove(workspace, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, cacheKey{workspace, key})
}

func (r *Cache[T]) getOrLoad(key cacheKey, load func() (T, error), now cacheEntry[T], good func(cacheEntry[T]) bool) (T, error) {
	r.mu.RLock()
	have, ok := r.entries[key]
	r.mu.RUnlock()
	if ok && good(have) {
		return have.value, nil
	}
	value, err := load()
	if err != nil {
		return value, err
	}
	now.value = value
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= maxCacheEntries || r.entries == nil {
		r.entries = make(map[cacheKey]cacheEntry[T])
	}
	r.entries[key] = now
	return value, nil
}
