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
	maxReadErrors = 1000 // in a row; then the socket is given up
)

// PacketConn is what we need of a UDP socket; tests bring one of their own.
type PacketConn interface {
	net.PacketConn
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
}

// socketName names a socket in sipgo's transport layer.
type socketName string

func (socketName) Network() string  { return "sip" }
func (e socketName) String() string { return string(e) }

// UDPSocket stands between a UDP socket and sipgo's reader. It passes admitted datagrams
// only, and shows sipgo one constant source address: sipgo's pool never forgets an address.
// Reading, parsing and handling of a socket happen on one goroutine, so the source of the
// current datagram is a field.
type UDPSocket struct {
	PacketConn
	t       *Transport
	name    socketName
	local   netip.AddrPort
	current netip.AddrPort
	raw     []byte
	waited  time.Duration // of that datagram in the kernel
	relay   *RelayInfo
	control []byte
	handled bool // the last datagram was parsed
}

func newUDPSocket(t *Transport, conn PacketConn) *UDPSocket {
	return &UDPSocket{
		PacketConn: conn, t: t, name: socketName("udp#" + conn.LocalAddr().String()), local: addrPortOf(conn.LocalAddr()), handled: true,
	}
}

// Local is the address that the socket is bound to.
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
	// The kernel may grant less: then bursts are lost and retransmitted.
	_ = conn.SetReadBuffer(socketBuffer)
	_ = conn.SetWriteBuffer(socketBuffer)
	EnableICMPErrors(conn)
	EnableArrivalTimes(conn)
	return conn, nil
}

// ReadFrom returns the next datagram that may be parsed.
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

// readDatagram reads a datagram, and how long it has waited where the kernel tells that.
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

// write sends one datagram. An ICMP error that belongs to an earlier one may
// be reported here; it says nothing about this one, so it is sent again.
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

// readErrors takes ICMP errors from the socket. Each carries the beginning of
// our own datagram; its names, which only we can make, tell whose it is.
func (s *UDPSocket) readErrors() {
	conn, ok := s.PacketConn.(*net.UDPConn)
	if !ok {
		return
	}
	for _, payload := range ReadICMPErrors(conn) {
		// The dialog may be locked by the goroutine that writes.
		go s.t.cfg.Undelivered(payload)
	}
}
