package media_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/g722"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

var secured = media.Options{SRTP: media.SRTPRequired, Confidential: true}

// driveClocks takes control of the clocks of newly opened sessions. The returned function advances their time by a duration.
func driveClocks(all ...*media.Session) (run func(time.Duration)) {
	turns, due := make([]*media.Turn, len(all)), make([]int, len(all))
	for i, s := range all {
		turns[i] = media.NewTurn(s)
	}
	return func(d time.Duration) {
		for range d / (5 * time.Millisecond) {
			for i, t := range turns {
				if due[i]--; due[i] <= 0 {
					due[i] = t.Frame()
				}
			}
		}
	}
}

// sendThrough plays a signal in one session and returns its correlation with the recording of the receiving session.
func sendThrough(t *testing.T, oa, ob media.Options) (correlation float64, a, b media.Stats) {
	t.Helper()
	ea, eb := engine(t), engine(t)
	path := filepath.Join(t.TempDir(), "b.wav")
	ob.RecordPath = path
	var reported eventLog
	oa.Notify = reported.notify
	sa, sb := open(t, ea, oa), open(t, eb, ob)
	run := driveClocks(sa, sb)
	connect(t, sa, sb)
	signal := chirp(800 * time.Millisecond)
	sa.Play(1, signal)
	run(1600 * time.Millisecond)
	eventually(t, "played", reported.has(func(e media.Event) bool { return e == media.Played{ID: 1, Heard: 800 * time.Millisecond} }))
	a = sa.Stats()
	b, done := sb.Close()
	require.NoError(t, (<-done).Err)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	sound, err := wav.Decode(raw)
	require.NoError(t, err)
	heard := sound.Channel(0)
	correlation, _ = correlate(heard, g711.DecodeMu(signal)[1600:4800], len(heard))
	return correlation, a, b
}

func TestEveryCodecAndSRTPSuiteCarriesAudio(t *testing.T) {
	t.Parallel()
	inOrder := func(o media.Options, c ...media.Codec) media.Options { o.Codecs = c; return o }
	theirs := media.Options{TheirOrder: true, Codecs: []media.Codec{media.PCMA, media.G722, media.PCMU}}
	for _, c := range []struct {
		name  string
		a, b  media.Options
		codec string
	}{
		{"G.722", inOrder(media.Options{}, media.G722), inOrder(media.Options{}, media.PCMU, media.G722), "G722/8000"},
		{"our order", inOrder(media.Options{}, media.G722, media.PCMU), inOrder(media.Options{}, media.PCMU, media.G722), "PCMU/8000"},
		{"their order", inOrder(media.Options{}, media.G722, media.PCMA), theirs, "G722/8000"},
		{"Opus, which one alone may have", inOrder(media.Options{}, media.Opus, media.PCMA), media.Options{}, "PCMA/8000"},
		{"G.722 encrypted, 10 ms", media.Options{Codecs: []media.Codec{media.G722}, PTime: 10, SRTP: media.SRTPRequired, Confidential: true}, inOrder(secured, media.G722), "G722/8000"},
		{"encrypted", secured, secured, "PCMU/8000"},
		{"both may", media.Options{SRTP: media.SRTPOptional, KeysInClear: true}, media.Options{SRTP: media.SRTPOptional, Confidential: true}, "PCMU/8000"},
		{"one may", media.Options{SRTP: media.SRTPOptional, Confidential: true}, media.Options{}, "PCMU/8000"},
		{"one must", media.Options{SRTP: media.SRTPOptional, Confidential: true}, secured, "PCMU/8000"},
		{"no keys over unencrypted signalling", media.Options{SRTP: media.SRTPOptional}, media.Options{SRTP: media.SRTPOptional, Confidential: true}, "PCMU/8000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			correlation, a, b := sendThrough(t, c.a, c.b)
			assert.Greater(t, correlation, 0.9)
			assert.Equal(t, c.codec, b.Codec)
			encrypted := c.a.Confidential && c.a.SRTP == media.SRTPRequired || c.b.SRTP == media.SRTPRequired || strings.HasPrefix(c.name, "both")
			assert.Equal(t, encrypted, a.SRTP != "", a.SRTP)
			assert.Equal(t, a.SRTP, b.SRTP)
			assert.Zero(t, b.PacketsRefused)
		})
	}
}

func TestSRTPRequiredRefusesUnencryptedMedia(t *testing.T) {
	t.Parallel()
	e := engine(t)
	p := newPeer(t)
	_, err := open(t, e, secured).Answer(p.sdp(""))
	require.ErrorIs(t, err, media.ErrNoCodec)
	s := open(t, e, secured)
	assert.Contains(t, string(s.Offer()), " RTP/SAVP ")
	require.ErrorIs(t, s.Accept(p.sdp("")), media.ErrNoCodec)
	_, err = e.Open(media.Options{SRTP: media.SRTPRequired})
	require.ErrorIs(t, err, media.ErrConfidential)
	savp := strings.ReplaceAll(string(p.sdp("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+strings.Repeat("A", 40)+"\r\n")), "RTP/AVP", "RTP/SAVP")
	_, err = open(t, e, media.Options{}).Answer([]byte(savp))
	require.ErrorIs(t, err, media.ErrNoCodec)
	s = open(t, e, secured)
	answer, err := s.Answer([]byte(savp))
	require.NoError(t, err)
	assert.Contains(t, string(answer), " RTP/SAVP 0 101\r\n")
	assert.Contains(t, string(answer), "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:")
	again, err := s.Answer([]byte(savp))
	require.NoError(t, err)
	assert.Equal(t, answer, again, "the same key")
	other, err := s.Answer([]byte(strings.ReplaceAll(strings.ReplaceAll(savp, "AAAA", "BBBB"), "HMAC_SHA1_80", "HMAC_SHA1_32")))
	require.NoError(t, err)
	assert.NotEqual(t, regexpCrypto.FindString(string(answer))[40:], regexpCrypto.FindString(string(other))[40:], "another suite gets a new key")

	// The session refuses unencrypted RTP, also from the agreed source address, and stays open.
	p.say(t, s.LocalPort(), 10, 0, 0x90)
	eventually(t, "refused", func() bool { return s.Stats().PacketsRefused == 10 })
	assert.Zero(t, s.Stats().PacketsReceived)
}

func TestRekeyDuringCallIsInaudible(t *testing.T) {
	t.Parallel()
	a, b := engine(t), engine(t)
	sa, sb := open(t, a, secured), open(t, b, secured)
	connect(t, sa, sb)
	flows := func(what string) {
		ra, rb := sa.Stats().PacketsReceived, sb.Stats().PacketsReceived
		eventually(t, what, func() bool { return sa.Stats().PacketsReceived > ra+10 && sb.Stats().PacketsReceived > rb+10 })
	}
	flows("first")
	before := string(sa.Offer())
	assert.Equal(t, before, string(sa.Offer()), "a session refresh keeps the offer")
	sa.Rekey()
	after := sa.Offer()
	assert.NotEqual(t, before, string(after))
	flows("during the offer, or after its rejection")
	answer, err := sb.Answer(sa.Offer())
	require.NoError(t, err)
	flows("one end has the new keys")
	require.NoError(t, sa.Accept(answer))
	flows("both have")
	sb.Rekey()
	answer, err = sa.Answer(sb.Offer())
	require.NoError(t, err)
	require.NoError(t, sb.Accept(answer))
	flows("the other way round")
	assert.LessOrEqual(t, sa.Stats().PacketsLost+sb.Stats().PacketsLost, uint64(4), "packets in transit with the former key")
}

func TestAnswerWithOurOwnSRTPKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, engine(t), secured)
	p := newPeer(t)
	mine := regexpCrypto.FindString(string(s.Offer()))
	echo := strings.ReplaceAll(string(p.sdp(mine+"\r\n")), "RTP/AVP", "RTP/SAVP")
	require.ErrorIs(t, s.Accept([]byte(echo)), media.ErrNoCodec)
}

func TestFFmpegDecryptsOurSRTP(t *testing.T) {
	t.Parallel()
	for _, suite := range []string{"AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			s := open(t, engine(t), media.Options{Codecs: []media.Codec{media.PCMA}, SRTP: media.SRTPRequired, Confidential: true})
			port := freeUDP(t)
			key := strings.Repeat("QUJD", 10)
			offer := strings.ReplaceAll(string(describe("127.0.0.1", port, "a=crypto:1 "+suite+" inline:"+key+"\r\n")), "RTP/AVP", "RTP/SAVP")
			answer, err := s.Answer([]byte(offer))
			require.NoError(t, err)
			ours := regexpCrypto.FindString(string(answer))
			dir := t.TempDir()
			description := fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/SAVP 8\r\n%s\r\n", port, ours)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sdp"), []byte(description), 0o600))
			out := filepath.Join(dir, "heard.raw")
			cmd := exec.CommandContext(t.Context(), "ffmpeg", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,udp,rtp,srtp,crypto",
				"-i", filepath.Join(dir, "a.sdp"), "-t", "1.2", "-f", "s16le", "-ar", "8000", out)
			s.Begin()
			signal := chirp(200 * time.Millisecond)
			repeated := media.Clip{}
			for range 100 {
				repeated = append(repeated, signal...)
			}
			s.Play(1, repeated)
			text, err := cmd.CombinedOutput()
			require.NoError(t, err, string(text))
			raw, err := os.ReadFile(out)
			require.NoError(t, err)
			heard := make([]int16, len(raw)/2)
			for k := range heard {
				heard[k] = int16(uint16(raw[2*k]) | uint16(raw[2*k+1])<<8)
			}
			require.Greater(t, len(heard), 4800)
			best, _ := correlate(heard, g711.DecodeMu(signal)[:1200], len(heard))
			assert.Greater(t, best, 0.98)
		})
	}
}

func TestSessionDecryptsSRTPOfFFmpeg(t *testing.T) {
	t.Parallel()
	s := open(t, engine(t), media.Options{Codecs: []media.Codec{media.PCMU}, SRTP: media.SRTPRequired, Confidential: true, Networks: loopbackNet})
	key := strings.Repeat("QUJE", 10)
	from := freeUDP(t) // port that ffmpeg sends from
	offer := strings.ReplaceAll(string(describe("127.0.0.1", from, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+key+"\r\n")), "RTP/AVP", "RTP/SAVP")
	_, err := s.Answer([]byte(offer))
	require.NoError(t, err)
	s.Begin()
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-hide_banner", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "sine=frequency=700:sample_rate=8000:duration=1",
		"-c:a", "pcm_mulaw", "-f", "rtp", "-srtp_out_suite", "AES_CM_128_HMAC_SHA1_80", "-srtp_out_params", key, fmt.Sprintf("srtp://127.0.0.1:%d?pkt_size=172&localrtpport=%d", s.LocalPort(), from))
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	stats := s.Stats()
	assert.Greater(t, stats.PacketsReceived, uint64(30))
	assert.InDelta(t, 1.0, stats.ReceivedFor.Seconds(), 0.2)
}

func TestG722PacketsContainCodecOutput(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	var reported eventLog
	s := open(t, engine(t), media.Options{Codecs: []media.Codec{media.G722}, Notify: reported.notify})
	_, err := s.Answer([]byte(strings.ReplaceAll(string(p.sdp("")), " 0 8 101", " 9 101")))
	require.NoError(t, err)
	s.Begin()
	s.Play(1, tone.Make(400*time.Millisecond, 0.5, 1000))
	eventually(t, "played", reported.has(func(e media.Event) bool { return e == media.Played{ID: 1, Heard: 400 * time.Millisecond} }))
	eventually(t, "heard", func() bool { return len(p.heard()) > 20 })
	d := g722.NewDecoder()
	loudest := 0.0
	for i, packet := range p.heard() {
		assert.Equal(t, uint8(9), packet.PayloadType)
		require.Len(t, packet.Payload, 160)
		if i > 0 {
			assert.Equal(t, uint32(160), packet.Timestamp-p.heard()[i-1].Timestamp, "the RTP clock of G.722 is 8 kHz (RFC 3551 section 4.5.2)")
		}
		wide := make([]int16, 320)
		d.Wide(wide, packet.Payload)
		sum := 0.0
		for _, v := range wide {
			sum += float64(v) * float64(v)
		}
		loudest = max(loudest, math.Sqrt(sum/320))
	}
	assert.InDelta(t, 16000/math.Sqrt2, loudest, 1200, "the level is unchanged")
}

func TestComfortNoiseIsSentInPausesIfNegotiated(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), media.Options{ComfortNoise: true})
	answer, err := s.Answer([]byte(strings.ReplaceAll(string(p.sdp("")), " 0 8 101", " 0 8 13 101")))
	require.NoError(t, err)
	assert.Contains(t, string(answer), " 0 13 101\r\n")
	s.Begin()
	noise := func() (n int) {
		for _, packet := range p.heard() {
			if packet.PayloadType == 13 && len(packet.Payload) == 1 {
				n++
			}
		}
		return n
	}
	eventually(t, "noise", func() bool { return noise() >= 2 })
	p.forget()
	s.Play(1, tone.Beep(100*time.Millisecond))
	eventually(t, "audio after comfort noise has the marker bit", func() bool {
		for _, packet := range p.heard() {
			if packet.PayloadType == 0 && packet.Marker {
				return true
			}
		}
		return false
	})
}

func TestRTCPUsesRTPPortIfNegotiated(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), media.Options{})
	answer, err := s.Answer(p.sdp("a=rtcp-mux\r\n"))
	require.NoError(t, err)
	assert.Contains(t, string(answer), "a=rtcp-mux\r\n")
	p.say(t, s.LocalPort(), 3, 0, 0x90)
	eventually(t, "heard", func() bool { return s.Stats().PacketsReceived == 3 })
	_, done := s.Close()
	<-done
	eventually(t, "the BYE arrives on the RTP port", func() bool {
		for _, packet := range p.heard() {
			if packet.Marker && packet.PayloadType == 200-128 {
				return true
			}
		}
		return false
	})
}

func TestPayloadTypesKeepMeaningInLaterOffers(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	s := open(t, engine(t), media.Options{})
	_, err := s.Answer([]byte(strings.ReplaceAll(string(p.sdp("")), "101", "96")))
	require.NoError(t, err)
	assert.Contains(t, string(s.Offer()), "a=rtpmap:96 telephone-event/8000")
	s.SetOfferDirection(false, true)
	assert.Contains(t, string(s.Offer()), "a=sendonly")
	s.SetOfferDirection(true, true)
	assert.Contains(t, string(s.Offer()), "a=sendrecv")

	// If an answer uses other payload types than the offer, each peer sends with the payload types of the other peer's SDP.
	s = open(t, engine(t), media.Options{})
	assert.Contains(t, string(s.Offer()), "a=rtpmap:101 telephone-event/8000")
	require.NoError(t, s.Accept([]byte(strings.ReplaceAll(string(p.sdp("")), "101", "97"))))
	s.SendDigits(1, "5")
	eventually(t, "the event has the peer's payload type", func() bool {
		for _, packet := range p.heard() {
			if packet.PayloadType == 97 && len(packet.Payload) == 4 {
				return true
			}
		}
		return false
	})
}

func TestFrameOfEveryCodecAllocatesNothing(t *testing.T) {
	for _, o := range []media.Options{
		{Codecs: []media.Codec{media.G722}, DTMF: media.DTMFInband}, {SRTP: media.SRTPRequired, Confidential: true},
	} {
		a, b := engine(t), engine(t)
		sa, sb := open(t, a, o), open(t, b, o)
		ta, tb := media.NewTurn(sa), media.NewTurn(sb)
		connect(t, sa, sb)
		sa.Play(1, chirp(time.Minute))
		sb.Play(1, chirp(time.Minute))
		both := func() { ta.Frame(); tb.Frame() }
		for range 20 {
			both()
		}
		least := math.Inf(1)
		for range 50 { // under the race detector, pools sometimes drop their content
			least = min(least, testing.AllocsPerRun(1, both))
		}
		assert.Zero(t, least)
		assert.GreaterOrEqual(t, sb.Stats().PacketsReceived, uint64(100))
	}
}
