package speech

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

// Cache remembers what a speaker said, in memory up to a number of bytes and, if it is given a directory, on disk.
// Many who ask for the same at once cause it to be said once.
type Cache struct {
	under Speaker
	most  int
	dir   string

	mu     sync.Mutex
	size   int
	order  *list.List // the latest used in front
	known  map[Request]*list.Element
	flight map[Request]*flight
}

type entry struct {
	request Request
	clip    media.Clip
}

type flight struct {
	done chan struct{}
	clip media.Clip
	err  error
}

// NewCache stands before a speaker. dir "" keeps nothing on disk.
func NewCache(under Speaker, most int, dir string) (*Cache, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("speech: cache: %w", err)
		}
	}
	return &Cache{
		under: under, most: most, dir: dir,
		order: list.New(), known: make(map[Request]*list.Element), flight: make(map[Request]*flight),
	}, nil
}

// Speak takes it from memory, from disk, from whoever is just saying it, or from the speaker, in this order.
func (c *Cache) Speak(ctx context.Context, r Request) (media.Clip, error) {
	c.mu.Lock()
	if e, ok := c.known[r]; ok {
		c.order.MoveToFront(e)
		clip := value(e).clip
		c.mu.Unlock()
		return clip, nil
	}
	f, ok := c.flight[r]
	if !ok {
		f = &flight{done: make(chan struct{})}
		c.flight[r] = f
		// Detached: whoever asked first may hang up, and others wait for the same words. The speaker bounds its own time.
		go c.fly(context.WithoutCancel(ctx), r, f)
	}
	c.mu.Unlock()
	select {
	case <-f.done:
		return f.clip, f.err
	case <-ctx.Done():
		return nil, fmt.Errorf("speech: %w", ctx.Err())
	}
}

func (c *Cache) fly(ctx context.Context, r Request, f *flight) {
	f.err = errors.New("speech: the engine broke")
	defer func() {
		if cause := recover(); cause != nil {
			f.clip, f.err = nil, fmt.Errorf("speech: the engine broke: %v", cause)
		}
		c.mu.Lock()
		delete(c.flight, r)
		if f.err == nil {
			c.keep(r, f.clip)
		}
		c.mu.Unlock()
		close(f.done)
	}()
	if f.clip, f.err = c.load(r); f.err == nil {
		return
	}
	if f.clip, f.err = c.under.Speak(ctx, r); f.err == nil {
		c.store(r, f.clip)
	}
}

// keep remembers a clip and forgets the ones unused the longest. The lock is held.
func (c *Cache) keep(r Request, clip media.Clip) {
	if len(clip) > c.most {
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

// Size is how many bytes are remembered in memory.
func (c *Cache) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

func (c *Cache) path(r Request) string {
	sum := sha256.Sum256([]byte(r.Voice + "\x00" + strconv.Itoa(r.Rate) + "\x00" + r.Text))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+".wav")
}

var errNoDisk = errors.New("speech: nothing kept on disk")

func (c *Cache) load(r Request) (media.Clip, error) {
	if c.dir == "" {
		return nil, errNoDisk
	}
	sound, err := wav.ReadFile(c.path(r), outputMost)
	if err != nil {
		return nil, err
	}
	return sound.Mu()
}

// store writes beside and renames, so that no half file is ever read. A full disk costs the next start some time, no more.
func (c *Cache) store(r Request, clip media.Clip) {
	if c.dir == "" {
		return
	}
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(wav.EncodeMu(1, clip))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(r))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
