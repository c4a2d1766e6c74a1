package record

import (
	"context"
	"sync"
)

// KeyedMutex is a set of mutexes, one for each key. Callers that wait for the same mutex get it in the order in which
// they called Lock. The zero value is ready.
type KeyedMutex struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

// keyLock is the mutex of one key. It exists while a caller holds the mutex or waits for it.
type keyLock struct {
	free  chan struct{} // has one element while the mutex is unlocked
	users int           // callers that hold the mutex or wait for it; guarded by KeyedMutex.mu
}

// Lock locks the mutex of a key and returns the function that unlocks it. It waits until ctx ends. If the mutex is
// unlocked, it succeeds even if ctx has ended already.
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
