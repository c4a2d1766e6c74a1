package doctor

import (
	"fmt"
	"sync"
)

// State is the result of a check.
type State string

// The results of a check.
const (
	OK   State = "ok"
	Warn State = "warn" // it works, and will cause trouble later
	Bad  State = "bad"  // it does not work, or is open to strangers
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"` // names it for programs; docs/cli.md lists all
	State  State  `json:"state"`
	What   string `json:"what"`
	Remedy string `json:"mend,omitempty"` // empty if the state is ok
}

// Worst is the worst state of a list.
func Worst(list []Finding) State {
	worst := OK
	for _, f := range list {
		if f.State == Bad || f.State == Warn && worst == OK {
			worst = f.State
		}
	}
	return worst
}

// report collects findings. Several goroutines may use it.
type report struct {
	mu    sync.Mutex
	found []Finding
}

func (r *report) ok(check, what string, args ...any) {
	r.add(Finding{Check: check, State: OK, What: fmt.Sprintf(what, args...)})
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
	r.found = append(r.found, f)
}
