package media

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	precedence = -10                    // nice, where this process may set it
	slice      = 500 * time.Microsecond // what the clock asks for at a time: who asks for little is served sooner (Linux 6.12)
)

// precede gives the calling goroutine a thread of its own for the rest of its life, which the kernel prefers as far as it
// allows. It sleeps in the kernel: the runtime's timers may wait until a processor that is busy with a file gets to them.
func precede() {
	runtime.LockOSThread()
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return
	}
	attr.Flags, attr.Runtime = 0, uint64(slice)
	usual := attr.Nice
	attr.Nice = min(usual, precedence)
	if unix.SchedSetAttr(0, attr, 0) != nil {
		attr.Nice = usual
		_ = unix.SchedSetAttr(0, attr, 0)
	}
}

// rest sleeps for so long, or less.
func rest(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
