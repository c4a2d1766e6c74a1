package media_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/mediatest"
)

// peer is a remote party that consists of a plain UDP socket.
type peer struct {
	conn *net.UDPConn
	port int
	seq  uint16
	ssrc uint32

	mu   sync.Mutex
	got  []rtp.Packet
	wire [][]byte // received packets without RTCP
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	p := &peer{conn: conn, port: conn.LocalAddr().(*net.UDPAddr).Port, ssrc: rand.Uint32()}
	go p.read()
	return p
}

func (p *peer) read() {
	for {
		buf := make([]byte, 1500)
		n, err := p.conn.Read(buf)
		if err != nil {
			return
		}
		if packet, ok := mediatest.ParseRTP(buf[:n]); ok {
			p.mu.Lock()
			p.got = append(p.got, packet)
			p.wire = append(p.wire, buf[:n])
			p.mu.Unlock()
		}
	}
}

func (p *peer) heard() []rtp.Packet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]rtp.Packet(nil), p.got...)
}

// forget drops the received packets.
func (p *peer) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got, p.wire = nil, nil
}

// cipher returns copies of the received packets as they arrived, without decryption.
func (p *peer) cipher() (out [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.wire {
		out = append(out, bytes.Clone(b))
	}
	return out
}

// say sends a number of audio packets at once, without the usual interval.
func (p *peer) say(t *testing.T, port, packets int, payloadType uint8, sound byte) {
	t.Helper()
	for range packets {
		b := make([]byte, mediatest.RTPHeaderLen+160)
		mediatest.PutRTPHeader(b, rtp.Header{PayloadType: payloadType, SequenceNumber: p.seq, Timestamp: uint32(p.seq) * 160, SSRC: p.ssrc})
		for i := range b[mediatest.RTPHeaderLen:] {
			b[mediatest.RTPHeaderLen+i] = sound
		}
		p.seq++
		_, err := p.conn.WriteToUDPAddrPort(b, netip.AddrPortFrom(loopback, uint16(port)))
		require.NoError(t, err)
	}
}

// sdp returns the peer's SDP with additional attribute lines.
func (p *peer) sdp(attributes string) []byte { return describe("127.0.0.1", p.port, attributes) }

func describe(host string, port int, attributes string) []byte {
	return fmt.Appendf(nil, "v=0\r\no=- 1 1 IN IP4 %s\r\ns=-\r\nc=IN IP4 %s\r\nt=0 0\r\nm=audio %d RTP/AVP 0 8 101\r\n"+
		"a=rtpmap:101 telephone-event/8000\r\n%s", host, host, port, attributes)
}

// relay forwards RTP packets between two sessions and drops some of them.
type relay struct{ a, b *net.UDPConn }

// newRelay returns a relay between two ports that drops the share lose of the packets. A fixed seed makes the losses in
// both directions the same in every run.
func newRelay(t *testing.T, toA, toB int, lose float64) *relay {
	t.Helper()
	r := &relay{}
	for _, side := range []**net.UDPConn{&r.a, &r.b} {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		*side = conn
	}
	carry := func(in, out *net.UDPConn, port int, seed uint64) {
		dice := rand.New(rand.NewPCG(seed, 7))
		buf := make([]byte, 1500)
		for {
			n, err := in.Read(buf)
			if err != nil {
				return
			}
			if dice.Float64() >= lose {
				_, _ = out.WriteToUDPAddrPort(buf[:n], netip.AddrPortFrom(loopback, uint16(port)))
			}
		}
	}
	go carry(r.a, r.b, toB, 1)
	go carry(r.b, r.a, toA, 2)
	return r
}

var audioPort = regexp.MustCompile(`m=audio \d+`)

// via replaces the audio port in an SDP with the port of a socket, so that audio passes through that socket.
func via(description []byte, conn *net.UDPConn) []byte {
	return audioPort.ReplaceAll(description, fmt.Appendf(nil, "m=audio %d", conn.LocalAddr().(*net.UDPAddr).Port))
}

// never fails the test if the condition becomes true within d.
func never(t *testing.T, d time.Duration, what string, happens func() bool) {
	t.Helper()
	for deadline := time.Now().Add(d); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		require.False(t, happens(), what)
	}
}

// event sends a telephone event packet. The packets of all calls belong to the same key press.
func (p *peer) event(t *testing.T, port int, payloadType, code uint8, duration uint16, end bool) {
	t.Helper()
	b := make([]byte, mediatest.RTPHeaderLen+4)
	mediatest.PutRTPHeader(b, rtp.Header{PayloadType: payloadType, SequenceNumber: p.seq, Timestamp: 4242, SSRC: p.ssrc})
	p.seq++
	b[mediatest.RTPHeaderLen], b[mediatest.RTPHeaderLen+2], b[mediatest.RTPHeaderLen+3] = code, byte(duration>>8), byte(duration)
	if end {
		b[mediatest.RTPHeaderLen+1] = 0x80
	}
	_, err := p.conn.WriteToUDPAddrPort(b, netip.AddrPortFrom(loopback, uint16(port)))
	require.NoError(t, err)
}
