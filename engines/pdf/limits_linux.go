package pdf

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What the process that reads may have.
const (
	memory  = 512 << 20 // bytes, beyond what a Go program begins with
	heap    = 256 << 20 // from here on it collects its garbage eagerly
	seconds = 30        // of processor time: whoever waits gives up earlier
)

// confine takes from this process what it does not need. A kernel that refuses
// leaves the time limit of the one who waits.
func confine() {
	debug.SetMemoryLimit(heap)
	set := func(what int, most uint64) { _ = unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}) }
	set(unix.RLIMIT_CPU, seconds)
	set(unix.RLIMIT_FSIZE, 0)
	set(unix.RLIMIT_CORE, 0)
	if has, ok := data(); ok {
		set(unix.RLIMIT_DATA, has+memory)
	}
}

// data are the bytes of writable memory that this process has, as the kernel
// counts them for RLIMIT_DATA (proc_pid_statm(5)).
func data() (uint64, bool) {
	all, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(all))
	if err != nil || len(fields) < 6 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[5], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil //nolint:gosec // a size
}
