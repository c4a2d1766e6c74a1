package llm

import (
	"slices"
	"sync"
	"time"
)

// Limits for suspending an engine after consecutive failures. The suspension doubles with each further failure.
const (
	failuresBeforeSuspension = 3
	minSuspension            = 10 * time.Second
	maxSuspension            = time.Minute
	maxTrackedEngines        = 1024 // engines that are tracked; agents name models
)

// engineHealth counts the consecutive failures of each engine and suspends failing engines.
type engineHealth struct {
	mu      sync.Mutex
	engines map[[3]string]*health // by name, URL and model
}

type health struct {
	failures       int // consecutive failures
	suspendedUntil time.Time
}

// sort returns the engines with the suspended engines behind all others.
func (r *engineHealth) sort(engines []Engine, now time.Time) []Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	var awake, tired []Engine
	for _, e := range engines {
		if h := r.engines[keyOf(&e)]; h != nil && now.Before(h.suspendedUntil) {
			tired = append(tired, e)
		} else {
			awake = append(awake, e)
		}
	}
	return append(awake, tired...)
}

// isSuspended reports whether an engine is suspended now.
func (r *engineHealth) isSuspended(e *Engine, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.engines[keyOf(e)]
	return h != nil && now.Before(h.suspendedUntil)
}

// record counts the result of a request to an engine. It ignores failures that the request itself caused and engines
// whose address a tenant named.
func (r *engineHealth) record(e *Engine, f *Fault, now time.Time) {
	if e.Tenant {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f == nil {
		delete(r.engines, keyOf(e))
		return
	}
	if !slices.Contains([]string{"timeout", "stalled", "unreachable", "refused", "overloaded", "garbage", "dropped"}, f.Code) {
		return
	}
	if r.engines == nil {
		r.engines = make(map[[3]string]*health)
	}
	h := r.engines[keyOf(e)]
	if h == nil {
		if len(r.engines) >= maxTrackedEngines {
			clear(r.engines)
		}
		h = new(health)
		r.engines[keyOf(e)] = h
	}
	if h.failures++; h.failures >= failuresBeforeSuspension {
		h.suspendedUntil = now.Add(min(minSuspension<<min(h.failures-failuresBeforeSuspension, 8), maxSuspension))
	}
}

func keyOf(e *Engine) [3]string { return [3]string{e.Name, e.URL, e.Model} }
