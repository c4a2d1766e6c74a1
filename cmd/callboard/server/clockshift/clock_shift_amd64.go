//go:build failpoints && linux

package clockshift

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// runtimeClock is where the runtime asks for the time.
//
//go:linkname runtimeClock runtime.vdsoClockgettimeSym
var runtimeClock uintptr

// originalClock is what the runtime asked before, and clockShift the seconds that
// are added to what it says; the monotonic clock stays as it is.
var (
	originalClock uintptr
	clockShift    int64
)

// shiftedClock is the address of the clock that is asked instead.
func shiftedClock() uintptr

// Start: with FAILPOINT_CLOCK the time of day is off by the duration that
// stands in that file, and follows it while the process runs.
func Start() {
	path := os.Getenv("FAILPOINT_CLOCK")
	if path == "" {
		return
	}
	read := func() {
		text, _ := os.ReadFile(path)
		d, _ := time.ParseDuration(strings.TrimSpace(string(text)))
		atomic.StoreInt64(&clockShift, int64(d/time.Second))
	}
	read()
	originalClock = runtimeClock
	runtimeClock = shiftedClock()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			read()
		}
	}()
}
