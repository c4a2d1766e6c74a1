package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheHeapIsTidiedWhenThereIsCalmAndMuchToGain(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		allocated, held uint64 // since the last time, four seconds ago
		want            bool
	}{
		"calm, much gathered":  {10 * mb, 10 * mb, true},
		"calm, little to gain": {5 * mb, 5 * mb, false},
		"busy":                 {400 * mb, 60 * mb, false},
		"nothing happened":     {0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var k heapKeeper
			at := time.Now()
			k.tidied(heapState{at: at, allocated: 1000 * mb, held: 20 * mb})
			assert.Equal(t, c.want, k.worth(heapState{at: at.Add(heapLook), allocated: 1000*mb + c.allocated, held: 20*mb + c.held}))
		})
	}
}

func TestAHeapThatOnlyGrewIsNotTidiedAgainAndAgain(t *testing.T) {
	const mb = 1 << 20
	var k heapKeeper
	at := time.Now()
	k.tidied(heapState{at: at, held: 100 * mb})
	grown := heapState{at: at.Add(heapLook), allocated: mb, held: 130 * mb}
	assert.True(t, k.worth(grown))
	k.tidied(grown) // it all lives
	grown.at = grown.at.Add(heapLook)
	assert.False(t, k.worth(grown))
}

func TestGarbageIsBoundedWhereMuchLives(t *testing.T) {
	const mb = 1 << 20
	got := make(map[int]int)
	for _, living := range []int{0, 20, 64, 128, 160, 256, 1000, 1 << 20} {
		got[living] = gcPercent(uint64(living) * mb)
	}
	assert.Equal(t, map[int]int{0: 400, 20: 400, 64: 400, 128: 200, 160: 160, 256: 100, 1000: 100, 1 << 20: 100}, got)
}

func TestWhatTheRuntimeTellsOfTheHeapIsThere(t *testing.T) {
	l := newHeapLook()
	before := l.now()
	assert.Positive(t, before.held)
	runtime.GC()
	assert.Positive(t, l.now().living)
	kept := make([]byte, 4<<20)
	after := l.now()
	assert.GreaterOrEqual(t, after.allocated-before.allocated, uint64(len(kept)))
}
