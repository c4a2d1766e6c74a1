package media_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/mediatest"
	"github.com/callboard/callboard/sip/siptest"
)

// Addresses of peers. Audio may be sent to all of them except the private address.
var (
	describedAt = netip.MustParseAddrPort("127.0.0.1:5000") //nolint:gochecknoglobals // constants
	otherPort   = netip.MustParseAddrPort("127.0.0.1:6002") //nolint:gochecknoglobals // constants
	elsewhere   = netip.MustParseAddrPort("127.0.9.9:7000") //nolint:gochecknoglobals // constants
	signalling  = netip.MustParseAddr("127.0.5.5")          //nolint:gochecknoglobals // constants
	privateAt   = netip.MustParseAddrPort("10.9.9.9:5000")  //nolint:gochecknoglobals // constants
	privateNet  = netip.MustParsePrefix("10.0.0.0/8")       //nolint:gochecknoglobals // constants
)

// rtpListener is a session whose packets a test delivers at chosen times.
type rtpListener struct {
	*media.Session
	t   *testing.T
	now time.Duration
}

// receiving returns a session after negotiation with a peer whose SDP names host.
func receiving(t *testing.T, o media.Options, host string) *rtpListener {
	t.Helper()
	low := siptest.MediaPorts10(t)
	e, err := media.NewEngine(media.Config{
		BindIP: loopback, PortMin: low, PortMax: low + 9, MayReach: func(a netip.AddrPort) bool { return !privateNet.Contains(a.Addr()) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	o.SignallingAddress = signalling
	l := &rtpListener{Session: open(t, e, o), t: t}
	_, err = l.Answer(describe(host, 5000, ""))
	require.NoError(t, err)
	l.now = l.Now() + time.Second
	return l
}

// stream is an RTP stream from one source address.
type stream struct {
	from netip.AddrPort
	ssrc uint32
	seq  uint16
	kind uint8
}

// says delivers a number of packets of a stream to the session, 20 ms apart.
func (l *rtpListener) says(s *stream, packets int) {
	for range packets {
		s.seq++
		b := make([]byte, mediatest.RTPHeaderLen+160)
		mediatest.PutRTPHeader(b, rtp.Header{PayloadType: s.kind, SequenceNumber: s.seq, Timestamp: uint32(s.seq) * 160, SSRC: s.ssrc})
		l.Take(b, s.from, l.now)
		l.now += 20 * time.Millisecond
	}
}

// sendsTo asserts that the session sends its audio to an address.
func (l *rtpListener) sendsTo(want netip.AddrPort, why string) {
	l.t.Helper()
	got, _ := l.SendsTo()
	assert.Equal(l.t, want, got, why)
}

func TestSourceNotInSDPIsLearntByTenPacketsWithinTime(t *testing.T) {
	t.Parallel()
	l := receiving(t, media.Options{}, "127.0.0.1")
	l.sendsTo(describedAt, "audio goes to the SDP address until then")
	s := &stream{from: otherPort, ssrc: 1}
	for range 5 { // too slow
		l.says(s, 9)
		l.now += 400 * time.Millisecond
	}
	l.says(&stream{from: otherPort, ssrc: 2, kind: 34}, 20) // payload type not negotiated
	assert.Zero(t, l.Stats().PacketsReceived)
	l.sendsTo(describedAt, "nine packets are too few to learn a source")
	l.now += time.Second
	l.says(s, 10)
	l.sendsTo(otherPort, "ten within 400 ms")
	_, reports := l.SendsTo()
	assert.Equal(t, netip.AddrPortFrom(otherPort.Addr(), otherPort.Port()+1), reports)
	l.says(s, 5)
	assert.Equal(t, uint64(6), l.Stats().PacketsReceived, "accepted from the tenth packet on")
}

func TestSourceIsLearntAtAnyTime(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{2500 * time.Millisecond, 20 * time.Second, time.Hour} {
		l := receiving(t, media.Options{}, "127.0.0.1")
		l.now += late
		l.says(&stream{from: otherPort, ssrc: 1}, 10)
		l.sendsTo(otherPort, late.String())
	}
}

func TestDisallowedSDPAddressGetsNoAudioAndAnySourceIsLearnt(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"10.9.9.9", "handset.local"} {
		l := receiving(t, media.Options{}, host)
		l.sendsTo(netip.AddrPort{}, "no source is learnt yet")
		assert.Contains(t, l.Stats().AudioIssue, host, "the audio issue names the address")
		l.says(&stream{from: privateAt, ssrc: 1}, 20)
		l.sendsTo(netip.AddrPort{}, "no audio to the other address either")
		assert.Contains(t, l.Stats().AudioIssue, "10.9.9.9:5000")
		assert.Contains(t, l.Stats().AudioIssue, "egress")
		l.says(&stream{from: elsewhere, ssrc: 2}, 10)
		l.sendsTo(elsewhere, "learnt")
		assert.Empty(t, l.Stats().AudioIssue)
	}
}

func TestAllowedSDPAddressLimitsLearningToItsHostSignallingAndNetworks(t *testing.T) {
	t.Parallel()
	l := receiving(t, media.Options{}, "127.0.0.1")
	l.says(&stream{from: elsewhere, ssrc: 1}, 30)
	l.sendsTo(describedAt, "a stranger")
	assert.Contains(t, l.Stats().AudioIssue, "30 packets were refused, the last from 127.0.9.9:7000")
	l.says(&stream{from: netip.AddrPortFrom(signalling, 4000), ssrc: 2}, 10)
	l.sendsTo(netip.AddrPortFrom(signalling, 4000), "the source address of the signalling")
	trusted := receiving(t, media.Options{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.9.0/24")}}, "127.0.0.1")
	trusted.says(&stream{from: elsewhere, ssrc: 1}, 10)
	trusted.sendsTo(elsewhere, "a network of Options.Networks")
}

func TestNATModesDecideDestinationAndAcceptedSource(t *testing.T) {
	t.Parallel()
	on := receiving(t, media.Options{NAT: media.NATOn}, "127.0.0.1")
	on.sendsTo(netip.AddrPort{}, "the SDP address is not used")
	on.says(&stream{from: elsewhere, ssrc: 1}, 10)
	on.sendsTo(elsewhere, "any source")
	off := receiving(t, media.Options{NAT: media.NATOff}, "127.0.0.1")
	off.says(&stream{from: otherPort, ssrc: 1}, 30)
	off.sendsTo(describedAt, "only the SDP address")
	off.says(&stream{from: describedAt, ssrc: 2}, 3)
	assert.Equal(t, uint64(3), off.Stats().PacketsReceived)
	off.now += time.Minute
	off.says(&stream{from: otherPort, ssrc: 1}, 30)
	off.sendsTo(describedAt, "still the SDP address after silence")
	for _, host := range []string{"10.9.9.9", "handset.local"} {
		_, err := off.Answer(describe(host, 5000, ""))
		require.ErrorIs(t, err, media.ErrRefusedAddress)
		assert.ErrorContains(t, err, host)
	}
}

func TestConfirmedSourceExcludesOtherSourcesWhileSending(t *testing.T) {
	t.Parallel()
	for _, first := range []netip.AddrPort{describedAt, otherPort} {
		l := receiving(t, media.Options{}, "127.0.0.1")
		own := &stream{from: first, ssrc: 1}
		l.says(own, 10)
		for _, thief := range []*stream{{from: describedAt, ssrc: 9}, {from: otherPort, ssrc: 1, seq: own.seq + 3}, {from: netip.AddrPortFrom(signalling, 4000), ssrc: 1}} {
			if thief.from == first {
				continue
			}
			for range 60 { // six seconds, in each of which the confirmed source sends
				l.says(thief, 4)
				l.says(own, 1)
			}
			l.sendsTo(first, thief.from.String())
		}
		assert.Zero(t, l.Stats().PacketsLost, "injected packets do not affect the loss")
	}
}

func TestAnotherSourceIsLearntAfterThreeSecondsAtMostThriceAMinute(t *testing.T) {
	t.Parallel()
	l := receiving(t, media.Options{}, "127.0.0.1")
	l.says(&stream{from: describedAt, ssrc: 1}, 5)
	l.now += 2700 * time.Millisecond
	l.says(&stream{from: otherPort, ssrc: 1, seq: 5}, 10)
	l.sendsTo(describedAt, "not yet")
	l.now += 200 * time.Millisecond
	l.says(&stream{from: otherPort, ssrc: 1, seq: 15}, 10)
	l.sendsTo(otherPort, "the same stream through another port of a NAT")
	for i := range 4 {
		l.now += 4 * time.Second
		next := netip.AddrPortFrom(otherPort.Addr(), uint16(8000+2*i))
		l.says(&stream{from: next, ssrc: 1}, 10)
		if i < 2 {
			l.sendsTo(next, "the second and the third")
		} else {
			l.sendsTo(netip.AddrPortFrom(otherPort.Addr(), 8002), "no fourth")
		}
	}
	l.now += time.Minute
	last := netip.AddrPortFrom(otherPort.Addr(), 9000)
	l.says(&stream{from: last, ssrc: 1}, 10)
	l.sendsTo(last, "learnt in the next minute")
	_, err := l.Answer(describe("127.0.0.1", 5000, "a=sendonly\r\n"))
	require.NoError(t, err)
	_, err = l.Answer(describe("127.0.0.1", 5000, "a=recvonly\r\n"))
	require.NoError(t, err)
	l.now += time.Minute
	l.says(&stream{from: elsewhere, ssrc: 1}, 30)
	l.says(&stream{from: otherPort, ssrc: 1}, 30)
	got, _ := l.SendsTo()
	assert.Equal(t, last, got, "silence of a recvonly peer is expected")
}

func TestFewForeignPacketsDoNotPreventLearning(t *testing.T) {
	t.Parallel()
	l := receiving(t, media.Options{}, "10.9.9.9")
	own := &stream{from: otherPort, ssrc: 1}
	for i := range 10 {
		l.says(own, 1)
		l.now -= 20 * time.Millisecond
		l.says(&stream{from: netip.AddrPortFrom(elsewhere.Addr(), uint16(7000+i%3)), ssrc: 5}, 1)
	}
	l.sendsTo(otherPort, "in spite of packets from other sources")
}

func TestNewSDPAddressRestartsLearningAndSameAddressDoesNot(t *testing.T) {
	t.Parallel()
	l := receiving(t, media.Options{}, "10.9.9.9")
	l.says(&stream{from: otherPort, ssrc: 1}, 10)
	_, err := l.Answer(describe("10.9.9.9", 5000, ""))
	require.NoError(t, err)
	l.says(&stream{from: elsewhere, ssrc: 2}, 20)
	l.sendsTo(otherPort, "nothing new")
	_, err = l.Answer(describe("10.9.9.9", 5008, ""))
	require.NoError(t, err)
	l.now = max(l.now, l.Now())
	l.sendsTo(netip.AddrPort{}, "the source was learnt under other SDP")
	l.says(&stream{from: elsewhere, ssrc: 2}, 10)
	l.sendsTo(elsewhere, "the new source")
}
