// Package mediatest measures the minimum CPU cost of RTP packets, as a baseline for the benchmarks of package
// media. It also builds RTP packets for tests.
package mediatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The packet floor is the minimum CPU cost of a call's RTP packets, measured without any media processing. All calls
// share two sockets. Every 5 ms a thread reads all packets with recvmmsg, and sends a packet for a quarter of the calls
// with sendmmsg.

const (
	floorPeer  = "CALLBOARD_MEDIA_BENCH_FLOOR" // environment variable with the number of calls and two ports
	floorTime  = 4 * time.Second
	floorBatch = 64
)

var local = [4]byte{127, 0, 0, 1}

type floorMessage struct {
	header unix.Msghdr
	n      uint32
}

// floorProcess is one of the two processes that exchange packets in the measurement of the packet floor.
type floorProcess struct {
	fd, port  [2]int
	target    [2]unix.RawSockaddrInet4
	in, out   [floorBatch]floorMessage
	vector    [floorBatch + 1]unix.Iovec
	buf       [floorBatch + 1][1500]byte
	from      [floorBatch]unix.RawSockaddrInet4
	sent, got int
	turns     []time.Duration // time at which each turn's packets were sent
}

func newFloorProcess() (*floorProcess, error) {
	e := &floorProcess{}
	for i := range e.fd {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 4<<20); err != nil {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
		}
		if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: local}); err != nil {
			return nil, err
		}
		name, err := unix.Getsockname(fd)
		if err != nil {
			return nil, err
		}
		e.fd[i] = fd
		if in4, ok := name.(*unix.SockaddrInet4); ok {
			e.port[i] = in4.Port
		}
	}
	for i := range e.in {
		e.vector[i].Base = &e.buf[i][0]
		e.vector[i].SetLen(1500)
		e.in[i].header.Iov = &e.vector[i]
		e.in[i].header.SetIovlen(1)
		e.in[i].header.Name = (*byte)(unsafe.Pointer(&e.from[i]))
		e.out[i].header.Iov = &e.vector[floorBatch]
		e.out[i].header.SetIovlen(1)
		e.out[i].header.Namelen = unix.SizeofSockaddrInet4
	}
	e.vector[floorBatch].Base = &e.buf[floorBatch][0]
	e.vector[floorBatch].SetLen(172)
	return e, nil
}

// reach sets the ports of the other process as the destination of packets.
func (e *floorProcess) reach(ports [2]int) {
	for i, port := range ports {
		e.target[i] = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8 | port<<8), Addr: local}
	}
}

// run exchanges the packets of a number of calls with the other process for the duration d.
func (e *floorProcess) run(calls int, d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	for turn := 0; ; turn++ {
		if wait := time.Duration(turn)*5*time.Millisecond - time.Since(start); wait > 0 {
			ts := unix.NsecToTimespec(int64(wait))
			_ = unix.Nanosleep(&ts, nil)
		}
		if time.Since(start) > d {
			break
		}
		for i, fd := range e.fd {
			for {
				for k := range e.in {
					e.in[k].header.Namelen = unix.SizeofSockaddrInet4
				}
				n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&e.in[0])), floorBatch, unix.MSG_DONTWAIT, 0, 0)
				if errno != 0 {
					break
				}
				if e.got += int(n); n < floorBatch {
					break
				}
			}
			for left := calls / 8; left > 0; {
				batch := min(left, floorBatch)
				for k := range batch {
					e.out[k].header.Name = (*byte)(unsafe.Pointer(&e.target[i]))
				}
				n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&e.out[0])), uintptr(batch), unix.MSG_DONTWAIT, 0, 0)
				if errno == 0 {
					e.sent += int(n)
				}
				left -= batch
			}
		}
		e.turns = append(e.turns, time.Since(start))
	}
	for _, fd := range e.fd {
		_ = unix.Close(fd)
	}
}

// RunPeerIfStarted reports whether MeasurePacketFloor or MeasureSocketFloor has started this process as its peer. If so, it first exchanges the packets
// of the measurement. TestMain calls RunPeerIfStarted first and returns if it returns true.
func RunPeerIfStarted() bool { return runFloorPeer() || runSocketPeer() }

func runFloorPeer() bool {
	var calls int
	var ports [2]int
	if _, err := fmt.Sscan(os.Getenv(floorPeer), &calls, &ports[0], &ports[1]); err != nil {
		return false
	}
	e, err := newFloorProcess()
	if err != nil {
		panic(err)
	}
	e.reach(ports)
	_, _ = fmt.Fprintln(os.Stdout, e.port[0], e.port[1])
	e.run(calls, floorTime+500*time.Millisecond)
	return true
}

// interval returns the 99th percentile of the time between two packets of a call. The result shows how precisely the
// machine keeps the packet interval of 20 ms.
func interval(turns []time.Duration) time.Duration {
	const frame = 4 // turns between two packets of a call
	var all []time.Duration
	for i := frame; i < len(turns); i++ {
		all = append(all, turns[i]-turns[i-frame])
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)*99/100]
}

// MeasurePacketFloor measures the packet floor with a number of calls for four seconds. It returns the minimum CPU cores for the
// packets of a thousand calls, and the 99th percentile of the packet interval.
func MeasurePacketFloor(calls int) (cores float64, p99 time.Duration, err error) {
	e, err := newFloorProcess()
	if err != nil {
		return 0, 0, err
	}
	e.turns = make([]time.Duration, 0, 2*floorTime/(5*time.Millisecond))
	peer := exec.Command(os.Args[0])
	peer.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", floorPeer, calls, e.port[0], e.port[1]))
	out, err := peer.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err = peer.Start(); err != nil {
		return 0, 0, err
	}
	var ports [2]int
	_, err = fmt.Fscan(out, &ports[0], &ports[1])
	e.reach(ports)
	before, start := used(), time.Now()
	e.run(calls, floorTime)
	cores = (used() - before).Seconds() / time.Since(start).Seconds()
	if err = errors.Join(err, peer.Wait()); err != nil {
		return 0, 0, fmt.Errorf("mediatest: floor: %w", err)
	}
	if err = enough(calls, e.sent, e.got); err != nil {
		return 0, 0, err
	}
	return cores * 1000 / float64(calls), interval(e.turns), nil
}

// enough returns an error if too few packets were sent or received, because the measured cost would be too low.
func enough(calls, sent, got int) error {
	if want := calls * 50 * int(floorTime/time.Second); sent < want*9/10 || got < want*8/10 {
		return fmt.Errorf("mediatest: floor: %d packets sent, %d received, of %d", sent, got, want)
	}
	return nil
}

// used returns the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
