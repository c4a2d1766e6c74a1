package speech

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/callboard/callboard/media"
)

// StreamingSynthesizer speaks while it still thinks how.
type StreamingSynthesizer interface {
	// StreamSpeech hands over what is said as it is made, 8 kHz mono µ-law in pieces of any length that out copies, and returns at
	// its end or with why there is none. It says nothing once ctx is over.
	StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error
}

// ClipStreamer makes an Engine of a speaker that makes clips.
type ClipStreamer struct{ Synthesizer }

// StreamSpeech hands over the clip.
func (w ClipStreamer) StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error {
	clip, err := w.Speak(ctx, r)
	if err == nil {
		out(clip)
	}
	return err
}

// Cache caches the audio of an Engine in memory, up to a number of bytes. Nothing is
// written to disk: texts contain names, results and responses of language models.
// Concurrent requests for the same text share one synthesis. The synthesis is
// cancelled when no request waits for it.
type Cache struct {
	under StreamingSynthesizer
	most  int

	mu     sync.Mutex
	size   int
	order  *list.List // the most recently used in front
	known  map[Request]*list.Element
	flight map[Request]*flight
}

type entry struct {
	request Request
	clip    media.Clip
}

// flight is a synthesis in progress.
type flight struct {
	feed    media.Feed
	waiting int // requests
	cancel  context.CancelFunc
	done    chan struct{}
	clip    media.Clip
	err     error
}

// NewCache returns a cache of at most most bytes in front of a speaker.
func NewCache(under Synthesizer, most int) *Cache { return cacheOf(ClipStreamer{under}, most) }

// cacheOf is NewCache for an engine.
func cacheOf(under StreamingSynthesizer, most int) *Cache {
	return &Cache{
		under: under, most: most,
		order: list.New(), known: make(map[Request]*list.Element), flight: make(map[Request]*flight),
	}
}

// Speak returns the audio of a request from the cache, from a synthesis in progress,
// or from the engine, in this order.
func (c *Cache) Speak(ctx context.Context, r Request) (media.Clip, error) {
	clip, f := c.board(ctx, r)
	if f == nil {
		return clip, nil
	}
	defer c.leave(r, f)
	select {
	case <-f.done:
		return f.clip, f.err
	case <-ctx.Done():
		return nil, fmt.Errorf("speech: %w", ctx.Err())
	}
}

// StreamSpeech is Speak in pieces, as the audio is made.
func (c *Cache) StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error {
	clip, f := c.board(ctx, r)
	if f == nil {
		out(clip)
		return nil
	}
	defer c.leave(r, f)
	at := 0
	for {
		more, over, err := f.feed.Wait(ctx, at)
		if err != nil {
			return fmt.Errorf("speech: %w", err)
		}
		if over {
			break
		}
		out(more)
		at += len(more)
	}
	<-f.done
	return f.err
}

// board returns the cached audio, or joins a synthesis in progress and starts one
// where there is none.
func (c *Cache) board(ctx context.Context, r Request) (media.Clip, *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.known[r]; ok {
		c.order.MoveToFront(e)
		return value(e).clip, nil
	}
	f, ok := c.flight[r]
	if !ok {
		// Detached: the first request may end while others wait for the same audio.
		f = &flight{done: make(chan struct{})}
		ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		c.flight[r] = f
		go c.fly(ctx, r, f)
	}
	f.waiting++
	return nil, f
}

// leave cancels the synthesis when no request waits for it.
func (c *Cache) leave(r Request, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	if c.flight[r] == f {
		delete(c.flight, r)
	}
}

func (c *Cache) fly(ctx context.Context, r Request, f *flight) {
	f.err = errors.New("speech: the engine broke")
	defer func() {
		if cause := recover(); cause != nil {
			f.clip, f.err = nil, fmt.Errorf("speech: the engine broke: %v", cause)
		}
		c.mu.Lock()
		if c.flight[r] == f {
			delete(c.flight, r)
		}
		if f.err == nil {
			c.addClip(r, f.clip)
		}
		c.mu.Unlock()
		f.feed.End()
		close(f.done)
	}()
	if f.err = c.under.StreamSpeech(ctx, r, f.feed.Write); f.err != nil {
		return
	}
	f.clip, _, _ = f.feed.Wait(ctx, 0) // all of it: nobody writes any more
}

// addClip caches a clip and evicts the least recently used ones. The lock is held.
func (c *Cache) addClip(r Request, clip media.Clip) {
	if len(clip) > c.most || c.known[r] != nil {
		return
	}
	c.known[r] = c.order.PushFront(&entry{r, clip})
	c.size += len(clip)
	for c.size > c.most {
		last := c.order.Back()
		old := value(last)
		c.order.Remove(last)
		delete(c.known, old.request)
		c.size -= len(old.clip)
	}
}

// value is an entry of the order, which holds nothing else.
func value(e *list.Element) *entry {
	v, ok := e.Value.(*entry)
	if !ok {
		return &entry{}
	}
	return v
}

// Size is the number of cached bytes.
func (c *Cache) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}
