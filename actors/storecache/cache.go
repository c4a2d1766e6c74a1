// Package storecache caches what is computed from the records of a workspace until one of them changes.
package storecache

import (
	"sync"
	"time"
)

// maxCacheAge bounds the age of an entry: a commit of unknown outcome may be
// applied after its change was counted.
const maxCacheAge = 2 * time.Second

// maxCacheEntries bounds the entries of one Cache.
const maxCacheEntries = 4096

// changeCounter counts the changes of a workspace's agents, pathways, numbers and
// trunks.
type changeCounter interface {
	Changes(workspace string) uint64
}

// Cache keeps values that were computed from a workspace's agents, pathways,
// numbers and trunks until one of these changes. Its values are shared and must
// not be changed. The zero value is ready.
type Cache[T any] struct {
	mu    sync.RWMutex
	known map[cacheKey]cacheEntry[T]
}

type cacheKey struct{ workspace, key string }

type cacheEntry[T any] struct {
	value T
	of    uint64
	since time.Time
}

// Current returns the value of a key, by load if there is none or a record has
// changed.
func (r *Cache[T]) Current(s changeCounter, workspace, key string, load func() (T, error)) (T, error) {
	count, now := s.Changes(workspace), time.Now()
	return r.getOrLoad(cacheKey{workspace, key}, load, cacheEntry[T]{of: count, since: now}, func(have cacheEntry[T]) bool {
		return have.of == count && now.Sub(have.since) < maxCacheAge
	})
}

// Permanent returns the value of a key that never changes.
func (r *Cache[T]) Permanent(workspace, key string, load func() (T, error)) (T, error) {
	return r.getOrLoad(cacheKey{workspace, key}, load, cacheEntry[T]{}, func(cacheEntry[T]) bool { return true })
}

// Remove removes a key.
func (r *Cache[T]) Remove(workspace, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, cacheKey{workspace, key})
}

func (r *Cache[T]) getOrLoad(key cacheKey, load func() (T, error), now cacheEntry[T], good func(cacheEntry[T]) bool) (T, error) {
	r.mu.RLock()
	have, ok := r.known[key]
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
	if len(r.known) >= maxCacheEntries || r.known == nil {
		r.known = make(map[cacheKey]cacheEntry[T])
	}
	r.known[key] = now
	return value, nil
}
