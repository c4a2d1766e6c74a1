package main

import (
	"sync"

	"github.com/callboard/callboard/actors/call"
)

// takenUp counts what became of calls of processes that were gone.
type takenUp struct {
	mu sync.Mutex
	of map[string]uint64
}

func (t *takenUp) add(result string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = make(map[string]uint64)
	}
	t.of[result]++
}

func (t *takenUp) count(result string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[result]
}

// takenUpResults are those that are told.
func takenUpResults() []string { return []string{call.Saved, call.Refused, call.Silent, call.Broken} }
