package record

import (
	"context"
	"sync"
)

// KeyedMutex is a mutex for each key, which goes to its waiters in turn. The zero value is ready.
type KeyedMutex struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

// keyLock is the mutex of a key while somebody has it or waits for it.
type keyLock struct {
	free  chan struct{} // has an element while the mutex is free
	users int           // guarded by KeyedMutex.mu
}

// Lock waits for the mutex of a key until ctx ends, and returns the function that
// unlocks it. A free mutex is locked also if ctx has ended.
func (m *KeyedMutex) Lock(ctx context.Context, key string) (unlock func(), err error) {
	m.mu.Lock()
	l := m.locks[key]
	if l == nil {
		if m.locks == nil {
			m.locks = make(map[string]*keyLock)
		}
		l = &keyLock{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		m.locks[key] = l
	}
	l.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.locks, key)
		}
	}
	unlock = func() {
		l.free <- struct{}{}
		leave()
	}
	select {
	case <-l.free:
		return unlock, nil
	default:
	}
	select {
	case <-l.free:
		return unlock, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
