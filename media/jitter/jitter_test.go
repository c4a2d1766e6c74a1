package jitter_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/jitter"
	"github.com/callboard/callboard/media/vad"
)

const n = 160

// frame is 20 ms that can be told from others.
func frame(i int) []byte { return bytes.Repeat([]byte{byte(i%100 + 1)}, n) }

func get(b *jitter.Buffer) []byte {
	out := make([]byte, n)
	b.Get(out)
	return out
}

func TestSoundComesOutInOrderAfterFortyMilliseconds(t *testing.T) {
	for name, length := range map[string]int{"10 ms": 80, "20 ms": 160, "30 ms": 240, "40 ms": 320} {
		t.Run(name, func(t *testing.T) {
			var b jitter.Buffer
			var in, out []byte
			start := uint32(0xFFFFFC00) // the timestamp turns over on the way
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

func TestPacketsOutOfOrderAndTwiceAreSetRight(t *testing.T) {
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

func TestALostPacketFadesAndALongGapIsSilent(t *testing.T) {
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

func TestTheDelayGrowsWithLatenessAndShrinksAgain(t *testing.T) {
	var b jitter.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	var late int
	var waiting [][]int // by tick
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

func TestLateSoundIsDroppedAndNeverAppended(t *testing.T) {
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

func TestAClockThatLeapsIsFollowed(t *testing.T) {
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

func TestDriftOfTheFarClockIsFollowed(t *testing.T) {
	for name, every := range map[string]int{"slower": 100, "faster": -100} {
		t.Run(name, func(t *testing.T) {
			var b jitter.Buffer
			sent, missing := 0, 0
			for tick := range 10000 { // a drift of a percent, far worse than any
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

func FuzzBuffer(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(_ *testing.T, in []byte) {
		var b jitter.Buffer
		for len(in) >= 6 {
			at := uint32(in[0])<<24 | uint32(in[1])<<16 | uint32(in[2])<<8 | uint32(in[3])
			b.Put(at, make([]byte, int(in[4])*12))
			b.Get(make([]byte, int(in[5]%4+1)*80))
			in = in[6:]
		}
	})
}
