package media

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sockets stand outside the runtime's poller: the media clock looks into them, so no packet wakes a goroutine, and
// addresses stay raw, so no packet allocates.

const (
	batchLen   = 8    // packets that one look takes
	drainLen   = 16   // packets that are thrown away at once
	drainMost  = 64   // times: whoever sends faster than we read shall not keep us
	packetMost = 1500 // longer ones are cut, and then refused as no RTP of ours
	expedited  = 0xB8 // DSCP EF

	// What a socket may hold, in bytes; the kernel counts its own overhead too, and takes twice as much.
	soundRoom   = 64 << 10 // a second of packets, and more
	controlRoom = 8 << 10
)

type socket struct {
	fd  int
	six bool // of IPv6; bound to "::" it takes IPv4 as well, in its addresses' clothes (RFC 4291 section 2.5.5.2)
}

// listen opens a UDP socket with room for some bytes of packets.
func listen(at netip.AddrPort, room int) (socket, error) {
	family := unix.AF_INET
	if at.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return socket{}, fmt.Errorf("media: socket: %w", err)
	}
	// These are a courtesy: without them arrival is taken from the clock, packets from the best effort, and room by default.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, room)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	var sa unix.Sockaddr
	if family == unix.AF_INET {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, expedited)
		sa = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	} else {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, expedited)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, expedited)
		if both(at.Addr()) {
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

// target is an address as the kernel takes it, and as we do.
type target struct {
	addr netip.AddrPort
	raw  unix.RawSockaddrInet6 // or the shorter one of IPv4, in its place
	len  uintptr
}

// target is an address as the socket takes it.
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

// send sends a packet or loses it, as the network may: a full buffer or an unreachable host is no error of ours.
func (s *socket) send(b []byte, to *target) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), //nolint:gosec // raw by design
		unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&to.raw)), to.len) //nolint:gosec // raw by design
	return errno == 0
}

type message struct {
	header unix.Msghdr
	n      uint32
}

// batch is what one look into a socket brings. It is never copied: the kernel is told where its parts lie.
type batch struct {
	messages []message
	parts    []part
}

// part is one packet's.
type part struct {
	vector  unix.Iovec
	from    unix.RawSockaddrInet6
	control [64]byte
	data    [packetMost]byte
}

// newBatch has room for so many packets.
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

// receive takes what has arrived, at most so many packets, and at most as many as there is room for.
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

// drain throws away what has arrived and says how many packets it was.
func (s *socket) drain() int {
	var messages [drainLen]message
	var vector unix.Iovec // no room: what does not fit is thrown away
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

// packet is the i-th packet, its sender, and when it arrived by the wall clock.
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

// stamp reads the kernel's time of arrival; without one it is now.
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

// filesMost is how many files the process may open; 0: nobody knows.
func filesMost() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
