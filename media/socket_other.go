//go:build !linux

package media

import (
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Systems without recvmmsg use a goroutine per socket, which reads packets into a queue.

const (
	batchLen   = 8
	packetMost = 1500
	readAhead  = 32

	soundRoom, controlRoom = 0, 0 // the system's default
)

type arrival struct {
	data []byte
	from netip.AddrPort
	at   int64
}

type socket struct {
	conn *net.UDPConn
	in   chan arrival
}

func listen(at netip.AddrPort, _ int) (socket, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return socket{}, fmt.Errorf("media: bind %s: %w", at, err)
	}
	s := socket{conn: conn, in: make(chan arrival, readAhead)}
	go s.read()
	return s, nil
}

func (s *socket) read() {
	buf := make([]byte, packetMost)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		a := arrival{append([]byte(nil), buf[:n]...), netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), time.Now().UnixNano()}
		select {
		case s.in <- a:
		default:
		}
	}
}

func (s *socket) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

type target struct{ addr netip.AddrPort }

func (*socket) target(to netip.AddrPort) target { return target{to} }

func (s *socket) send(b []byte, to *target) bool {
	_, err := s.conn.WriteToUDPAddrPort(b, to.addr)
	return err == nil
}

type batch struct{ got []arrival }

func newBatch(room int) *batch { return &batch{make([]arrival, room)} }

func (s *socket) receive(b *batch, most int) int {
	most = min(most, len(b.got))
	for i := range most {
		select {
		case b.got[i] = <-s.in:
		default:
			return i
		}
	}
	return most
}

func (s *socket) drain() (n int) {
	for ; n < readAhead; n++ {
		select {
		case <-s.in:
		default:
			return n
		}
	}
	return n
}

func (b *batch) packet(i int) (data []byte, from netip.AddrPort, arrived int64) {
	return b.got[i].data, b.got[i].from, b.got[i].at
}

// filesMost returns 0, because the process's limit of open files is unknown on this system.
func filesMost() int { return 0 }
