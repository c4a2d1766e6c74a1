package actors

import "sync"

// workspaceMutex is one lock for each workspace, so that the slow commit of one
// workspace holds up no other. The zero value is ready.
type workspaceMutex struct {
	mu   sync.Mutex
	held map[string]*workspaceLock
}

type workspaceLock struct {
	mu    sync.Mutex
	users int // who hold it or wait for it; under workspaceMutex.mu
}

// lock waits for the lock of a workspace and returns the function that unlocks it.
func (m *workspaceMutex) lock(workspace string) (unlock func()) {
	m.mu.Lock()
	if m.held == nil {
		m.held = make(map[string]*workspaceLock)
	}
	l := m.held[workspace]
	if l == nil {
		l = &workspaceLock{}
		m.held[workspace] = l
	}
	l.users++
	m.mu.Unlock()
	l.mu.Lock()
	return func() {
		l.mu.Unlock()
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.held, workspace)
		}
	}
}
