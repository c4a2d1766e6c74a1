// Package systemd notifies systemd of the state of the process with the protocol of sd_notify(3). If systemd has not
// started the process, it does nothing.
package systemd

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier sends notifications. A nil *Notifier sends none.
type Notifier struct {
	conn     *net.UnixConn
	watchdog time.Duration
	started  atomic.Bool
}

// New connects to the socket that NOTIFY_SOCKET names, or returns nil if the variable is not set. It removes systemd's
// variables from the environment, so that no child process sends notifications for this process.
func New() (*Notifier, error) {
	path, usec, pid := os.Getenv("NOTIFY_SOCKET"), os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name)
	}
	if path == "" {
		return nil, nil //nolint:nilnil // a nil *Notifier sends nothing
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"}) // a name with a leading @ is abstract
	if err != nil {
		return nil, fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	n := &Notifier{conn: conn}
	if watchdogPID, err := strconv.Atoi(pid); err == nil && watchdogPID != os.Getpid() {
		return n, nil
	}
	if us, err := strconv.ParseInt(usec, 10, 64); err == nil && us > 0 {
		n.watchdog = time.Duration(us) * time.Microsecond
	}
	return n, nil
}

// WatchdogInterval returns how often the caller must call Watchdog. 0 means that systemd expects no such calls.
func (n *Notifier) WatchdogInterval() time.Duration {
	if n == nil {
		return 0
	}
	return n.watchdog / 2
}

// Ready reports that the process has started.
func (n *Notifier) Ready() {
	if n != nil {
		n.started.Store(true)
		n.send("READY=1\nSTATUS=")
	}
}

// Waiting reports the reason for which the start of the process waits, and extends systemd's start timeout by limit.
func (n *Notifier) Waiting(status string, limit time.Duration) {
	n.send(fmt.Sprintf("STATUS=%s\nEXTEND_TIMEOUT_USEC=%d", status, limit.Microseconds()))
}

// Reload calls do and reports to systemd that the process reloads its settings meanwhile. It reports nothing before
// Ready and after Stopping.
func (n *Notifier) Reload(do func()) {
	var now unix.Timespec
	if n == nil || !n.started.Load() || unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		do()
		return
	}
	n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(now.Nano()/1000, 10))
	do()
	if n.started.Load() {
		n.send("READY=1")
	}
}

// Stopping reports that the process stops.
func (n *Notifier) Stopping() {
	if n != nil {
		n.started.Store(false)
		n.send("STOPPING=1")
	}
}

// Watchdog reports that the process works.
func (n *Notifier) Watchdog() { n.send("WATCHDOG=1") }

// send sends a notification. It gives up after a second if systemd does not read its socket.
func (n *Notifier) send(state string) {
	if n == nil {
		return
	}
	_ = n.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = n.conn.Write([]byte(state))
}
