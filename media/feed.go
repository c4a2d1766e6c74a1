package media

import (
	"context"
	"slices"
	"sync"
)

// steady is what has to wait in a feed before it is heard, at first and after it ran dry: 60 ms.
const steady = 480

// Feed is sound that is still being made: 8 kHz mono µ-law. Whoever makes it writes, a session plays what is there so far
// and is silent where nothing is, until End. It may be written to and read from any goroutine; nobody waits for a writer
// but by Wait. At most one session plays a feed.
type Feed struct {
	mu    sync.Mutex
	clip  Clip
	heard int // samples that were played
	taken bool
	low   int // where taken, the least that TakeBack has left since Onward looked
	ended bool
	more  chan struct{} // closed when something changes; nil: nobody waits
}

// Write adds sound, which it copies. After End it does nothing.
func (f *Feed) Write(mu []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended && len(mu) > 0 {
		f.clip = append(f.clip, mu...)
		f.changed()
	}
}

// End says that nothing follows.
func (f *Feed) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.changed()
}

// TakeBack forgets the sound behind the first n samples that nobody has heard yet, and says how much of it was heard.
func (f *Feed) TakeBack(n int) (heard int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep := max(n, f.heard)
	if keep < len(f.clip) {
		f.clip = f.clip[:keep:keep] // whoever has read the rest keeps it
		if !f.taken || keep < f.low {
			f.taken, f.low = true, keep
		}
		f.changed()
	}
	return max(f.heard-n, 0)
}

// Heard is how many samples were played so far.
func (f *Feed) Heard() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard
}

// Len is how many samples were written so far.
func (f *Feed) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.clip)
}

// Wait returns the sound behind the first n samples once there is some, or over where nothing follows them.
func (f *Feed) Wait(ctx context.Context, n int) (more Clip, over bool, err error) {
	for {
		f.mu.Lock()
		if len(f.clip) > n || f.ended {
			more, over = f.clip[min(n, len(f.clip)):len(f.clip):len(f.clip)], f.ended
			f.mu.Unlock()
			return more, over && len(more) == 0, nil
		}
		if f.more == nil {
			f.more = make(chan struct{})
		}
		changed := f.more
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// Passed says that the first n samples were played by somebody who read them from here.
func (f *Feed) Passed(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n = min(n, len(f.clip)); n > f.heard {
		f.heard = n
		f.changed()
	}
}

// Onward is Wait for one who passes the sound on to be played elsewhere: more goes no further than ahead samples beyond what was
// heard, see Passed. at is n, or less where the sound behind it was taken back: more follows the first at samples. over: nothing
// follows. At most one follows a feed so.
func (f *Feed) Onward(ctx context.Context, n, ahead int) (at int, more Clip, over bool, err error) {
	for {
		f.mu.Lock()
		at = n
		if f.taken {
			at, f.taken = min(n, f.low), false
		}
		most := max(min(len(f.clip), f.heard+ahead), at)
		more, over = f.clip[min(at, len(f.clip)):min(most, len(f.clip))], f.ended && at >= len(f.clip)
		if at < n || len(more) > 0 || over {
			f.mu.Unlock()
			return at, slices.Clip(more), over, nil
		}
		if f.more == nil {
			f.more = make(chan struct{})
		}
		changed := f.more
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return n, nil, false, ctx.Err()
		}
	}
}

// changed wakes whoever waits. The lock is held.
func (f *Feed) changed() {
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// fill copies what follows the first at samples; over: that is all. dry says that it ran out before.
func (f *Feed) fill(dst []byte, at int, dry bool) (n int, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.clip[min(at, len(f.clip)):]
	if dry && !f.ended && len(rest) < steady {
		return 0, false
	}
	n = copy(dst, rest)
	f.heard = max(f.heard, at+n)
	return n, f.ended && at+n >= len(f.clip)
}
