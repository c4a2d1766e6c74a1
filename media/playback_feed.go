package media

import (
	"context"
	"slices"
	"sync"
)

// startBuffer is how many samples must be buffered before playback starts or continues after a gap: 60 ms.
const startBuffer = 480

// Feed is audio that is still being produced, such as synthesized speech, as 8 kHz mono µ-law. A session plays the
// audio written so far, and silence in gaps, until End. Safe for concurrent use. Only Wait and ReadAhead block. At most
// one session plays a feed.
type Feed struct {
	mu        sync.Mutex
	clip      Clip
	heard     int // samples played so far
	wasCut    bool
	cutLength int // valid if wasCut: the lowest length that TakeBack cut the feed to since the last ReadAhead
	ended     bool
	more      chan struct{} // closed when the feed changes; nil: no goroutine waits
}

// Write appends a copy of the audio. After End it does nothing.
func (f *Feed) Write(mu []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended && len(mu) > 0 {
		f.clip = append(f.clip, mu...)
		f.changed()
	}
}

// End marks the feed as complete.
func (f *Feed) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.changed()
}

// TakeBack removes the unplayed audio after the first n samples. heard is the number of samples after the first n that
// were already played and therefore stay.
func (f *Feed) TakeBack(n int) (heard int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep := max(n, f.heard)
	if keep < len(f.clip) {
		f.clip = f.clip[:keep:keep] // readers keep the slices that they already have
		if !f.wasCut || keep < f.cutLength {
			f.wasCut, f.cutLength = true, keep
		}
		f.changed()
	}
	return max(f.heard-n, 0)
}

// Played returns how many samples were played so far.
func (f *Feed) Played() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard
}

// Len returns how many samples were written so far.
func (f *Feed) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.clip)
}

// Wait waits until the feed has audio after the first n samples, and returns that audio. over is true if the feed has
// ended and no audio follows.
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

// SetPlayed reports that a reader of the feed has played the first n samples.
func (f *Feed) SetPlayed(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n = min(n, len(f.clip)); n > f.heard {
		f.heard = n
		f.changed()
	}
}

// ReadAhead waits for audio after the first n samples, for a reader that forwards the audio to another player. more ends
// at most ahead samples after the position that SetPlayed reported. at is the position of more: n, or less if TakeBack
// removed audio before n. over is true if the feed has ended and no audio follows. A feed has at most one such reader.
func (f *Feed) ReadAhead(ctx context.Context, n, ahead int) (at int, more Clip, over bool, err error) {
	for {
		f.mu.Lock()
		at = n
		if f.wasCut {
			at, f.wasCut = min(n, f.cutLength), false
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

// changed wakes the goroutines that wait for a change. The caller holds the lock.
func (f *Feed) changed() {
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// fill copies the audio after the first at samples to dst. over is true if the feed ends with this audio. dry says that
// the previous frame found no audio, so fill waits for startBuffer samples.
func (f *Feed) fill(dst []byte, at int, dry bool) (n int, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.clip[min(at, len(f.clip)):]
	if dry && !f.ended && len(rest) < startBuffer {
		return 0, false
	}
	n = copy(dst, rest)
	f.heard = max(f.heard, at+n)
	return n, f.ended && at+n >= len(f.clip)
}
