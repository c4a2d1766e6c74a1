package speech

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/callboard/callboard/media"
)

// StreamingSynthesizer delivers the first audio of a text while the remaining audio is still being synthesized.
type StreamingSynthesizer interface {
	// StreamSpeech synthesizes a text and passes its 8 kHz mono µ-law audio to out in pieces of any length. out copies a
	// piece. StreamSpeech returns after the last piece or with an error, and stops calling out when ctx ends.
	StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error
}

// ClipStreamer adapts a Synthesizer to the interface StreamingSynthesizer.
type ClipStreamer struct{ Synthesizer }

// StreamSpeech delivers the whole clip as one piece.
func (w ClipStreamer) StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error {
	clip, err := w.Speak(ctx, r)
	if err == nil {
		out(clip)
	}
	return err
}

// Cache caches the audio of a speech engine in memory, up to a number of bytes. It writes nothing to disk, because the
// texts contain names and responses of language models. The audio of secret texts is not cached. Concurrent requests for the same text share one synthesis. The
// synthesis is cancelled when no request waits for it.
type Cache struct {
	engine   StreamingSynthesizer
	maxBytes int

	mu      sync.Mutex
	size    int
	order   *list.List // most recently used first
	entries map[Request]*list.Element
	running map[Request]*synthesis
}

type entry struct {
	request Request
	clip    media.Clip
}

// synthesis is a running synthesis of a text, for which one or several requests wait.
type synthesis struct {
	feed    media.Feed
	waiting int // requests
	cancel  context.CancelFunc
	done    chan struct{}
	clip    media.Clip
	err     error
}

// NewCache returns a cache for the audio of a synthesizer. The cache holds at most most bytes.
func NewCache(under Synthesizer, most int) *Cache {
	return newStreamingCache(ClipStreamer{under}, most)
}

// newStreamingCache returns a cache for the audio of a StreamingSynthesizer. The cache holds at most most bytes.
func newStreamingCache(under StreamingSynthesizer, most int) *Cache {
	return &Cache{
		engine: under, maxBytes: most,
		order: list.New(), entries: make(map[Request]*list.Element), running: make(map[Request]*synthesis),
	}
}

// Speak returns the audio from the cache, from a synthesis in progress, or from the engine, in this order.
func (c *Cache) Speak(ctx context.Context, r Request) (media.Clip, error) {
	clip, f := c.join(ctx, r)
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

// StreamSpeech delivers the audio from the same sources as Speak, but in pieces as they arrive.
func (c *Cache) StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error {
	clip, f := c.join(ctx, r)
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

// join returns the cached audio of a request. If there is none, join returns the synthesis in progress, or starts one,
// and the caller must call leave.
func (c *Cache) join(ctx context.Context, r Request) (media.Clip, *synthesis) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[r]; ok {
		c.order.MoveToFront(e)
		return value(e).clip, nil
	}
	f, ok := c.running[r]
	if !ok {
		// The synthesis does not end with the first request, because other requests may wait for the same audio.
		f = &synthesis{done: make(chan struct{})}
		ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		c.running[r] = f
		go c.synthesize(ctx, r, f)
	}
	f.waiting++
	return nil, f
}

// leave ends the waiting of one request for a synthesis. The synthesis is cancelled if no other request waits.
func (c *Cache) leave(r Request, f *synthesis) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	if c.running[r] == f {
		delete(c.running, r)
	}
}

func (c *Cache) synthesize(ctx context.Context, r Request, f *synthesis) {
	f.err = errors.New("speech: the engine broke")
	defer func() {
		if cause := recover(); cause != nil {
			f.clip, f.err = nil, fmt.Errorf("speech: the engine broke: %v", cause)
		}
		c.mu.Lock()
		if c.running[r] == f {
			delete(c.running, r)
		}
		if f.err == nil && !r.Secret {
			c.addClip(r, f.clip)
		}
		c.mu.Unlock()
		f.feed.End()
		close(f.done)
	}()
	if f.err = c.engine.StreamSpeech(ctx, r, f.feed.Write); f.err != nil {
		return
	}
	f.clip, _, _ = f.feed.Wait(ctx, 0) // all of it, because the synthesis has ended
}

// addClip caches a clip and evicts the least recently used clips beyond the limit. The caller holds the lock.
func (c *Cache) addClip(r Request, clip media.Clip) {
	if len(clip) > c.maxBytes || c.entries[r] != nil {
		return
	}
	c.entries[r] = c.order.PushFront(&entry{r, clip})
	c.size += len(clip)
	for c.size > c.maxBytes {
		last := c.order.Back()
		old := value(last)
		c.order.Remove(last)
		delete(c.entries, old.request)
		c.size -= len(old.clip)
	}
}

// value returns the cache entry that a list element holds.
func value(e *list.Element) *entry {
	v, ok := e.Value.(*entry)
	if !ok {
		return &entry{}
	}
	return v
}

// Size returns the number of cached bytes.
func (c *Cache) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}
