package jitter_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/jitter"
	"github.com/callboard/callboard/media/vad"
)

const n = 160

// frame returns 20 ms of audio whose sample value identifies frame i.
func frame(i int) []byte { return bytes.Repeat([]byte{byte(i%100 + 1)}, n) }

func get(b *jitter.Buffer) []byte {
	out := make([]byte, n)
	b.Get(out)
	return out
}

func TestBufferOutputsInOrderAfter40Milliseconds(t *testing.T) {
	for name, length := range map[string]int{"10 ms": 80, "20 ms": 160, "30 ms": 240, "40 ms": 320} {
		t.Run(name, func(t *testing.T) {
			var b jitter.Buffer
			var in, out []byte
			start := uint32(0xFFFFFC00) // the timestamp wraps around during the test
			sent := 0
			for tick := range 50 {
				for ; sent <= tick*n; sent += length {
					p := bytes.Repeat([]byte{byte(sent/length%100 + 1)}, length)
					in = append(in, p...)
					b.Put(start+uint32(sent), p)
				}
				out = append(out, get(&b)...)
			}
			assert.Equal(t, bytes.Repeat([]byte{g711.MuSilence}, 320), out[:320])
			assert.True(t, bytes.Equal(in[:len(out)-320], out[320:]))
			assert.Equal(t, 320, b.Delay())
		})
	}
}

func TestBufferCorrectsReorderedAndRepeatedPackets(t *testing.T) {
	var b jitter.Buffer
	assert.Equal(t, jitter.Anchored, b.Put(0, frame(0)))
	assert.Equal(t, jitter.Kept, b.Put(2*n, frame(2)))
	assert.Equal(t, jitter.Kept, b.Put(n, frame(1)))
	assert.Equal(t, jitter.Duplicate, b.Put(n, frame(9)))
	get(&b)
	get(&b)
	for i := range 3 {
		assert.Equal(t, frame(i), get(&b))
	}
}

func TestCopyIsNotLateAndKeepsDelay(t *testing.T) {
	for name, back := range map[string]int{"at once": 0, "just before its time is over": 2, "after its time": 4, "long after": 30, "half over": -1} {
		t.Run(name, func(t *testing.T) {
			var b jitter.Buffer
			out, copies := 0, 0
			for tick := range 500 {
				b.Put(uint32(tick*n), frame(tick))
				if back < 0 { // half a frame late, so that half of the copy's time is over
					b.Get(make([]byte, n/2))
					if tick > 4 {
						assert.Equal(t, jitter.Duplicate, b.Put(uint32((tick-2)*n), frame(tick)))
						copies++
					}
					b.Get(make([]byte, n/2))
					continue
				}
				if tick > back && tick%2 == 0 {
					assert.Equal(t, jitter.Duplicate, b.Put(uint32((tick-back)*n), frame(77)), "tick %d", tick)
					copies++
				}
				if got := get(&b); tick >= 2 && bytes.Equal(got, frame(tick-2)) {
					out++
				}
			}
			if back >= 0 {
				assert.Equal(t, 498, out, "every frame in its place")
			}
			assert.Greater(t, copies, 200)
			assert.Equal(t, 320, b.Delay(), "40 ms, as before")
		})
	}
	var b jitter.Buffer
	b.Put(0, frame(1))
	assert.Equal(t, jitter.Unusable, b.Put(n, nil), "nothing is not late")
	assert.Equal(t, jitter.Unusable, b.Put(n, make([]byte, 2000)))
}

func TestBufferAcceptsSenderThatRestartsItsTimestamps(t *testing.T) {
	var b jitter.Buffer
	heard := 0
	for i := range 100 {
		b.Put(uint32(i*n), frame(i))
		get(&b)
	}
	for i := 60; i < 120; i++ { // the sender's clock jumped back: what looks like copies is new audio
		b.Put(uint32(i*n), frame(i))
		if bytes.Equal(get(&b), frame(i-2)) {
			heard++
		}
	}
	assert.Greater(t, heard, 35)
}

func TestLostPacketIsConcealedAndLongGapIsSilent(t *testing.T) {
	var b jitter.Buffer
	loud := bytes.Repeat([]byte{0x90}, n)
	b.Put(0, loud)
	get(&b)
	get(&b)
	assert.Equal(t, loud, get(&b))
	last := vad.Level(loud)
	for range 3 {
		now := vad.Level(get(&b))
		assert.Less(t, now, last)
		last = now
	}
	assert.Equal(t, bytes.Repeat([]byte{g711.MuSilence}, n), get(&b))
}

func TestDelayGrowsWithLatePacketsAndShrinksAgain(t *testing.T) {
	var b jitter.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	var late int
	var waiting [][]int // per tick
	run := func(from, to, worst int) (dropped int) {
		for tick := from; tick < to; tick++ {
			for len(waiting) <= tick+20 {
				waiting = append(waiting, nil)
			}
			at := tick
			if worst > 0 {
				at += r.IntN(worst + 1)
			}
			waiting[at] = append(waiting[at], tick)
			for _, i := range waiting[tick] {
				if b.Put(uint32(i*n), frame(i)) == jitter.Late {
					dropped++
				}
			}
			get(&b)
		}
		return dropped
	}
	run(0, 100, 0)
	require.Equal(t, 320, b.Delay())
	late = run(100, 600, 6) // up to 120 ms
	assert.Greater(t, b.Delay(), 320)
	assert.LessOrEqual(t, b.Delay(), 1600)
	assert.Less(t, late, 25, "it learns quickly")
	assert.Zero(t, run(600, 1100, 6), "and then loses nothing")
	grown := b.Delay()
	run(1100, 4000, 0)
	assert.Less(t, b.Delay(), grown)
}

func TestLateAudioIsDropped(t *testing.T) {
	var b jitter.Buffer
	out := 0
	for tick := range 1000 {
		if tick%10 != 9 {
			b.Put(uint32(tick*n), frame(tick))
		}
		if tick%10 == 8 && tick > 20 {
			assert.Equal(t, jitter.Late, b.Put(uint32((tick-19)*n), frame(0)))
		}
		out += len(get(&b))
	}
	assert.Equal(t, 1000*n, out)
}

func TestBufferFollowsJumpOfSenderClock(t *testing.T) {
	for name, leap := range map[string]int64{"ahead": 1 << 30, "back": -(1 << 30), "back a little": -9000} {
		t.Run(name, func(t *testing.T) {
			var b jitter.Buffer
			for i := range 20 {
				b.Put(uint32(i*n), frame(i))
				get(&b)
			}
			heard := 0
			for i := 20; i < 60; i++ {
				b.Put(uint32(int64(i*n)+leap), frame(i))
				if bytes.Equal(get(&b), frame(i-2)) {
					heard++
				}
			}
			assert.Greater(t, heard, 25)
		})
	}
}

func TestBufferFollowsDriftOfSenderClock(t *testing.T) {
	for name, every := range map[string]int{"slower": 100, "faster": -100} {
		t.Run(name, func(t *testing.T) {
			var b jitter.Buffer
			sent, missing := 0, 0
			for tick := range 10000 { // a drift of one percent, far more than real clocks have
				due := 1
				if every > 0 && tick%every == 0 {
					due = 0
				}
				if every < 0 && tick%-every == 0 {
					due = 2
				}
				for range due {
					b.Put(uint32(sent*n), frame(sent))
					sent++
				}
				out := make([]byte, n)
				if b.Get(out) == 0 {
					missing++
				}
			}
			assert.LessOrEqual(t, missing, 205, "two gaps for each packet of drift: the one that is missing, and the delay it costs")
			assert.LessOrEqual(t, b.Delay(), 1600)
		})
	}
}

// voice is a continuous tone of 200 Hz: each frame has four periods.
func voice() []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = g711.LinearToMu(int16(8000 * math.Sin(2*math.Pi*200*float64(i)/8000)))
	}
	return out
}

func TestHourOfClockDriftHasNoGapClickOrGrowingDelay(t *testing.T) {
	t.Parallel()
	for name, ppm := range map[string]float64{"faster": 200, "slower": -200, "exact": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b jitter.Buffer
			r := rand.New(rand.NewPCG(3, 4))
			type packet struct {
				at   float64 // ms, by the receiver's clock
				from int
			}
			var wire []packet
			sound, out := voice(), make([]byte, n)
			sent, late, missing, most, clicks := 0, 0, 0, 0, 0
			last := int16(0)
			period := 20 / (1 + ppm/1e6)
			for tick := range 180_000 {
				for float64(sent)*period < float64(tick+1)*20 {
					wire = append(wire, packet{float64(sent)*period + 5*r.Float64(), sent * n})
					sent++
				}
				for len(wire) > 0 && wire[0].at <= float64(tick)*20 {
					if b.Put(uint32(wire[0].from), sound) == jitter.Late {
						late++
					}
					wire = wire[1:]
				}
				if got := b.Get(out); tick > 10 && got < n {
					missing++
				}
				for _, mu := range out {
					now := g711.MuToLinear(mu)
					// At 200 Hz, consecutive samples differ by at most 1257, and the µ-law step is at most 256. A larger difference is a
					// click.
					if d := int(now) - int(last); tick > 10 && max(d, -d) > 1257+600 {
						clicks++
					}
					last = now
				}
				most = max(most, b.Delay())
			}
			assert.Zero(t, late, "packets")
			assert.Zero(t, missing, "frames with a gap")
			assert.Zero(t, clicks)
			assert.LessOrEqual(t, most, 4*n, "80 ms")
			if ppm != 0 {
				drift := 3600 * 8000 * math.Abs(ppm) / 1e6
				assert.InDelta(t, drift, math.Abs(float64(180_000*n-sent*n)), 2*n, "the hour had as much to follow")
			}
		})
	}
}

func TestComfortNoisePlaysAtItsLevelUntilAudio(t *testing.T) {
	var b jitter.Buffer
	loud := bytes.Repeat([]byte{0x90}, n)
	for i := range 3 {
		b.Put(uint32(i*n), loud)
	}
	get(&b)
	get(&b)
	b.Noise(3*n, 45)
	for range 3 {
		assert.Equal(t, loud, get(&b), "what was said before is heard before")
	}
	for range 50 {
		assert.InDelta(t, -45, vad.Level(get(&b)), 2)
	}
	b.Noise(53*n, 60)
	assert.InDelta(t, -60, vad.Level(get(&b)), 3, "another level, at once")
	b.Put(56*n, loud)
	get(&b)
	assert.InDelta(t, -60, vad.Level(get(&b)), 3)
	assert.Equal(t, loud, get(&b))
	assert.Less(t, vad.Level(get(&b)), vad.Level(loud), "a gap after sound is concealed, not noise")

	var fresh jitter.Buffer
	fresh.Noise(0, 0)
	assert.Less(t, vad.Level(get(&fresh)), -25.0, "nobody is frightened by comfort")
	fresh.Noise(0, 127)
	assert.Less(t, vad.Level(get(&fresh)), -60.0)
}

func TestUnusedBufferAllocatesNothing(t *testing.T) {
	out := make([]byte, n)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		var b jitter.Buffer
		b.Get(out)
	}))
	assert.Less(t, unsafe.Sizeof(jitter.Buffer{}), uintptr(200))
}

func FuzzBuffer(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(_ *testing.T, in []byte) {
		var b jitter.Buffer
		for len(in) >= 6 {
			at := uint32(in[0])<<24 | uint32(in[1])<<16 | uint32(in[2])<<8 | uint32(in[3])
			b.Put(at, make([]byte, int(in[4])*12))
			b.Get(make([]byte, int(in[5]%4+1)*80))
			if in[5] > 200 {
				b.Noise(at, in[4])
			}
			in = in[6:]
		}
	})
}
