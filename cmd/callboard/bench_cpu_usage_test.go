package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clockTick is the unit in which /proc/PID/stat reports CPU time.
const clockTick = 10 * time.Millisecond

// cpuStopwatch measures the CPU time of the service, of the test with its peers, and of all other processes.
type cpuStopwatch struct {
	b          testing.TB
	servicePID int
	peerPIDs   []int // processes of the peers; the test process always counts as a peer too
	began      time.Time
	cpu        [3]time.Duration // of the service, the peers and the machine
}

// usage is the result of a cpuStopwatch. ours, far and others are average numbers of CPU cores: of the service, of the
// test with its peers, and of all other processes.
type usage struct {
	elapsed                         time.Duration
	cpu                             time.Duration // CPU time of the service
	serviceCores, peerCores, others float64
}

func startStopwatch(b testing.TB, ours int, far ...int) *cpuStopwatch {
	b.Helper()
	w := &cpuStopwatch{b: b, servicePID: ours, peerPIDs: far}
	w.began, w.cpu = time.Now(), w.readTimes()
	return w
}

func (w *cpuStopwatch) readTimes() [3]time.Duration {
	var own syscall.Rusage
	require.NoError(w.b, syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	far := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	for _, pid := range w.peerPIDs {
		far += cpuTimeOfProcess(w.b, pid)
	}
	ours := time.Duration(0)
	if w.servicePID != 0 {
		ours = cpuTimeOfProcess(w.b, w.servicePID)
	}
	return [3]time.Duration{ours, far, cpuTimeOfMachine(w.b)}
}

func (w *cpuStopwatch) stop() usage {
	u := usage{elapsed: time.Since(w.began)}
	now := w.readTimes()
	for i := range now {
		now[i] -= w.cpu[i]
	}
	whole := u.elapsed.Seconds()
	u.cpu = now[0]
	u.serviceCores, u.peerCores = now[0].Seconds()/whole, now[1].Seconds()/whole
	u.others = max((now[2]-now[0]-now[1]).Seconds()/whole, 0)
	return u
}

func cpuTimeOfProcess(b testing.TB, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, after, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(after)
	return parseTicks(b, f[11]) + parseTicks(b, f[12])
}

// cpuTimeOfMachine returns the CPU time of the whole machine: user, nice, system and interrupts.
func cpuTimeOfMachine(b testing.TB) (sum time.Duration) {
	b.Helper()
	stat, err := os.ReadFile("/proc/stat")
	require.NoError(b, err)
	f := strings.Fields(string(stat))
	for _, i := range []int{1, 2, 3, 6, 7} {
		sum += parseTicks(b, f[i])
	}
	return sum
}

func parseTicks(b testing.TB, text string) time.Duration {
	b.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(b, err)
	return time.Duration(n) * clockTick
}

// residentMemory returns the resident memory of a process in bytes.
func residentMemory(b testing.TB, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, after, found := strings.Cut(string(text), "VmRSS:")
	require.True(b, found)
	kb, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(b, err)
	return float64(kb) * 1024
}

// redisProcess returns the process id of the Redis server of a URL. It finds the process by the port in its title.
func redisProcess(b testing.TB, url string) int {
	b.Helper()
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0")
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(b, err)
	for _, path := range list {
		text, _ := os.ReadFile(path) // the process may have ended
		if !strings.Contains(string(text), "redis-server") || !strings.Contains(string(text), addr) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(b, err)
		return pid
	}
	require.Fail(b, "no redis-server at "+addr)
	return 0
}
