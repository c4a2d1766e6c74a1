// Package storecache wraps the store of a shard. It caches values that are computed from the records of a workspace
// until one of these records changes. It notifies readers of new events and refuses commits to deleted workspaces.
package storecache

import (
	"sync"
	"time"
)

// maxCacheAge limits the age of a cache entry. A commit whose outcome is unknown may take effect after the cache has
// reacted to it, so an entry may be outdated for this time.
const maxCacheAge = 2 * time.Second

// maxCacheEntries is the maximum number of entries in one Cache. A full cache is emptied.
const maxCacheEntries = 4096

// changeCounter counts how often the agents, pathways, numbers and trunks of a workspace have changed.
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

// Current returns the value of a key. It calls load if no value is cached or if an agent, pathway, number or trunk of
// the workspace has changed.
func (r *Cache[T]) Current(s changeCounter, workspace, key string, load func() (T, error)) (T, error) {
	count, now := s.Changes(workspace), time.Now()
	return r.getOrLoad(cacheKey{workspace, key}, load, cacheEntry[T]{changes: count, loadedAt: now}, func(have cacheEntry[T]) bool {
		return have.changes == count && now.Sub(have.loadedAt) < maxCacheAge
	})
}

// Permanent returns the value of a key whose value never changes. It calls load if no value is cached.
func (r *Cache[T]) Permanent(workspace, key string, load func() (T, error)) (T, error) {
	return r.getOrLoad(cacheKey{workspace, key}, load, cacheEntry[T]{}, func(cacheEntry[T]) bool { return true })
}

// Remove deletes the cached value of a key.
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
