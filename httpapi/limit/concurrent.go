package limit

import "sync"

// Concurrent bounds how many of something a workspace has at a time. The zero value
// is ready.
type Concurrent struct {
	mu    sync.Mutex
	taken map[string]int
}

// Acquire counts one more for a workspace until leave is called; false: it has the most already.
func (p *Concurrent) Acquire(workspace string, most int) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[workspace] >= most {
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
