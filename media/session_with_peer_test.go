package media_test

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/sip/siptest"
)

func TestDigitsSurvivePacketLossBothWays(t *testing.T) {
	t.Parallel()
	a, b := engine(t), engine(t)
	var reportedA, reportedB eventLog
	sa, sb := open(t, a, media.Options{Notify: reportedA.notify}), open(t, b, media.Options{Notify: reportedB.notify})
	r := newRelay(t, sa.LocalPort(), sb.LocalPort(), 0.05)
	answer, err := sb.Answer(via(sa.Offer(), r.b))
	require.NoError(t, err)
	require.NoError(t, sa.Accept(via(answer, r.a)))
	sa.Begin()
	sb.Begin()
	const up, down = "0123456789*#", "99881177AABD"
	sa.SendDigits(1, up)
	sb.SendDigits(2, down)
	eventually(t, "sent", reportedA.has(func(e media.Event) bool { return e == media.DigitsSent{ID: 1} }))
	eventually(t, "sent", reportedB.has(func(e media.Event) bool { return e == media.DigitsSent{ID: 2} }))
	eventually(t, "the last digit", func() bool { return len(reportedB.keys()) >= len(up) && len(reportedA.keys()) >= len(down) })
	never(t, 300*time.Millisecond, "a digit reported twice", func() bool { return len(reportedB.keys()) > len(up) || len(reportedA.keys()) > len(down) })
	assert.Equal(t, up, reportedB.keys())
	assert.Equal(t, down, reportedA.keys())
	stats := sb.Stats()
	assert.InDelta(t, 5, stats.LossPercent, 4)
	assert.Less(t, stats.MOS, 4.2)
	assert.Greater(t, stats.MOS, 2.5)
	assert.Less(t, stats.IntervalP99Ms, 100.0)
	assert.Positive(t, stats.IntervalMaxMs)
}

func TestDigitsAreTonesWithoutTelephoneEvents(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	var reported eventLog
	s := open(t, engine(t), media.Options{Notify: reported.notify})
	s.SendDigits(4, "5") // sent before the peer's SDP is known
	_, err := s.Answer([]byte(strings.ReplaceAll(string(p.sdp("")), " 101\r\n", "\r\n")))
	require.NoError(t, err)
	eventually(t, "sent", reported.has(func(e media.Event) bool { return e == media.DigitsSent{ID: 4} }))
	var sound []byte
	eventually(t, "the tones", func() bool {
		sound = nil
		for _, packet := range p.heard() {
			assert.Zero(t, packet.PayloadType)
			sound = append(sound, packet.Payload...)
		}
		return bytes.Contains(sound, tone.Keys("5")[:1600])
	})
}

func TestConfirmedSourceExcludesInjectedPackets(t *testing.T) {
	t.Parallel()
	p, thief := newPeer(t), newPeer(t)
	s := open(t, engine(t), media.Options{})
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	s.Begin()
	p.say(t, s.LocalPort(), 3, 0, 0x90)
	eventually(t, "heard", func() bool { return s.Stats().PacketsReceived == 3 })
	thief.say(t, s.LocalPort(), 20, 0, 0x90)
	eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == 20 })
	assert.Equal(t, uint64(3), s.Stats().PacketsReceived)
	assert.Empty(t, thief.heard())
	t.Logf("attack: 20 packets injected after the lock, %d heard, %d sent to their source", s.Stats().PacketsReceived-3, len(thief.heard()))

	// The same SDP again does not restart the search for the peer's source address. SDP with a new address does.
	_, err = s.Answer(p.sdp(""))
	require.NoError(t, err)
	thief.say(t, s.LocalPort(), 5, 0, 0x90)
	eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == 25 })
	moved := newPeer(t)
	_, err = s.Answer(moved.sdp(""))
	require.NoError(t, err)
	moved.say(t, s.LocalPort(), 4, 0, 0x90)
	eventually(t, "the new peer is accepted", func() bool { return s.Stats().PacketsReceived == 7 })
	eventually(t, "and hears", func() bool { return len(moved.heard()) > 2 })
	p.say(t, s.LocalPort(), 3, 0, 0x90)
	eventually(t, "the old peer is refused", func() bool { return s.Stats().PacketsRefused == 28 })
}

func TestPacketsOfPreviousSourceDoNotConfirmIt(t *testing.T) {
	t.Parallel()
	s := open(t, engine(t), media.Options{})
	s.Begin()
	for range 10 { // repeated, because the time for learning is limited and the machine may stall
		p, moved := newPeer(t), newPeer(t)
		_, err := s.Answer(p.sdp(""))
		require.NoError(t, err)
		before := s.Stats()
		p.say(t, s.LocalPort(), 3, 0, 0x90)
		eventually(t, "heard", func() bool { return s.Stats().PacketsReceived == before.PacketsReceived+3 })
		begun := time.Now()
		_, err = s.Answer(moved.sdp(""))
		require.NoError(t, err)
		p.say(t, s.LocalPort(), 10, 0, 0x90)
		late := func() bool { return time.Since(begun) > 900*time.Millisecond }
		eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == before.PacketsRefused+10 || late() })
		if late() {
			continue
		}
		moved.forget()
		eventually(t, "the new peer receives audio", func() bool { return len(moved.heard()) > 3 })
		p.forget()
		eventually(t, "a peer with an unchanged address is learnt again", func() bool {
			p.say(t, s.LocalPort(), 1, 0, 0x90)
			return len(p.heard()) > 0 || time.Since(begun) > 2100*time.Millisecond
		})
		if len(p.heard()) > 0 {
			return
		}
	}
	require.Fail(t, "the source is not learnt again")
}

func TestSendingSDPSourcePreventsLearningOthers(t *testing.T) {
	t.Parallel()
	p, thief := newPeer(t), newPeer(t)
	s := open(t, engine(t), media.Options{})
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	p.say(t, s.LocalPort(), 1, 0, 0x90)
	eventually(t, "audio is heard at once", func() bool { return s.Stats().PacketsReceived == 1 })
	thief.say(t, s.LocalPort(), 10, 0, 0x90)
	eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == 10 })
	assert.Empty(t, thief.heard())
}

func TestNewStreamOfConfirmedSourceNeedsThreePackets(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), media.Options{})
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	p.say(t, s.LocalPort(), 3, 0, 0x90)
	p.say(t, s.LocalPort(), 5, 13, 0x90)
	p.say(t, s.LocalPort(), 2, 0, 0x90)
	eventually(t, "comfort noise has its place in the sequence", func() bool { return s.Stats().PacketsReceived == 10 })
	p.ssrc++
	p.say(t, s.LocalPort(), 2, 0, 0x90)
	never(t, 100*time.Millisecond, "two packets do not confirm a stream", func() bool { return s.Stats().PacketsReceived > 10 })
	p.say(t, s.LocalPort(), 4, 0, 0x90)
	eventually(t, "hold music from another machine is accepted", func() bool { return s.Stats().PacketsReceived == 14 })
	assert.Zero(t, s.Stats().PacketsLost)
	assert.Zero(t, s.Stats().PacketsRefused)
}

func TestForgedStreamOfConfirmedAddressDoesNotReplaceActiveStream(t *testing.T) {
	t.Parallel()
	e := engine(t)
	for range 20 { // repeated, because a stalled machine may end the confirmed stream
		if forged(t, e) {
			return
		}
	}
	require.Fail(t, "the machine is too busy for this test")
}

// forged checks that a forged stream does not replace a confirmed stream between whose packets it arrives. It returns
// false if the machine stalled, so that the test proves nothing.
func forged(t *testing.T, e *media.Engine) bool {
	p := newPeer(t)
	s := open(t, e, media.Options{})
	defer s.Close()
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	p.say(t, s.LocalPort(), 3, 0, 0x90)
	eventually(t, "locked", func() bool { return s.Stats().PacketsReceived == 3 })
	own, genuine, theirs := p.ssrc, p.seq, uint16(30000)
	heard, began := uint64(3), time.Now()
	for range 20 {
		p.ssrc, p.seq = own, genuine
		p.say(t, s.LocalPort(), 1, 0, 0x90)
		genuine, heard = p.seq, heard+1
		p.ssrc, p.seq = own+1, theirs
		p.say(t, s.LocalPort(), 4, 0, 0x90) // more consecutive packets than confirm a source
		theirs = p.seq
	}
	if time.Since(began) > 80*time.Millisecond {
		return false
	}
	eventually(t, "the stream continues", func() bool { return s.Stats().PacketsReceived >= heard })
	never(t, 60*time.Millisecond, "a forged packet is accepted", func() bool { return s.Stats().PacketsReceived > heard })
	return true
}

func TestEchoOfOwnStreamCountsAsReceivedAudio(t *testing.T) {
	t.Parallel()
	echo, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = echo.Close() }()
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, errRead := echo.ReadFromUDPAddrPort(buf)
			if errRead != nil {
				return
			}
			_, _ = echo.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	var reported eventLog
	s := open(t, engine(t), media.Options{Notify: reported.notify})
	require.NoError(t, s.Accept(describe("127.0.0.1", echo.LocalAddr().(*net.UDPAddr).Port, "")))
	s.Begin()
	s.Play(1, chirp(time.Second))
	eventually(t, "heard", reported.has(func(e media.Event) bool { return e == media.SpeechBegan{} }))
	eventually(t, "ended", reported.has(func(e media.Event) bool { return e == media.SpeechEnded{Silence: vad.EndSilence} }))
	assert.Zero(t, s.Stats().PacketsRefused)
	assert.Greater(t, s.Stats().PacketsReceived, uint64(40))
}

func TestHoldByPeerStopsAudioAndPausesPlayback(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	var reported eventLog
	s := open(t, engine(t), media.Options{Notify: reported.notify, IdleAfter: 200 * time.Millisecond})
	first, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	eventually(t, "silence is sent at once", func() bool { return len(p.heard()) > 3 })
	for i, hold := range [][]byte{p.sdp("a=sendonly\r\n"), p.sdp("a=inactive\r\n"), describe("0.0.0.0", p.port, ""), describe("127.0.0.1", 0, "")} {
		held, errHold := s.Answer(hold)
		require.NoError(t, errHold)
		assert.NotContains(t, string(held), "sendrecv")
		assert.Equal(t, version(first)+2*i+1, version(held), "changed SDP has a new version")
		again, errHold := s.Answer(hold)
		require.NoError(t, errHold)
		assert.Equal(t, held, again, "the same SDP keeps its version")
		if i == 0 {
			s.Begin()
			s.Play(1, tone.Beep(100*time.Millisecond))
		}
		p.forget()
		never(t, 300*time.Millisecond, "sound or an event on hold", func() bool {
			return len(p.heard()) > 2 || slices.ContainsFunc(reported.all(), func(e media.Event) bool { return !isHold(e) }) // packets in transit may still arrive
		})
		_, err = s.Answer(p.sdp(""))
		require.NoError(t, err)
	}
	none := media.Hold{}
	want := []media.Event{media.Hold{PeerNotReceiving: true}, none, media.Hold{PeerNotReceiving: true, PeerNotSending: true}, none, media.Hold{PeerNotReceiving: true}, none, media.Hold{PeerNotReceiving: true, PeerNotSending: true}, none}
	eventually(t, "each hold and its end are reported", func() bool {
		return slices.Equal(want, slices.DeleteFunc(reported.all(), func(e media.Event) bool { return !isHold(e) }))
	})
	eventually(t, "played after the hold", reported.has(func(e media.Event) bool { return e == media.Played{ID: 1, Heard: 100 * time.Millisecond} }))
	eventually(t, "and marked", func() bool {
		return slices.ContainsFunc(p.heard(), func(packet rtp.Packet) bool { return packet.Marker })
	})
	eventually(t, "vanished, off hold", reported.has(func(e media.Event) bool { return e == media.IdleTimeout{} }))
}

func TestRemovedStreamIsAnsweredWithPortZeroAndCanReturn(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), media.Options{})
	removed := []byte(strings.ReplaceAll(string(p.sdp("")), fmt.Sprintf("m=audio %d", p.port), "m=audio 0") + "m=video 4000 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n")
	_, err := s.Answer(removed)
	require.ErrorIs(t, err, media.ErrNoCodec, "the first offer has to bring audio")
	_, err = s.Answer(p.sdp(""))
	require.NoError(t, err)
	answer, err := s.Answer(removed)
	require.NoError(t, err)
	assert.Equal(t, []string{"audio 0", "video 0"}, mediaLines(answer))
	p.forget()
	never(t, 200*time.Millisecond, "sound without a stream", func() bool { return len(p.heard()) > 2 })
	answer, err = s.Answer(p.sdp(""))
	require.NoError(t, err)
	assert.Equal(t, []string{fmt.Sprintf("audio %d", s.LocalPort())}, mediaLines(answer))
	eventually(t, "sound again", func() bool { return len(p.heard()) > 5 })
}

// mediaLines returns the kind and port of each m= line in an SDP.
func mediaLines(b []byte) (lines []string) {
	for line := range strings.Lines(string(b)) {
		if stream, found := strings.CutPrefix(line, "m="); found {
			lines = append(lines, strings.Join(strings.Fields(stream)[:2], " "))
		}
	}
	return lines
}

func isHold(e media.Event) bool {
	_, ok := e.(media.Hold)
	return ok
}

// version returns the session version in the o= line of an SDP.
func version(b []byte) int {
	v := 0
	for _, c := range strings.Fields(string(b))[3] {
		v = 10*v + int(c-'0')
	}
	return v
}

func TestVanishedPeerIsReportedOncePerSilence(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	var reported eventLog
	s := open(t, engine(t), media.Options{Notify: reported.notify, IdleAfter: 150 * time.Millisecond})
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	never(t, 250*time.Millisecond, "before the call is answered", func() bool { return len(reported.all()) > 0 })
	s.Begin()
	eventually(t, "vanished", func() bool { return len(reported.all()) == 1 })
	never(t, 250*time.Millisecond, "twice", func() bool { return len(reported.all()) > 1 })
	p.say(t, s.LocalPort(), 1, 0, 0xFF)
	eventually(t, "again", func() bool { return len(reported.all()) == 2 })
	assert.Equal(t, []media.Event{media.IdleTimeout{}, media.IdleTimeout{}}, reported.all())
}

func TestPlayInterruptsPreviousClip(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	var reported eventLog
	s := open(t, engine(t), media.Options{Notify: reported.notify})
	_, err := s.Answer(p.sdp("a=ptime:10\r\n"))
	require.NoError(t, err)
	s.Play(1, tone.Beep(time.Minute))
	eventually(t, "it sounds", func() bool { return bytes.Contains(sound(p), tone.Beep(time.Minute)[:800]) })
	s.Play(2, tone.Beep(30*time.Millisecond))
	eventually(t, "both ended", func() bool { return len(reported.all()) == 2 })
	s.Play(3, nil)
	eventually(t, "an empty clip also reports Played", func() bool { return len(reported.all()) == 3 })
	s.Play(4, tone.Beep(time.Minute))
	s.StopPlaying()
	s.StopPlaying()
	eventually(t, "stopped", func() bool { return len(reported.all()) == 4 })
	got := reported.all()
	old, ok := got[0].(media.Played)
	require.True(t, ok)
	assert.True(t, old.Interrupted && old.ID == 1 && old.Heard >= 100*time.Millisecond && old.Heard < 5*time.Second, "%+v", old)
	assert.Equal(t, []media.Event{
		media.Played{ID: 2, Heard: 30 * time.Millisecond}, media.Played{ID: 3}, media.Played{ID: 4, Interrupted: true},
	}, got[1:])
	assert.Len(t, p.heard()[0].Payload, 80, "10 ms as they asked")
}

func sound(p *peer) (out []byte) {
	for _, packet := range p.heard() {
		out = append(out, packet.Payload...)
	}
	return out
}

func TestRTCPReportsAreSentAndRoundTripIsMeasured(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	control, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = control.Close() }()
	s := open(t, engine(t), media.Options{})
	_, port, err := net.SplitHostPort(control.LocalAddr().String())
	require.NoError(t, err)
	_, err = s.Answer(p.sdp("a=rtcp:" + port + "\r\n"))
	require.NoError(t, err)
	p.say(t, s.LocalPort(), 3, 0, 0x90)

	buf := make([]byte, 1500)
	require.NoError(t, control.SetReadDeadline(time.Now().Add(time.Minute)))
	n, from, err := control.ReadFromUDPAddrPort(buf)
	require.NoError(t, err)
	assert.Equal(t, s.LocalPort()+1, int(from.Port()))
	packets, err := rtcp.Unmarshal(buf[:n])
	require.NoError(t, err)
	sr, ok := packets[0].(*rtcp.SenderReport)
	require.True(t, ok)
	assert.Equal(t, p.ssrc, sr.Reports[0].SSRC)
	assert.IsType(t, &rtcp.SourceDescription{}, packets[1])

	time.Sleep(50 * time.Millisecond) // simulated network delay
	reply, err := rtcp.Marshal([]rtcp.Packet{&rtcp.ReceiverReport{SSRC: p.ssrc, Reports: []rtcp.ReceptionReport{
		{SSRC: sr.SSRC, LastSenderReport: uint32(sr.NTPTime >> 16)},
	}}})
	require.NoError(t, err)
	way := time.Since(ntp(sr.NTPTime))
	_, err = control.WriteToUDPAddrPort(reply, from)
	require.NoError(t, err)
	eventually(t, "measured", func() bool { return s.Stats().RoundTripMs > 0 })
	assert.InDelta(t, way.Milliseconds(), s.Stats().RoundTripMs, 40, "the arrival time, not the read time")

	s.Close()
	n, err = control.Read(buf)
	require.NoError(t, err)
	packets, err = rtcp.Unmarshal(buf[:n])
	require.NoError(t, err)
	assert.IsType(t, &rtcp.Goodbye{}, packets[len(packets)-1])
}

// ntp converts an NTP timestamp, which counts seconds since 1900 in units of 2^-32, to a time.
func ntp(stamp uint64) time.Time {
	const until1970 = 2208988800
	return time.Unix(int64(stamp>>32)-until1970, int64(stamp&(1<<32-1)*1e9>>32))
}

func TestDisallowedAddressGetsNoAudio(t *testing.T) {
	t.Parallel()
	private := netip.MustParsePrefix("10.0.0.0/8")
	low := siptest.MediaPorts10(t)
	e, err := media.NewEngine(media.Config{
		BindIP: loopback, PortMin: low, PortMax: low + 9, MayReach: func(a netip.AddrPort) bool { return !private.Contains(a.Addr()) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	s, off := open(t, e, media.Options{}), open(t, e, media.Options{NAT: media.NATOff})
	for name, offer := range map[string][]byte{
		"our own port": describe("127.0.0.1", low, ""), "another local port": describe("127.0.0.9", low+9, ""), "privileged": describe("127.0.0.1", 53, ""),
		"multicast": describe("224.0.0.1", 5000, ""), "broadcast": describe("255.255.255.255", 5000, ""), "inside": describe("10.1.2.3", 5000, ""),
		"a host name": describe("carrier.example", 5000, ""),
	} {
		_, err = s.Answer(offer)
		require.NoError(t, err, name)
		require.NoError(t, s.Accept(offer), name)
		audio, reports := s.SendsTo()
		assert.Equal(t, [2]netip.AddrPort{}, [2]netip.AddrPort{audio, reports}, name)
		_, err = off.Answer(offer)
		require.ErrorIs(t, err, media.ErrRefusedAddress, name)
	}
	first := open(t, e, media.Options{})
	for name, c := range map[string]struct {
		offer string
		want  error
		says  string
	}{
		"no codec":   {"v=0\nc=IN IP4 127.0.0.1\nm=audio 5000 RTP/AVP 18 9", media.ErrNoCodec, "the peer has payload type 18 (G729), G722/8000; allowed here are PCMU/8000, PCMA/8000"},
		"no stream":  {"v=0\nc=IN IP4 127.0.0.1\nm=video 5000 RTP/AVP 31", media.ErrNoCodec, "there is no m=audio line"},
		"declined":   {"v=0\nc=IN IP4 127.0.0.1\nm=audio 0 RTP/AVP 0", media.ErrNoCodec, "declined by port 0"},
		"encrypted":  {"v=0\nc=IN IP4 127.0.0.1\nm=audio 5000 RTP/SAVP 0", media.ErrNoCodec, "the peer uses RTP/SAVP"},
		"nonsense":   {"\x00", media.ErrBadSDP, "v=0"},
		"no address": {"v=0\nm=audio 5000 RTP/AVP 0", media.ErrBadSDP, "no c= line"},
	} {
		_, err = first.Answer([]byte(c.offer))
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, c.says, name)
		require.ErrorIs(t, first.Accept([]byte(c.offer)), c.want, name)
	}
	trusted := open(t, e, media.Options{Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}})
	for host, want := range map[string]netip.AddrPort{"10.1.2.3": netip.MustParseAddrPort("10.1.2.3:5000"), "10.2.2.3": {}} {
		_, err = trusted.Answer(describe(host, 5000, ""))
		require.NoError(t, err)
		audio, _ := trusted.SendsTo()
		assert.Equal(t, want, audio, host)
	}
	assert.Zero(t, s.Stats().PacketsSent)
}

func TestReOfferKeepsStreamAndIncrementsVersion(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), media.Options{Codecs: []media.Codec{media.PCMA, media.PCMU}})
	offer := s.Offer()
	assert.Contains(t, string(offer), "RTP/AVP 8 0 101\r\n")
	assert.Equal(t, offer, s.Offer(), "unchanged SDP keeps its version")
	require.NoError(t, s.Accept(p.sdp("")))
	eventually(t, "sent", func() bool { return len(p.heard()) > 5 })
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	assert.Equal(t, version(offer)+2, version(s.Offer()))
	eventually(t, "the other codec", func() bool { h := p.heard(); return h[len(h)-1].PayloadType == 8 })
	ssrc := p.heard()[0].SSRC
	for i, packet := range p.heard() {
		assert.Equal(t, ssrc, packet.SSRC)
		assert.Equal(t, p.heard()[0].SequenceNumber+uint16(i), packet.SequenceNumber)
		assert.Equal(t, p.heard()[0].Timestamp+uint32(i)*160, packet.Timestamp)
		assert.Equal(t, i == 0, packet.Marker)
	}
}
