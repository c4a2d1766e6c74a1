package server

import (
	"sync"

	"github.com/callboard/callboard/actors/call/recovery"
)

// resumptionCounts counts the resumptions of calls of ended processes by result.
type resumptionCounts struct {
	mu       sync.Mutex
	byResult map[string]uint64
}

func (t *resumptionCounts) add(result string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byResult == nil {
		t.byResult = make(map[string]uint64)
	}
	t.byResult[result]++
}

func (t *resumptionCounts) count(result string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byResult[result]
}

// resumeResults returns the results of resuming a call that the metric has as label values.
func resumeResults() []string {
	return []string{recovery.ResultResumed, recovery.ResultRefused, recovery.ResultNoAnswer, recovery.ResultFailed}
}
