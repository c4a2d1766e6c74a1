package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const (
	socketBuffer  = 4 << 20
	maxReadErrors = 1000 // in a row; then the socket is given up
)

// packetConn is what we need of a UDP socket; tests bring one of their own.
type packetConn interface {
	net.PacketConn
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
}

// endpoint names a socket towards sipgo's transport layer.
type endpoint string

func (endpoint) Network() string  { return "sip" }
func (e endpoint) String() string { return string(e) }

// udpSocket stands between a UDP socket and sipgo's reader. It passes on
// admitted datagrams only, and shows sipgo one constant source address, for
// its pool keeps every address it sees for ever. Reading, parsing and handling
// of a socket happen on one goroutine, so the true source is simply remembered.
type udpSocket struct {
	packetConn
	u       *UserAgent
	name    endpoint
	local   netip.AddrPort
	current netip.AddrPort
	raw     []byte
	waited  time.Duration // of that datagram in the kernel
	passed  *passed
	control []byte
	handled bool // the last datagram that was passed on reached us as a message
}

func (u *UserAgent) bindUDP(ctx context.Context, addr string) (packetConn, error) {
	lc := net.ListenConfig{Control: u.mark}
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
	transport.EnableICMPErrors(conn)
	transport.EnableArrivalTimes(conn)
	return conn, nil
}

// ReadFrom returns the next datagram that may be parsed.
func (s *udpSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	if !s.handled {
		s.u.unreadable(s.taken())
	}
	for broken := 0; ; {
		n, from, err := s.next(b)
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
		if passed, ok := s.u.pass(b[:n], from, "udp", maxDatagram); ok {
			s.current, s.raw, s.handled, s.passed = from, b[:n], false, passed
			return n, s.name, nil
		}
	}
}

// next reads a datagram, and where the kernel tells it how long it has waited.
func (s *udpSocket) next(b []byte) (int, netip.AddrPort, error) {
	conn, ok := s.packetConn.(*net.UDPConn)
	if !ok {
		return s.ReadFromUDPAddrPort(b)
	}
	if s.control == nil {
		s.control = make([]byte, 128)
	}
	n, told, _, from, err := conn.ReadMsgUDPAddrPort(b, s.control)
	s.waited = transport.QueueDelay(s.control[:told])
	return n, from, err
}

func (s *udpSocket) taken() arrival {
	s.handled = true
	return arrival{flow{network: resolve.UDP, addr: s.current, udp: s}, s.raw, s.waited, s.passed}
}

// write sends one datagram. An ICMP error that belongs to an earlier one may
// be reported here; it says nothing about this one, so it is sent again.
func (s *udpSocket) write(b []byte, to netip.AddrPort) error {
	var err error
	for range 3 {
		if _, err = s.WriteToUDPAddrPort(b, to); err == nil {
			s.u.stats.sent.Add(1)
			return nil
		}
		if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.EHOSTUNREACH) {
			break
		}
		s.readErrors()
	}
	s.u.stats.transport.Add(1)
	return fmt.Errorf("sip: send to %s: %w", to, err)
}

// readErrors takes ICMP errors from the socket. Each carries the beginning of
// our own datagram; its names, which only we can make, tell whose it is.
func (s *udpSocket) readErrors() {
	conn, ok := s.packetConn.(*net.UDPConn)
	if !ok {
		return
	}
	for _, payload := range transport.ReadICMPErrors(conn) {
		// The dialog may be locked by whoever writes just now.
		go s.u.undelivered(payload)
	}
}
