package media_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/mediatest"
)

const (
	benchPeer = "CALLBOARD_MEDIA_BENCH_PEER"
	benchTime = 10 * time.Second
)

// TestMain starts the benchmark's RTP peers in a separate process, so that measurements include only the tested engine.
func TestMain(m *testing.M) {
	if os.Getenv(benchPeer) != "" {
		answerAll()
		return
	}
	if mediatest.RunPeerIfStarted() {
		return
	}
	os.Exit(m.Run())
}

// answerAll runs in the peer process. It answers each SDP offer that it reads, one per line, until the input ends.
func answerAll() {
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: 40000, PortMax: 49999})
	if err != nil {
		panic(err)
	}
	words := chirp(10 * time.Second)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		offer, err := base64.StdEncoding.DecodeString(in.Text())
		if err != nil {
			panic(err)
		}
		s, err := e.Open(media.Options{})
		if err != nil {
			panic(err)
		}
		answer, err := s.Answer(offer)
		if err != nil {
			panic(err)
		}
		s.Begin()
		s.Play(1, words)
		fmt.Println(base64.StdEncoding.EncodeToString(answer))
	}
}

func BenchmarkMedia300Calls(b *testing.B)  { benchmarkCalls(b, 300) }
func BenchmarkMedia1000Calls(b *testing.B) { benchmarkCalls(b, 1000) }

// benchmarkCalls runs calls with two-way audio, playback and stereo recording for ten seconds and reports the CPU time.
func benchmarkCalls(b *testing.B, calls int) {
	b.Helper()
	least, _, err := mediatest.MeasurePacketFloor(calls)
	require.NoError(b, err)
	own, _, err := mediatest.MeasureSocketFloor(calls)
	require.NoError(b, err)
	peer := exec.Command(os.Args[0])
	peer.Env = append(os.Environ(), benchPeer+"=1")
	stdin, err := peer.StdinPipe()
	require.NoError(b, err)
	stdout, err := peer.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, peer.Start())
	defer func() { _ = stdin.Close(); _ = peer.Wait() }()
	answers := bufio.NewReader(stdout)

	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: 30000, PortMax: 39999, Quarantine: 50 * time.Millisecond})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, e.Close()) })
	dir := b.TempDir()
	words := chirp(4 * benchTime)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sessions := make([]*media.Session, calls)
	for i := range sessions {
		s, errOpen := e.Open(media.Options{RecordPath: filepath.Join(dir, fmt.Sprintf("%d.wav", i))})
		require.NoError(b, errOpen)
		sessions[i] = s
		_, err = fmt.Fprintln(stdin, base64.StdEncoding.EncodeToString(s.Offer()))
		require.NoError(b, err)
		line, errRead := answers.ReadString('\n')
		require.NoError(b, errRead)
		answer, errDecode := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		require.NoError(b, errDecode)
		require.NoError(b, s.Accept(answer))
		s.Begin()
		s.Play(1, words)
	}
	time.Sleep(time.Second)
	for b.Loop() {
		cpu, kernel, start := used(b), system(b), time.Now()
		sent := packets(sessions)
		whole, theirs := machine(b), process(b, peer.Process.Pid)
		time.Sleep(benchTime)
		ours := used(b) - cpu
		b.ReportMetric((system(b)-kernel).Seconds()/time.Since(start).Seconds()*1000/float64(calls), "kernel-cores/1000calls")
		others := machine(b) - whole - (process(b, peer.Process.Pid) - theirs) - ours
		cores := ours.Seconds() / time.Since(start).Seconds()
		rate := float64(packets(sessions)-sent) / time.Since(start).Seconds() / float64(calls)
		b.ReportMetric(cores*1000/float64(calls), "cores/1000calls")
		b.ReportMetric(least, "floor-cores/1000calls")
		b.ReportMetric(own, "socket-floor-cores/1000calls")
		b.ReportMetric(cores*1000/float64(calls)/least, "times-the-floor")
		b.ReportMetric(rate, "packets/s/call")
		b.ReportMetric(max(others, 0).Seconds()/time.Since(start).Seconds(), "cores-of-strangers")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/1024/float64(calls), "KB/call")
	report(b, sessions)
}

func report(b *testing.B, sessions []*media.Session) {
	b.Helper()
	var p99, worst []float64
	var lost, late, received uint64
	for _, s := range sessions {
		stats, done := s.Close()
		require.NoError(b, (<-done).Err)
		p99, worst = append(p99, stats.IntervalP99Ms), append(worst, stats.IntervalMaxMs)
		lost, late, received = lost+stats.PacketsLost, late+stats.PacketsLate, received+stats.PacketsReceived
	}
	slices.Sort(p99)
	b.ReportMetric(p99[len(p99)/2], "ms-interval-p99-median")
	b.ReportMetric(p99[len(p99)-1], "ms-interval-p99-worst")
	b.ReportMetric(slices.Max(worst), "ms-interval-max")
	b.ReportMetric(100*float64(lost+late)/float64(max(received, 1)), "%lost-or-late")
}

func packets(sessions []*media.Session) (n uint64) {
	for _, s := range sessions {
		n += s.Stats().PacketsSent
	}
	return n
}

// used returns the CPU time of this process.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// system returns the CPU time that this process spent in the kernel.
func system(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Stime.Nano())
}

// jiffy is the unit of CPU times in /proc.
const jiffy = 10 * time.Millisecond

// machine returns the CPU time of all processes on this machine: user, nice, system, interrupts.
func machine(b *testing.B) (d time.Duration) {
	b.Helper()
	stat, err := os.ReadFile("/proc/stat")
	require.NoError(b, err)
	f := strings.Fields(string(stat))
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, errField := strconv.Atoi(f[i])
		require.NoError(b, errField)
		d += time.Duration(n) * jiffy
	}
	return d
}

// process returns the CPU time of another process.
func process(b *testing.B, pid int) (d time.Duration) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, after, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(after)
	for _, i := range []int{11, 12} {
		n, errField := strconv.Atoi(f[i])
		require.NoError(b, errField)
		d += time.Duration(n) * jiffy
	}
	return d
}
