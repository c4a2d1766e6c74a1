package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/callboard/callboard/sip/resolve"
)

const (
	socketBuffer  = 4 << 20
	maxReadErrors = 1000 // in a row, before the socket is closed
)

// PacketConn has those methods of a UDP socket that the transport uses. Tests provide their own sockets.
type PacketConn interface {
	net.PacketConn
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
}

// socketName names a socket in sipgo's transport layer.
type socketName string

func (socketName) Network() string  { return "sip" }
func (e socketName) String() string { return string(e) }

// UDPSocket is a UDP socket as sipgo's reader sees it. It returns only admitted datagrams. It shows sipgo one constant
// source address, because sipgo's pool never removes an address. One goroutine reads, parses and handles the datagrams
// of a socket, so the source of the current datagram is stored in a field.
type UDPSocket struct {
	PacketConn
	t       *Transport
	name    socketName
	local   netip.AddrPort
	current netip.AddrPort
	raw     []byte
	waited  time.Duration // how long the current datagram waited in the kernel
	relay   *RelayInfo
	control []byte
	handled bool // the last datagram was parsed
}

func newUDPSocket(t *Transport, conn PacketConn) *UDPSocket {
	return &UDPSocket{
		PacketConn: conn, t: t, name: socketName("udp#" + conn.LocalAddr().String()), local: addrPortOf(conn.LocalAddr()), handled: true,
	}
}

// Local returns the address that the socket is bound to.
func (s *UDPSocket) Local() netip.AddrPort { return s.local }

func (t *Transport) bindUDP(ctx context.Context, addr string) (PacketConn, error) {
	lc := net.ListenConfig{Control: t.markSocket}
	pc, err := lc.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return nil, fmt.Errorf("sip: listen on udp %s: %w", addr, err)
	}
	conn, ok := pc.(*net.UDPConn)
	if !ok {
		return nil, errors.Join(errors.New("sip: not a UDP socket"), pc.Close())
	}
	// The kernel may grant smaller buffers. Then datagrams of a burst are lost and retransmitted.
	_ = conn.SetReadBuffer(socketBuffer)
	_ = conn.SetWriteBuffer(socketBuffer)
	EnableICMPErrors(conn)
	EnableArrivalTimes(conn)
	return conn, nil
}

// ReadFrom returns the next datagram that the ingress filter admits.
func (s *UDPSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	if !s.handled {
		s.t.refuseUnreadable(s.arrival())
	}
	for broken := 0; ; {
		n, from, err := s.readDatagram(b)
		if err != nil {
			if broken++; errors.Is(err, net.ErrClosed) || broken > maxReadErrors {
				s.handled = true
				return 0, s.name, err
			}
			s.readErrors()
			continue
		}
		broken = 0
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if relay, ok := s.t.admit(b[:n], from, "udp", maxDatagram); ok {
			s.current, s.raw, s.handled, s.relay = from, b[:n], false, relay
			return n, s.name, nil
		}
	}
}

// readDatagram reads a datagram. If the kernel reports arrival times, it stores how long the datagram has waited.
func (s *UDPSocket) readDatagram(b []byte) (int, netip.AddrPort, error) {
	conn, ok := s.PacketConn.(*net.UDPConn)
	if !ok {
		return s.ReadFromUDPAddrPort(b)
	}
	if s.control == nil {
		s.control = make([]byte, 128)
	}
	n, told, _, from, err := conn.ReadMsgUDPAddrPort(b, s.control)
	s.waited = QueueDelay(s.control[:told])
	return n, from, err
}

func (s *UDPSocket) arrival() Arrival {
	s.handled = true
	return Arrival{Flow{Network: resolve.UDP, Addr: s.current, Socket: s}, s.raw, s.waited, s.relay}
}

// write sends one datagram. The kernel may report an ICMP error of an earlier datagram instead of sending, so write tries
// up to three times.
func (s *UDPSocket) write(b []byte, to netip.AddrPort) error {
	var err error
	for range 3 {
		if _, err = s.WriteToUDPAddrPort(b, to); err == nil {
			s.t.Counts.Sent.Add(1)
			return nil
		}
		if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.EHOSTUNREACH) {
			break
		}
		s.readErrors()
	}
	s.t.Counts.Errors.Add(1)
	return fmt.Errorf("sip: send to %s: %w", to, err)
}

// readErrors reads ICMP errors from the socket and reports each to Config.Undelivered. An error carries the beginning of
// the sent datagram, which identifies its transaction.
func (s *UDPSocket) readErrors() {
	conn, ok := s.PacketConn.(*net.UDPConn)
	if !ok {
		return
	}
	for _, payload := range ReadICMPErrors(conn) {
		// Undelivered runs on a new goroutine, because the current one may hold the lock of the dialog.
		go s.t.cfg.Undelivered(payload)
	}
}
