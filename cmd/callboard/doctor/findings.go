package doctor

import (
	"fmt"
	"sync"
)

// State is the result of a check.
type State string

// Results of a check.
const (
	OK   State = "ok"
	Warn State = "warn" // works now, but will cause trouble
	Bad  State = "bad"  // does not work, or is insecure
)

// Finding is the result of one check.
type Finding struct {
	Check   string `json:"check"` // stable name for programs; docs/cli.md lists all names
	State   State  `json:"state"`
	Message string `json:"what"`
	Remedy  string `json:"remedy,omitempty"` // empty if the state is ok
}

// WorstState returns the worst state of the findings.
func WorstState(list []Finding) State {
	worst := OK
	for _, f := range list {
		if f.State == Bad || f.State == Warn && worst == OK {
			worst = f.State
		}
	}
	return worst
}

// report collects findings. It is safe for concurrent use.
type report struct {
	mu       sync.Mutex
	findings []Finding
}

func (r *report) ok(check, what string, args ...any) {
	r.add(Finding{Check: check, State: OK, Message: fmt.Sprintf(what, args...)})
}

func (r *report) warn(check, remedy, what string, args ...any) {
	r.add(Finding{check, Warn, fmt.Sprintf(what, args...), remedy})
}

func (r *report) bad(check, remedy, what string, args ...any) {
	r.add(Finding{check, Bad, fmt.Sprintf(what, args...), remedy})
}

func (r *report) add(f Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, f)
}
