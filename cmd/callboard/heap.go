package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How the heap is tended. While much is allocated garbage may gather, in
// percent of what lives: collecting it costs as much as what lives, however
// much there is. Where much lives it is so many bytes instead, but never less
// than what lives. While little is allocated, what gathered is collected and
// given back to the system, once it is worth a collection.
const (
	gcMost     = 400
	gcLeast    = 100
	gcBytes    = 256 << 20
	heapLook   = 4 * time.Second
	calmRate   = 4 << 20 // bytes allocated in a second
	worthBytes = 6 << 20
	worthShare = 4 // of what was left the last time
)

// tendHeap lasts until ctx is done. GOGC in the environment wins over all of it.
func tendHeap(ctx context.Context) {
	debug.FreeOSMemory() // what the start left
	dropPages()
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := gcMost
	debug.SetGCPercent(percent)
	look := newHeapLook()
	var k heapKeeper
	k.tidied(look.now())
	tick := time.NewTicker(heapLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s := look.now()
		if p := gcPercent(s.living); p != percent {
			percent = p
			debug.SetGCPercent(percent)
		}
		if k.worth(s) {
			debug.FreeOSMemory()
			k.tidied(look.now())
		}
	}
}

// gcPercent is how much garbage may gather before it is collected, in percent
// of the bytes that live.
func gcPercent(living uint64) int {
	if living <= gcBytes*100/gcMost {
		return gcMost
	}
	return max(int(gcBytes*100/living), gcLeast)
}

// heapState is what the runtime tells: bytes allocated since the start, and
// bytes held for objects and the places of dead ones, and bytes that lived when
// garbage was collected last.
type heapState struct {
	at                      time.Time
	allocated, held, living uint64
}

// heapKeeper decides when the heap is tidied.
type heapKeeper struct {
	last heapState
	left uint64 // held after the last time
}

// worth says whether little was allocated since the last look and much is held
// since the last time.
func (k *heapKeeper) worth(s heapState) bool {
	rate := float64(s.allocated-k.last.allocated) / max(s.at.Sub(k.last.at).Seconds(), 0.001)
	k.last = s
	return rate < calmRate && s.held > k.left+max(worthBytes, k.left/worthShare)
}

func (k *heapKeeper) tidied(s heapState) { k.last, k.left = s, s.held }

// heapLookout reads the state; it is used by one goroutine.
type heapLookout struct{ samples []metrics.Sample }

func newHeapLook() *heapLookout {
	return &heapLookout{samples: []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}}
}

func (l *heapLookout) now() heapState {
	metrics.Read(l.samples)
	s := heapState{at: time.Now(), allocated: l.samples[0].Value.Uint64(), living: l.samples[1].Value.Uint64()}
	for _, v := range l.samples[2:] {
		s.held += v.Value.Uint64()
	}
	return s
}
