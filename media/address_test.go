package media_test

import (
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/mediatest"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip/siptest"
)

var loopback6 = netip.IPv6Loopback()

// hasSix says whether this machine supports IPv6.
func hasSix(t *testing.T) bool {
	t.Helper()
	conn, err := net.ListenPacket("udp6", "[::1]:0")
	if err != nil {
		t.Log("this machine has no IPv6:", err)
		return false
	}
	_ = conn.Close()
	return true
}

func engineAt(t *testing.T, cfg media.Config) *media.Engine {
	t.Helper()
	e, err := media.NewEngine(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func TestIPv6CallCarriesAudioBothWays(t *testing.T) {
	t.Parallel()
	if !hasSix(t) {
		return
	}
	ports := [3]int{siptest.MediaPorts10(t), siptest.MediaPorts10(t), siptest.MediaPorts10(t)}
	a := engineAt(t, media.Config{BindIP: loopback6, PortMin: ports[0], PortMax: ports[0] + 9})
	b := engineAt(t, media.Config{BindIP: netip.IPv6Unspecified(), PublicIP: loopback, PortMin: ports[1], PortMax: ports[1] + 9})
	old := engineAt(t, media.Config{BindIP: loopback, PortMin: ports[2], PortMax: ports[2] + 9})
	path := filepath.Join(t.TempDir(), "six.wav")
	var reported eventLog
	sa := open(t, a, media.Options{RecordPath: path})
	sb := open(t, b, media.Options{Address: loopback6, Notify: reported.notify})
	assert.Contains(t, string(sa.Offer()), "c=IN IP6 ::1\r\n")
	connect(t, sa, sb)
	sb.Play(1, chirp(10*time.Second))
	sa.SendDigits(1, "42#")
	eventually(t, "the digits", func() bool { return reported.keys() == "42#" })
	eventually(t, "sound", func() bool { return sa.Stats().PacketsReceived > 50 && sb.Stats().PacketsReceived > 50 })
	assert.Zero(t, sa.Stats().PacketsRefused+sb.Stats().PacketsRefused)
	_, done := sa.Close()
	require.NoError(t, (<-done).Err)
	file, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	assert.NotZero(t, file.Duration())

	// The engine with IPv6 sockets also accepts IPv4 peers, and its SDP names an address of the peer's family.
	sc, sd := open(t, old, media.Options{}), open(t, b, media.Options{Address: loopback6})
	answer, err := sd.Answer(sc.Offer())
	require.NoError(t, err)
	assert.Contains(t, string(answer), "c=IN IP4 127.0.0.1\r\n")
	require.NoError(t, sc.Accept(answer))
	sc.Begin()
	sd.Begin()
	eventually(t, "sound", func() bool { return sc.Stats().PacketsReceived > 20 && sd.Stats().PacketsReceived > 20 })
	assert.Zero(t, sc.Stats().PacketsRefused+sd.Stats().PacketsRefused)

	// An engine whose sockets support one address family refuses SDP with the other family.
	_, err = open(t, old, media.Options{}).Answer(sb.Offer())
	require.ErrorIs(t, err, media.ErrRefusedAddress, "no IPv6 here")
}

func TestIPv6SourceIsLearntAndConfirmed(t *testing.T) {
	t.Parallel()
	if !hasSix(t) {
		return
	}
	low := siptest.MediaPorts10(t)
	s := open(t, engineAt(t, media.Config{BindIP: netip.IPv6Unspecified(), PortMin: low, PortMax: low + 9}), media.Options{Address: loopback6})
	peers := [2]*net.UDPConn{}
	for i := range peers {
		conn, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		peers[i] = conn
	}
	_, err := s.Answer([]byte("v=0\r\no=- 1 1 IN IP6 ::1\r\ns=-\r\nc=IN IP6 ::1\r\nt=0 0\r\nm=audio 40404 RTP/AVP 0\r\n"))
	require.NoError(t, err)
	s.Begin()
	say := func(from *net.UDPConn, ssrc uint32, packets int) {
		for i := range packets {
			b := make([]byte, mediatest.RTPHeaderLen+160)
			mediatest.PutRTPHeader(b, rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(i) * 160, SSRC: ssrc})
			_, err := from.WriteToUDPAddrPort(b, netip.AddrPortFrom(loopback6, uint16(s.LocalPort())))
			require.NoError(t, err)
		}
	}
	say(peers[0], 1, 10)
	got := make([]byte, 300)
	require.NoError(t, peers[0].SetReadDeadline(time.Now().Add(time.Minute)))
	n, err := peers[0].Read(got)
	require.NoError(t, err, "the learnt source receives audio")
	assert.Equal(t, mediatest.RTPHeaderLen+160, n)
	say(peers[1], 2, 10)
	eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == 10 })
}

func TestSDPNamesAddressReachableByPeer(t *testing.T) {
	t.Parallel()
	public := netip.MustParseAddr("203.0.113.5")
	low := siptest.MediaPorts10(t)
	e := engineAt(t, media.Config{PublicIP: public, PortMin: low, PortMax: low + 9})
	for name, c := range map[string]struct {
		at   netip.Addr
		want string
	}{
		"nothing said":       {netip.Addr{}, "203.0.113.5"},
		"a private network":  {loopback, "127.0.0.1"},
		"no address of ours": {netip.MustParseAddr("198.51.100.9"), "203.0.113.5"},
		"another family":     {loopback6, "203.0.113.5"},
		"every address":      {netip.IPv4Unspecified(), "203.0.113.5"},
	} {
		offer := string(open(t, e, media.Options{Address: c.at}).Offer())
		assert.Contains(t, offer, "c=IN IP4 "+c.want+"\r\n", name)
		assert.Contains(t, offer, " IN IP4 "+c.want+"\r\ns=", name)
	}
}
