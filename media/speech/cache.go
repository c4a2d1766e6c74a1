package speech

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/callboard/callboard/media"
)

// StreamingSynthesizer delivers the first audio of a text while the remaining audio is still being synthesized.
type StreamingSynthesizer interface {
	// StreamSpeech synthesizes a text and passes its 8 kHz mono µ-law audio to out in pieces of any length. out copies a
	// piece. StreamSpeech returns after the last piece or with an error, and stops calling out when ctx ends.
	StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error
}

// WordTimingSynthesizer is a StreamingSynthesizer that also tells when the words of a text are spoken.
type WordTimingSynthesizer interface {
	StreamingSynthesizer
	// StreamWords is StreamSpeech with a second function, which it calls for each word, in the order of the text.
	StreamWords(ctx context.Context, r Request, out func(mu []byte), spoken func(WordTime)) error
}

// WordTime tells that the audio up to a sample speaks the text up to a byte.
type WordTime struct {
	TextEnd  int // bytes of the request's text up to the end of a word
	AudioEnd int // samples up to the end of that word
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
	engine   wordTimingFunc
	maxBytes int

	mu      sync.Mutex
	size    int
	order   *list.List // most recently used first
	entries map[Request]*list.Element
	running map[Request]*synthesis
}

type entry struct {
	request Request
	speech  cachedSpeech
}

const wordTimeBytes = 16

// cachedSpeech is the audio of a text. words is empty if the engine does not tell the times of words.
type cachedSpeech struct {
	clip  media.Clip
	words []WordTime
}

// bytes returns the size in memory.
func (s cachedSpeech) bytes() int { return len(s.clip) + len(s.words)*wordTimeBytes }

// synthesis is a running synthesis of a text, for which one or several requests wait.
type synthesis struct {
	feed    media.Feed
	waiting int // requests
	cancel  context.CancelFunc
	done    chan struct{}
	result  cachedSpeech
	err     error

	mu    sync.Mutex
	words []WordTime // told so far
}

func (f *synthesis) addWord(w WordTime) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.words = append(f.words, w)
}

// wordsAfter returns the words after the first n that the engine has told so far.
func (f *synthesis) wordsAfter(n int) []WordTime {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.words[n:])
}

// NewCache returns a cache for the audio of a synthesizer. The cache holds at most most bytes.
func NewCache(under Synthesizer, most int) *Cache {
	return newStreamingCache(withoutWordTimes(ClipStreamer{under}), most)
}

// wordTimingFunc is the method StreamWords of a WordTimingSynthesizer.
type wordTimingFunc func(ctx context.Context, r Request, out func(mu []byte), spoken func(WordTime)) error

// withoutWordTimes returns StreamSpeech of an engine that does not tell the times of words.
func withoutWordTimes(s StreamingSynthesizer) wordTimingFunc {
	return func(ctx context.Context, r Request, out func(mu []byte), _ func(WordTime)) error {
		return s.StreamSpeech(ctx, r, out)
	}
}

// newStreamingCache returns a cache for the audio of a streaming engine. The cache holds at most most bytes.
func newStreamingCache(under wordTimingFunc, most int) *Cache {
	return &Cache{
		engine: under, maxBytes: most,
		order: list.New(), entries: make(map[Request]*list.Element), running: make(map[Request]*synthesis),
	}
}

// Speak returns the audio from the cache, from a synthesis in progress, or from the engine, in this order.
func (c *Cache) Speak(ctx context.Context, r Request) (media.Clip, error) {
	s, err := c.speakWords(ctx, r)
	return s.clip, err
}

// speakWords is Speak with the times of words.
func (c *Cache) speakWords(ctx context.Context, r Request) (cachedSpeech, error) {
	cached, f := c.join(ctx, r)
	if f == nil {
		return cached, nil
	}
	defer c.leave(r, f)
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return cachedSpeech{}, fmt.Errorf("speech: %w", ctx.Err())
	}
}

// streamWords delivers audio and times of words from the same sources as Speak, but in pieces as they arrive.
func (c *Cache) streamWords(ctx context.Context, r Request, out func(mu []byte), spoken func(WordTime)) error {
	cached, f := c.join(ctx, r)
	if f == nil {
		for _, w := range cached.words {
			spoken(w)
		}
		out(cached.clip)
		return nil
	}
	defer c.leave(r, f)
	at, told := 0, 0
	for {
		more, over, err := f.feed.Wait(ctx, at)
		if err != nil {
			return fmt.Errorf("speech: %w", err)
		}
		for _, w := range f.wordsAfter(told) {
			spoken(w)
			told++
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
func (c *Cache) join(ctx context.Context, r Request) (cachedSpeech, *synthesis) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[r]; ok {
		c.order.MoveToFront(e)
		return value(e).speech, nil
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
	return cachedSpeech{}, f
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
			f.result, f.err = cachedSpeech{}, fmt.Errorf("speech: the engine broke: %v", cause)
		}
		c.mu.Lock()
		if c.running[r] == f {
			delete(c.running, r)
		}
		if f.err == nil && !r.Secret {
			c.add(r, f.result)
		}
		c.mu.Unlock()
		f.feed.End()
		close(f.done)
	}()
	if f.err = c.engine(ctx, r, f.feed.Write, f.addWord); f.err != nil {
		return
	}
	f.result.clip, _, _ = f.feed.Wait(ctx, 0) // all of it, because the synthesis has ended
	f.result.words = f.wordsAfter(0)
}

// add caches the speech and evicts the least recently used entries beyond the limit. The caller holds the lock.
func (c *Cache) add(r Request, s cachedSpeech) {
	if s.bytes() > c.maxBytes || c.entries[r] != nil {
		return
	}
	c.entries[r] = c.order.PushFront(&entry{r, s})
	c.size += s.bytes()
	for c.size > c.maxBytes {
		last := c.order.Back()
		old := value(last)
		c.order.Remove(last)
		delete(c.entries, old.request)
		c.size -= old.speech.bytes()
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
