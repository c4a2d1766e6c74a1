package llm

import (
	"slices"
	"sync"
	"time"
)

// An engine that has failed so often in a row is left alone for a while, which
// doubles with each failure after that.
const (
	tiredAfter  = 3
	restAtFirst = 10 * time.Second
	restAtMost  = time.Minute
	restsMost   = 1024 // that are known of: agents name models
)

// resting knows which engines are left alone.
type resting struct {
	mu  sync.Mutex
	all map[[3]string]*health // by name, URL and model
}

type health struct {
	failed int // in a row
	until  time.Time
}

// sort puts the engines that rest behind all others, where they are asked last.
func (r *resting) sort(engines []Engine, now time.Time) []Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	var awake, tired []Engine
	for _, e := range engines {
		if h := r.all[keyOf(&e)]; h != nil && now.Before(h.until) {
			tired = append(tired, e)
		} else {
			awake = append(awake, e)
		}
	}
	return append(awake, tired...)
}

// rests says whether an engine is left alone now.
func (r *resting) rests(e *Engine, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.all[keyOf(e)]
	return h != nil && now.Before(h.until)
}

// note keeps what came of asking an engine. What a request is to blame for
// tells nothing of the engine, and what tenants name is theirs to mend.
func (r *resting) note(e *Engine, f *Fault, now time.Time) {
	if e.Tenant {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f == nil {
		delete(r.all, keyOf(e))
		return
	}
	if !slices.Contains([]string{"timeout", "stalled", "unreachable", "refused", "overloaded", "garbage", "dropped"}, f.Code) {
		return
	}
	if r.all == nil {
		r.all = make(map[[3]string]*health)
	}
	h := r.all[keyOf(e)]
	if h == nil {
		if len(r.all) >= restsMost {
			clear(r.all)
		}
		h = new(health)
		r.all[keyOf(e)] = h
	}
	if h.failed++; h.failed >= tiredAfter {
		h.until = now.Add(min(restAtFirst<<min(h.failed-tiredAfter, 8), restAtMost))
	}
}

func keyOf(e *Engine) [3]string { return [3]string{e.Name, e.URL, e.Model} }
