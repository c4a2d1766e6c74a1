package limit

import "sync"

// Concurrent limits the number of concurrent uses of something, such as event streams, per workspace. The zero value is
// ready to use.
type Concurrent struct {
	mu    sync.Mutex
	taken map[string]int
}

// Acquire adds a use for a workspace. The caller ends the use with leave. ok is false if the workspace already has
// limit uses.
func (p *Concurrent) Acquire(workspace string, limit int) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[workspace] >= limit {
		return nil, false
	}
	if p.taken == nil {
		p.taken = make(map[string]int)
	}
	p.taken[workspace]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.taken[workspace]--; p.taken[workspace] == 0 {
			delete(p.taken, workspace)
		}
	}, true
}
