package media

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The sockets bypass the network poller of the Go runtime. The media clock polls them, so that a received packet wakes no
// goroutine. Addresses keep the kernel's form, so that a packet causes no allocation.

const (
	batchLen   = 8    // packets per read
	drainLen   = 16   // packets discarded per read
	drainMost  = 64   // reads per drain, because a peer may send faster than drain reads
	packetMost = 1500 // bytes; a longer packet is truncated and refused
	expedited  = 0xB8 // DSCP EF

	// Receive buffer sizes in bytes. The kernel allocates twice the size to allow for its own overhead.
	soundRoom   = 64 << 10 // more than a second of packets
	controlRoom = 8 << 10
)

type socket struct {
	fd  int
	six bool // IPv6 socket; bound to "::" it also accepts IPv4 as IPv4-mapped addresses (RFC 4291 §2.5.5.2)
}

// listen opens a UDP socket with a receive buffer of room bytes.
func listen(at netip.AddrPort, room int) (socket, error) {
	family := unix.AF_INET
	if at.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return socket{}, fmt.Errorf("media: open UDP socket: %w", err)
	}
	// These options are not essential. Without them, arrival times come from the current time, and DSCP and buffer size
	// have their defaults.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, room)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	var sa unix.Sockaddr
	if family == unix.AF_INET {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, expedited)
		sa = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	} else {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, expedited)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, expedited)
		if acceptsBothFamilies(at.Addr()) {
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
		}
		sa = &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	if err = unix.Bind(fd, sa); err != nil {
		_ = unix.Close(fd)
		return socket{}, fmt.Errorf("media: bind %s: %w", at, err)
	}
	return socket{fd, family == unix.AF_INET6}, nil
}

func (s *socket) close() {
	if s.fd > 0 {
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

// target is a destination address with its form for the kernel, which sending a packet needs.
type target struct {
	addr netip.AddrPort
	raw  unix.RawSockaddrInet6 // holds a RawSockaddrInet4 for an IPv4 socket
	len  uintptr
}

// target converts an address to the kernel's form for the address family of this socket.
func (s *socket) target(to netip.AddrPort) target {
	t := target{addr: to}
	if !to.IsValid() {
		return t
	}
	if !s.six {
		sa := (*unix.RawSockaddrInet4)(unsafe.Pointer(&t.raw)) //nolint:gosec // the greater holds the smaller
		sa.Family, sa.Addr, t.len = unix.AF_INET, to.Addr().As4(), unix.SizeofSockaddrInet4
	} else {
		t.raw.Family, t.raw.Addr, t.len = unix.AF_INET6, to.Addr().As16(), unix.SizeofSockaddrInet6
	}
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&t.raw.Port))[:], to.Port()) //nolint:gosec // network order; same place in both
	return t
}

// send sends a packet. It returns false if the buffer is full or the host is unreachable, which counts as packet loss.
func (s *socket) send(b []byte, to *target) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), //nolint:gosec // raw by design
		unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&to.raw)), to.len) //nolint:gosec // raw by design
	return errno == 0
}

type message struct {
	header unix.Msghdr
	n      uint32
}

// batch holds the packets that one system call reads. A batch must not be copied, because its message headers point
// into parts.
type batch struct {
	messages []message
	parts    []part
}

// part is the memory for one packet of a batch and its metadata.
type part struct {
	vector  unix.Iovec
	from    unix.RawSockaddrInet6
	control [64]byte
	data    [packetMost]byte
}

// newBatch allocates a batch for room packets.
func newBatch(room int) *batch {
	b := &batch{messages: make([]message, room), parts: make([]part, room)}
	for i := range b.messages {
		p, h := &b.parts[i], &b.messages[i].header
		p.vector.Base = &p.data[0]
		p.vector.SetLen(packetMost)
		h.Name = (*byte)(unsafe.Pointer(&p.from)) //nolint:gosec // as recvmmsg wants it
		h.Iov = &p.vector
		h.SetIovlen(1)
		h.Control = &p.control[0]
	}
	return b
}

// receive reads at most most packets into b without blocking and returns how many it has read.
func (s *socket) receive(b *batch, most int) int {
	most = min(most, len(b.messages))
	for i := range most {
		h := &b.messages[i].header
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(len(b.parts[i].control))
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&b.messages[0])), uintptr(most), //nolint:gosec // raw by design
		unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// drain discards the packets that wait in the socket and returns their number.
func (s *socket) drain() int {
	var messages [drainLen]message
	var vector unix.Iovec // without memory for data, packets are truncated to nothing
	for i := range messages {
		messages[i].header.Iov = &vector
	}
	total := 0
	for range drainMost {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&messages[0])), drainLen, //nolint:gosec // raw by design
			unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 {
			return total
		}
		total += int(n)
		if n < drainLen {
			return total
		}
	}
	return total
}

// packet returns the i-th packet, its source, and its arrival time in nanoseconds of the wall clock.
func (b *batch) packet(i int) (data []byte, from netip.AddrPort, arrived int64) {
	m := &b.messages[i]
	sa := &b.parts[i].from
	port := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&sa.Port))[:]) //nolint:gosec // network order
	switch sa.Family {
	case unix.AF_INET:
		from = netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(sa)).Addr), port) //nolint:gosec // by family
	case unix.AF_INET6:
		from = netip.AddrPortFrom(netip.AddrFrom16(sa.Addr).Unmap(), port)
	}
	return b.parts[i].data[:m.n], from, b.stamp(i)
}

// stamp returns the kernel's arrival time of packet i. If the kernel gives none, it returns the current time.
func (b *batch) stamp(i int) int64 {
	c := (*unix.Cmsghdr)(unsafe.Pointer(&b.parts[i].control[0])) //nolint:gosec // as the kernel wrote it
	length := int(b.messages[i].header.Controllen)               //nolint:gosec // at most the buffer's
	if length >= unix.CmsgLen(int(unsafe.Sizeof(unix.Timespec{}))) &&
		c.Level == unix.SOL_SOCKET && c.Type == unix.SCM_TIMESTAMPNS {
		t := (*unix.Timespec)(unsafe.Pointer(&b.parts[i].control[unix.CmsgLen(0)])) //nolint:gosec // as the kernel wrote it
		return t.Nano()
	}
	return time.Now().UnixNano()
}

// filesMost returns the process's limit of open files, or 0 if it is unknown.
func filesMost() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
