package mediatest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The socket floor is the CPU cost of a call's RTP packets if each call has its own socket, as in a media engine.
// Every 5 ms a thread reads a quarter of the sockets with recvmmsg and sends a packet from each with
// sendto. It alternates between reading and sending in groups of ownTogether sockets, which is the cheapest order.
const (
	ownPeer     = "CALLBOARD_MEDIA_BENCH_SOCKETS" // environment variable with the number of calls
	ownTogether = 32
	ownRoom     = 2 // packets per read, because sometimes two have arrived
	ownBuffer   = 64 << 10
)

// socketProcess is one of the two processes that exchange packets in the measurement of the socket floor.
type socketProcess struct {
	fd        []int
	target    []unix.RawSockaddrInet4
	in        [ownRoom]floorMessage
	vector    [ownRoom]unix.Iovec
	from      [ownRoom]unix.RawSockaddrInet4
	buf       [ownRoom][1500]byte
	packet    [172]byte
	sent, got int
	turns     []time.Duration // time at which each turn's packets were sent
}

// newSocketProcess opens a socket for each call and writes the ports of the sockets to tell.
func newSocketProcess(calls int, tell io.Writer) (*socketProcess, error) {
	e := &socketProcess{target: make([]unix.RawSockaddrInet4, calls)}
	for range calls {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		e.fd = append(e.fd, fd)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, ownBuffer)
		if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: local}); err != nil {
			return nil, err
		}
		name, err := unix.Getsockname(fd)
		if err != nil {
			return nil, err
		}
		if in4, ok := name.(*unix.SockaddrInet4); ok {
			_, _ = fmt.Fprintln(tell, in4.Port)
		}
	}
	for i := range e.in {
		h := &e.in[i].header
		e.vector[i].Base = &e.buf[i][0]
		e.vector[i].SetLen(len(e.buf[i]))
		h.Iov = &e.vector[i]
		h.SetIovlen(1)
		h.Name = (*byte)(unsafe.Pointer(&e.from[i]))
	}
	return e, nil
}

// reach reads the ports of the other process from told and sets them as the destinations of packets.
func (e *socketProcess) reach(told io.Reader) error {
	for i := range e.target {
		var port int
		if _, err := fmt.Fscanln(told, &port); err != nil {
			return err
		}
		e.target[i] = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8 | port<<8), Addr: local}
	}
	return nil
}

// run exchanges packets with the other process for the duration d.
func (e *socketProcess) run(d time.Duration) {
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
		first, end := turn%4*len(e.fd)/4, (turn%4+1)*len(e.fd)/4
		for first < end {
			some := min(end-first, ownTogether)
			for i := first; i < first+some; i++ {
				e.look(e.fd[i])
			}
			for i := first; i < first+some; i++ {
				e.send(e.fd[i], &e.target[i])
			}
			first += some
		}
		e.turns = append(e.turns, time.Since(start))
	}
	e.close()
}

func (e *socketProcess) close() {
	for _, fd := range e.fd {
		_ = unix.Close(fd)
	}
}

func (e *socketProcess) look(fd int) {
	for i := range e.in {
		e.in[i].header.Namelen = unix.SizeofSockaddrInet4
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(&e.in[0])), ownRoom, unix.MSG_DONTWAIT, 0, 0)
	if errno == 0 {
		e.got += int(n)
	}
}

func (e *socketProcess) send(fd int, to *unix.RawSockaddrInet4) {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&e.packet[0])), uintptr(len(e.packet)),
		unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(to)), unix.SizeofSockaddrInet4)
	if errno == 0 {
		e.sent++
	}
}

// runSocketPeer runs the peer of MeasureSocketFloor if MeasureSocketFloor has started this process, and reports whether it has.
func runSocketPeer() bool {
	var calls int
	if _, err := fmt.Sscan(os.Getenv(ownPeer), &calls); err != nil {
		return false
	}
	e, err := newSocketProcess(calls, os.Stdout)
	if err == nil {
		err = e.reach(bufio.NewReader(os.Stdin))
	}
	if err != nil {
		panic(err)
	}
	e.run(floorTime + 500*time.Millisecond)
	return true
}

// MeasureSocketFloor measures the socket floor with a number of calls. It returns the same figures as MeasurePacketFloor.
func MeasureSocketFloor(calls int) (cores float64, p99 time.Duration, err error) {
	peer := exec.Command(os.Args[0])
	peer.Env = append(os.Environ(), fmt.Sprintf("%s=%d", ownPeer, calls))
	in, errIn := peer.StdinPipe()
	out, errOut := peer.StdoutPipe()
	if err = errors.Join(errIn, errOut); err != nil {
		return 0, 0, err
	}
	if err = peer.Start(); err != nil {
		return 0, 0, err
	}
	e, err := newSocketProcess(calls, in)
	if err == nil {
		err = e.reach(bufio.NewReader(out))
	}
	if err != nil {
		return 0, 0, errors.Join(err, in.Close(), peer.Wait())
	}
	e.turns = make([]time.Duration, 0, 2*floorTime/(5*time.Millisecond))
	before, start := used(), time.Now()
	e.run(floorTime)
	cores = (used() - before).Seconds() / time.Since(start).Seconds()
	if err = errors.Join(in.Close(), peer.Wait()); err != nil {
		return 0, 0, fmt.Errorf("mediatest: sockets: %w", err)
	}
	if err = enough(calls, e.sent, e.got); err != nil {
		return 0, 0, err
	}
	return cores * 1000 / float64(calls), interval(e.turns), nil
}
