package record

import (
	"context"
	"sync"
)

// KeyedMutex is a mutex for each key. The zero value is ready.
type KeyedMutex struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when it is unlocked
}

// Lock waits for the mutex of a key until ctx ends, and returns the function that
// unlocks it.
func (m *KeyedMutex) Lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		m.mu.Lock()
		taken := m.held[key]
		if taken == nil {
			mine := make(chan struct{})
			if m.held == nil {
				m.held = make(map[string]chan struct{})
			}
			m.held[key] = mine
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.held, key)
				m.mu.Unlock()
				close(mine)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
