// Package polltest waits in tests for what other goroutines and processes do.
package polltest

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// Interval is how often Until looks.
const Interval = 20 * time.Millisecond

const (
	// slowest is how many times as long a limit is at most, on a machine that has too much to do.
	slowest = 30
	// longestGrace is how much longer than its limit a wait lasts at most.
	longestGrace = 90 * time.Second
	// longestStep bounds what a wait counts between two looks: a process that was not run meanwhile has not waited.
	longestStep = 3 * Interval
)

// Deadline is a limit of time that says what is usual on an idle machine. Where more threads want to run than there are
// processors, time counts less, so that the limit grows with the square of their number for each processor, by 90 s at most.
type Deadline struct {
	limit, spent time.Duration
	begun, last  time.Time
}

// NewDeadline is a deadline that begins now.
func NewDeadline(limit time.Duration) *Deadline {
	now := time.Now()
	return &Deadline{limit: limit, begun: now, last: now}
}

// HasPassed says whether the limit is spent. It has to be asked at every look.
func (d *Deadline) HasPassed() bool {
	now := time.Now()
	d.spent += time.Duration(float64(min(now.Sub(d.last), longestStep)) / slowness())
	d.last = now
	return d.spent >= d.limit || now.Sub(d.begun) >= d.limit+longestGrace
}

// Until looks every 20 ms whether something holds, and fails the test when the limit has passed.
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

// slowness is how many times as long as usual something takes now, 1 to 30, by the threads of the machine that want to run.
func slowness() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 1
	}
	return factor(text, runtime.NumCPU())
}

func factor(loadavg []byte, processors int) float64 {
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
