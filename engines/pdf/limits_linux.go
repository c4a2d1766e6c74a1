package pdf

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of the process that reads a file.
const (
	memory  = 512 << 20 // bytes beyond those that a Go program uses at its start
	heap    = 256 << 20 // bytes from which garbage is collected eagerly
	seconds = 30        // of CPU time; the parent gives up earlier
)

// confine limits the memory and CPU time of this process. If the kernel refuses, the time limit of the parent
// remains.
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
