package pdf

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Resource limits of the child process that parses one PDF file.
const (
	memory  = 512 << 20 // bytes of RLIMIT_DATA beyond the use at the start
	heap    = 256 << 20 // bytes; soft memory limit of the garbage collector
	seconds = 30        // CPU time in seconds; the parent's time limit is shorter
)

// setLimits limits the memory and CPU time of this process. If the kernel refuses a limit, the parent process still
// kills this process at its time limit.
func setLimits() {
	debug.SetMemoryLimit(heap)
	set := func(what int, most uint64) { _ = unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}) }
	set(unix.RLIMIT_CPU, seconds)
	set(unix.RLIMIT_FSIZE, 0)
	set(unix.RLIMIT_CORE, 0)
	if has, ok := data(); ok {
		set(unix.RLIMIT_DATA, has+memory)
	}
}

// data returns the writable memory of this process in bytes, as the kernel counts it for RLIMIT_DATA
// (proc_pid_statm(5)).
func data() (uint64, bool) {
	all, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(all))
	if err != nil || len(fields) < 6 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[5], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil //nolint:gosec // a size
}
