// Package polltest waits in tests until a condition holds, with time limits that adapt to the load of the machine.
package polltest

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Interval is the time between two checks of Until.
const Interval = 20 * time.Millisecond

const (
	// slowest is the maximum factor by which a loaded machine extends a time limit.
	slowest = 30
	// longestGrace is the maximum time by which a loaded machine extends a time limit.
	longestGrace = 90 * time.Second
	// longestStep is the maximum time that counts between two checks. If more time passes, the test process was suspended
	// and did not wait.
	longestStep = 3 * Interval
)

// Deadline is a time limit that is meant for an idle machine. On a loaded machine its clock runs slower by the square
// of the number of runnable threads per processor. The limit grows by at most 90 s.
type Deadline struct {
	limit, spent time.Duration
	begun, last  time.Time
}

// NewDeadline returns a deadline that starts now.
func NewDeadline(limit time.Duration) *Deadline {
	now := time.Now()
	return &Deadline{limit: limit, begun: now, last: now}
}

// HasPassed reports whether the limit has passed. The caller must call it at each check, because the clock of the
// deadline advances only in HasPassed.
func (d *Deadline) HasPassed() bool {
	now := time.Now()
	d.spent += time.Duration(float64(min(now.Sub(d.last), longestStep)) / slowness())
	d.last = now
	return d.spent >= d.limit || now.Sub(d.begun) >= d.limit+longestGrace
}

// Until checks every 20 ms whether a condition holds. It fails the test when the limit has passed.
func Until(t testing.TB, limit time.Duration, what string, check func() bool) {
	t.Helper()
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for d, begun := NewDeadline(limit), time.Now(); !check(); <-tick.C {
		if d.HasPassed() {
			t.Fatalf("waited %s in vain until %s", time.Since(begun).Round(time.Millisecond), what)
		}
	}
}

// slowness returns the factor by which the load currently slows the machine down, from 1 to 30. It depends on the number
// of runnable threads in /proc/loadavg.
func slowness() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 1
	}
	return slownessOf(text, runtime.NumCPU())
}

func slownessOf(loadavg []byte, processors int) float64 {
	fields := bytes.Fields(loadavg)
	if len(fields) < 4 {
		return 1
	}
	running, _, _ := bytes.Cut(fields[3], []byte("/"))
	n, err := strconv.Atoi(string(running))
	if err != nil {
		return 1
	}
	each := float64(n) / float64(processors)
	return min(max(1, each*each), slowest)
}
