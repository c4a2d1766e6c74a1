//go:build failpoints && linux

package clockshift

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// runtimeClock is the function from which the Go runtime reads the time.
//
//go:linkname runtimeClock runtime.vdsoClockgettimeSym
var runtimeClock uintptr

// originalClock is the clock function of the Go runtime, which the shifted clock calls. clockShift is the number of
// seconds added to the time of day. The monotonic clock is not shifted.
var (
	originalClock uintptr
	clockShift    int64
)

// shiftedClock returns the address of the assembly function that adds clockShift.
func shiftedClock() uintptr

// Start shifts the time of day by the duration in the file that FAILPOINT_CLOCK names. It follows changes of the
// file while the process runs.
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
