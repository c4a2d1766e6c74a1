package media_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

// bridgeFixture is a test with two remote peers, a caller and a human agent, and our session with each of them. The test drives
// the media clocks of all four sessions.
type bridgeFixture struct {
	t             *testing.T
	dir           string
	caller, human *media.Session // the peers
	a, b          *media.Session // our sessions, with the caller and with the human
	turns         []*media.Turn
}

func newBridgeFixture(t *testing.T, callerCodec, humanCodec media.Codec) *bridgeFixture {
	t.Helper()
	remote, local := engine(t), engine(t)
	s := &bridgeFixture{t: t, dir: t.TempDir()}
	of := func(e *media.Engine, name string, codec media.Codec) *media.Session {
		o := media.Options{RecordPath: filepath.Join(s.dir, name)}
		if codec == media.PCMA {
			o.Codecs = []media.Codec{media.PCMA}
		}
		one := open(t, e, o)
		s.turns = append(s.turns, media.NewTurn(one))
		return one
	}
	s.caller, s.human = of(remote, "caller", callerCodec), of(remote, "human", humanCodec)
	s.a, s.b = of(local, "a", callerCodec), of(local, "b", humanCodec)
	connect(t, s.caller, s.a)
	connect(t, s.human, s.b)
	return s
}

// run advances the time of all four sessions.
func (s *bridgeFixture) run(d time.Duration) {
	for range d / (20 * time.Millisecond) {
		for _, t := range s.turns {
			t.Frame()
		}
	}
}

// recording closes a session and reads its recording: the peer's audio on the left, the sent audio on the right.
func (s *bridgeFixture) recording(one *media.Session) (left, right []int16, r media.Recording) {
	s.t.Helper()
	_, done := one.Close()
	r = <-done
	require.NoError(s.t, r.Err)
	file, err := wav.ReadFile(r.Path, 1<<22)
	require.NoError(s.t, err)
	return file.Channel(0), file.Channel(1), r
}

// alike returns the highest correlation of in with sound at any shift. It compares samples at random distances only, to
// save time.
//
//go:norace
func alike(in []int16, sound media.Clip) (best float64) {
	b := g711.DecodeMu(sound)
	dice := rand.New(rand.NewPCG(1, 2))
	var some []int
	var bb int64
	for i := 0; i < len(b); i += 1 + dice.IntN(13) {
		some, bb = append(some, i), bb+int64(b[i])*int64(b[i])
	}
	for shift := 0; shift+len(b) <= len(in); shift++ {
		var ab, aa int64
		at := in[shift : shift+len(b)]
		for _, i := range some {
			x, y := int64(at[i]), int64(b[i])
			ab, aa = ab+x*y, aa+x*x
		}
		best = max(best, float64(ab)/math.Sqrt(float64(aa)*float64(bb)+1))
	}
	return best
}

// reversedChirp returns the audio of chirp in reverse, a signal that does not correlate with chirp.
func reversedChirp(d time.Duration) media.Clip {
	pcm := g711.DecodeMu(chirp(d))
	out := make([]int16, len(pcm))
	for i := range out {
		out[i] = pcm[len(pcm)-1-i]
	}
	return g711.EncodeMu(out)
}

func TestBridgeConnectsBothPeersAndRecordingContinues(t *testing.T) {
	for name, codecs := range map[string][2]media.Codec{
		"relayed": {media.PCMU, media.PCMU}, "relayed, A-law": {media.PCMA, media.PCMA}, "encoded anew": {media.PCMA, media.PCMU},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBridgeFixture(t, codecs[0], codecs[1])
			s.run(200 * time.Millisecond)
			said, answered := chirp(500*time.Millisecond), reversedChirp(500*time.Millisecond)
			undo := media.Bridge(s.a, s.b)
			s.caller.Play(1, said)
			s.human.Play(1, answered)
			s.run(1600 * time.Millisecond)
			assert.Equal(t, []media.Span{{From: 200 * time.Millisecond, To: 1800 * time.Millisecond}}, s.a.HumanSpans())
			undo()
			undo()
			bye := tone.Beep(500 * time.Millisecond)
			s.a.Play(2, bye)
			s.human.Play(2, answered)
			s.run(1200 * time.Millisecond)

			left, right, r := s.recording(s.a)
			assert.GreaterOrEqual(t, alike(left, said), 0.95, "the caller is on the left")
			assert.GreaterOrEqual(t, alike(right[:1800*8], answered), 0.95, "the human is on the right")
			assert.Less(t, alike(right[1800*8:], answered), 0.5, "no audio of the human after the bridge")
			assert.Equal(t, 3*time.Second, r.Duration)
			assert.Equal(t, []media.Span{{From: 200 * time.Millisecond, To: 1800 * time.Millisecond}}, r.Human)
			stats, _ := s.b.Close()
			assert.Equal(t, 3*time.Second, stats.SentFor, "statistics and stream continue")
			callerHeard, _, _ := s.recording(s.caller)
			humanHeard, _, _ := s.recording(s.human)
			assert.GreaterOrEqual(t, alike(callerHeard[:2000*8], answered), 0.95)
			assert.GreaterOrEqual(t, alike(humanHeard, said), 0.95)
			assert.GreaterOrEqual(t, alike(callerHeard[1800*8:], bye), 0.95, "our playback is heard again")
			assert.Less(t, alike(callerHeard[2000*8:], answered), 0.5)
			assert.Less(t, alike(humanHeard, bye), 0.5)
		})
	}
}

func TestPlaybackIsMixedIntoBridge(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	media.Bridge(s.a, s.b)
	answered, notice := reversedChirp(500*time.Millisecond), tone.Make(time.Second, 0.3, 1900)
	s.run(200 * time.Millisecond)
	s.human.Play(1, answered)
	s.a.Play(1, notice)
	s.run(1600 * time.Millisecond)
	heard, _, _ := s.recording(s.caller)
	assert.Greater(t, alike(heard, answered), 0.6)
	assert.Greater(t, alike(heard, notice), 0.6)
	humanHeard, _, _ := s.recording(s.human)
	assert.Less(t, alike(humanHeard, notice), 0.3, "the other side does not hear it")
}

func TestBridgeRelaysPacketsOfSameCodecUnchanged(t *testing.T) {
	t.Parallel()
	p, q := newPeer(t), newPeer(t)
	e := engine(t)
	o := media.Options{Codecs: []media.Codec{media.PCMA}}
	a, b := open(t, e, o), open(t, e, o)
	for s, remote := range map[*media.Session]*peer{a: p, b: q} {
		_, err := s.Answer(remote.sdp(""))
		require.NoError(t, err)
		s.Begin()
	}
	media.Bridge(a, b)
	eventually(t, "the stream starts without the peer's audio", func() bool { return len(q.heard()) > 2 })
	var odd []byte // payload that re-encoding would change
	for v := range 256 {
		there := []byte{byte(v)}
		g711.AToMu(there, there)
		g711.MuToA(there, there)
		if there[0] != byte(v) {
			odd = append(odd, byte(v))
		}
	}
	require.Greater(t, len(odd), 1)
	p.say(t, a.LocalPort(), 4, 8, odd[0])
	p.seq += 2 // lost on the way
	p.say(t, a.LocalPort(), 2, 8, odd[1])
	through := func() (seqs, stamps []uint32) {
		for _, packet := range q.heard() {
			if first := packet.Payload[:1]; bytes.Equal(packet.Payload, bytes.Repeat(first, 160)) && bytes.Contains(odd[:2], first) {
				seqs, stamps = append(seqs, uint32(packet.SequenceNumber)), append(stamps, packet.Timestamp)
			}
		}
		return seqs, stamps
	}
	eventually(t, "all packets are relayed", func() bool { seqs, _ := through(); return len(seqs) >= 6 })
	seqs, stamps := through()
	first := seqs[0]
	for i, want := range []uint32{0, 1, 2, 3, 6, 7} {
		assert.Equal(t, want, uint32(uint16(seqs[i]-first)), "lost packets stay lost")
		assert.Equal(t, want*160, stamps[i]-stamps[0])
	}
	before := len(q.heard())
	eventually(t, "the stream continues while the peer is silent", func() bool { return len(q.heard()) > before+5 })
	ssrc, last := q.heard()[0].SSRC, q.heard()[0]
	for _, packet := range q.heard()[1:] {
		assert.Equal(t, ssrc, packet.SSRC)
		assert.Positive(t, int16(packet.SequenceNumber-last.SequenceNumber), "numbers only grow")
		assert.LessOrEqual(t, int16(packet.SequenceNumber-last.SequenceNumber), int16(3), "numbers grow by one, except for lost packets")
		assert.Positive(t, int32(packet.Timestamp-last.Timestamp))
		last = packet
	}
}

func TestBridgeRelaysDigits(t *testing.T) {
	t.Parallel()
	for name, events := range map[string]bool{"as events": true, "as tones": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q := newPeer(t), newPeer(t)
			e := engine(t)
			var reportedA, reportedB eventLog
			a, b := open(t, e, media.Options{Notify: reportedA.notify}), open(t, e, media.Options{Notify: reportedB.notify})
			_, err := a.Answer(p.sdp(""))
			require.NoError(t, err)
			describedB := string(q.sdp(""))
			if !events {
				describedB = strings.ReplaceAll(describedB, " 101\r\n", "\r\n")
			}
			_, err = b.Answer([]byte(describedB))
			require.NoError(t, err)
			a.Begin()
			b.Begin()
			media.Bridge(a, b)
			remote := open(t, engine(t), media.Options{})
			answer, err := a.Answer(remote.Offer())
			require.NoError(t, err)
			require.NoError(t, remote.Accept(answer))
			remote.Begin()
			remote.SendDigits(1, "42")
			eventually(t, "our session reports the digits", func() bool { return reportedA.keys() == "42" })
			eventually(t, "the other peer receives the digits", func() bool {
				if !events {
					return bytes.Contains(sound(q), tone.Keys("2")[:800])
				}
				pressed := map[byte]bool{}
				for _, packet := range q.heard() {
					if packet.PayloadType == 101 {
						pressed[packet.Payload[0]] = true
					}
				}
				return pressed[4] && pressed[2]
			})
			assert.Empty(t, reportedB.all(), "no digits are reported on the other side")
		})
	}
}

func TestBridgeEndsWithEitherSessionOrNextBridge(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	old := media.Bridge(s.a, s.b)
	s.run(100 * time.Millisecond)
	media.Bridge(s.a, s.b)
	old() // already over; must not end the new bridge
	said := chirp(500 * time.Millisecond)
	s.caller.Play(1, said)
	s.run(1400 * time.Millisecond)
	s.caller.Play(2, said)
	heard, _, _ := s.recording(s.b)
	_ = heard
	s.a.Play(1, said)
	s.run(400 * time.Millisecond)
	assert.Len(t, s.a.HumanSpans(), 2)
	assert.Equal(t, 1500*time.Millisecond, s.a.HumanSpans()[1].To.Truncate(100*time.Millisecond))
	humanHeard, _, _ := s.recording(s.human)
	assert.GreaterOrEqual(t, alike(humanHeard, said), 0.95)
	undo := media.Bridge(s.a, s.b)
	s.run(40 * time.Millisecond)
	undo()
}

func TestHeldPeerHearsRepeatedMusicAndIsMuted(t *testing.T) {
	s := newBridgeFixture(t, media.PCMU, media.PCMU)
	media.Bridge(s.a, s.b)
	music, said := reversedChirp(300*time.Millisecond), chirp(500*time.Millisecond)
	s.run(200 * time.Millisecond)
	s.a.Hold(music)
	s.a.Play(1, tone.Beep(100*time.Millisecond))
	s.caller.Play(1, said)
	s.run(1400 * time.Millisecond)
	s.a.Hold(nil)
	s.run(400 * time.Millisecond)
	s.a.Resume()
	s.caller.Play(2, said)
	s.run(1400 * time.Millisecond)
	humanHeard, _, _ := s.recording(s.human)
	assert.Less(t, alike(humanHeard[:2000*8], said), 0.3)
	assert.GreaterOrEqual(t, alike(humanHeard[2000*8:], said), 0.95, "audio again after the hold")
	heard, _, _ := s.recording(s.caller)
	again := bytes.Repeat(music, 4)
	assert.GreaterOrEqual(t, alike(heard[:1700*8], again), 0.95, "the music repeats")
	assert.Zero(t, loudness(heard[1700*8:2000*8]), "silence without music")
	assert.GreaterOrEqual(t, alike(heard[2000*8:], tone.Beep(100*time.Millisecond)), 0.9, "playback waited for the end of the hold")
}

// loudness returns the highest sample value.
func loudness(pcm []int16) (most int16) {
	for _, v := range pcm {
		most = max(most, v, -v)
	}
	return most
}

func TestPausedRecordingIsSilentAndKeepsItsLength(t *testing.T) {
	for name, pause := range map[string][2]func(*media.Session){
		"paused":    {(*media.Session).PauseRecording, (*media.Session).ResumeRecording},
		"sensitive": {func(s *media.Session) { s.SetSensitive(true) }, func(s *media.Session) { s.SetSensitive(false) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBridgeFixture(t, media.PCMU, media.PCMU)
			said, secret := chirp(500*time.Millisecond), tone.Make(time.Second, 0.4, 770)
			s.caller.Play(1, said)
			s.run(1300 * time.Millisecond)
			pause[0](s.a)
			s.run(100 * time.Millisecond)
			s.caller.Play(2, secret)
			s.a.Play(2, secret)
			s.run(500 * time.Millisecond)
			pause[1](s.a) // private audio is still in transit
			s.caller.Play(3, nil)
			s.a.StopPlaying()
			s.run(600 * time.Millisecond)
			s.caller.Play(4, said)
			s.run(1500 * time.Millisecond)
			left, right, r := s.recording(s.a)
			assert.Equal(t, 4*time.Second, r.Duration, "the gap is as long as the pause")
			assert.Zero(t, loudness(left[1300*8:2500*8]))
			assert.Zero(t, loudness(right[1300*8:2500*8]))
			assert.GreaterOrEqual(t, alike(left[:1300*8], said), 0.95)
			assert.GreaterOrEqual(t, alike(left[2500*8:], said), 0.95)
			heard, _, _ := s.recording(s.caller)
			assert.GreaterOrEqual(t, alike(heard, secret[:3200]), 0.95, "the call itself is not interrupted")
		})
	}
}

func ExampleBridge() {
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: 29390, PortMax: 29399})
	if err != nil {
		panic(err)
	}
	caller, _ := e.Open(media.Options{})
	human, _ := e.Open(media.Options{})
	undo := media.Bridge(caller, human)
	undo()
	fmt.Println(e.Live(), "sessions remain open")
	fmt.Println(e.Close())
	// Output:
	// 2 sessions remain open
	// <nil>
}
