package server

import (
	"sync"

	"github.com/callboard/callboard/actors/call/recovery"
)

// resumedCalls counts what became of calls of processes that were gone.
type resumedCalls struct {
	mu sync.Mutex
	of map[string]uint64
}

func (t *resumedCalls) add(result string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = make(map[string]uint64)
	}
	t.of[result]++
}

func (t *resumedCalls) count(result string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[result]
}

// resumeResults are those that are told.
func resumeResults() []string {
	return []string{recovery.ResultResumed, recovery.ResultRefused, recovery.ResultNoAnswer, recovery.ResultFailed}
}
