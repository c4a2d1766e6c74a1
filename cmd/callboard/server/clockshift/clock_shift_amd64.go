//go:build failpoints && linux

package clockshift

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// vdsoClock is where the runtime asks for the time.
//
//go:linkname vdsoClock runtime.vdsoClockgettimeSym
var vdsoClock uintptr

// trueClock is what the runtime asked before, and clockShift the seconds that
// are added to what it says; the monotonic clock stays as it is.
var (
	trueClock  uintptr
	clockShift int64
)

// shifted is the address of the clock that is asked instead.
func shifted() uintptr

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
	trueClock = vdsoClock
	vdsoClock = shifted()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			read()
		}
	}()
}
