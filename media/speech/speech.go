// Package speech turns text into clips. It knows no call and no node of a conversation: it is handed a text and returns its sound.
package speech

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
)

// Request is what shall be said. Two equal requests sound the same.
type Request struct {
	Text  string // "wav:NAME.wav" plays that file of the prompt directory
	Voice string // the engine's name of a voice, as "en-us" or "de"; "": the engine's default
	Rate  int    // words a minute, 80 to 450; 0: the engine's default
}

// Speaker turns text into sound. The clip is shared: it must not be changed.
type Speaker interface {
	Speak(ctx context.Context, r Request) (media.Clip, error)
}

// Config says what a Voice is made of. The zero value works.
type Config struct {
	PromptDir   string        // WAV files that are played in place of speech; "": none
	CacheDir    string        // keeps what was said over a restart; "": memory alone
	CacheBytes  int           // of memory; zero: 64 MB, over two hours
	Concurrency int           // processes at once; zero: 4
	Timeout     time.Duration // of one sentence; zero: 10 s
	Engine      Speaker       // says sentences; nil: espeak-ng, where it is installed
}

// pause is the silence between two sentences, 200 ms.
var pause = bytes.Repeat([]byte{g711.MuSilence}, 1600)

// Voice is what calls speak with: prompt files where there are any for the text, else the engine, remembered.
type Voice struct {
	prompts Speaker // nil: none
	whole   *Cache
	cached  *Cache // sentences
	missing error  // why there is no engine
}

// New makes a Voice. Without an engine it still plays prompts: ask Missing, and say so in the log.
func New(cfg Config) (*Voice, error) {
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = 64 << 20
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 4
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	v := &Voice{}
	if cfg.Engine == nil {
		e, err := NewEspeak(cfg.Concurrency, cfg.Timeout)
		if err != nil {
			v.missing = err
		} else {
			cfg.Engine = e
		}
	}
	if cfg.PromptDir != "" {
		p, err := NewPrompts(cfg.PromptDir)
		if err == nil {
			v.prompts = p
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var err error
	if v.cached, err = NewCache(cfg.Engine, cfg.CacheBytes/2, cfg.CacheDir); err != nil {
		return nil, err
	}
	v.whole, err = NewCache(speakerFunc(v.compose), cfg.CacheBytes/2, "")
	return v, err
}

type speakerFunc func(ctx context.Context, r Request) (media.Clip, error)

// Speak calls the function.
func (f speakerFunc) Speak(ctx context.Context, r Request) (media.Clip, error) { return f(ctx, r) }

// Missing is why no text can be spoken, wrapping ErrNotInstalled; nil where it can.
func (v *Voice) Missing() error { return v.missing }

// Speak says a text of at most 4000 bytes. An empty text is no sound.
func (v *Voice) Speak(ctx context.Context, r Request) (media.Clip, error) {
	if len(r.Text) > textMost {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrBadRequest, len(r.Text), textMost)
	}
	r.Text = clean(r.Text)
	if r.Text == "" {
		return media.Clip{}, nil
	}
	return v.whole.Speak(ctx, r)
}

// compose looks for a prompt, and else joins the sentences.
func (v *Voice) compose(ctx context.Context, r Request) (media.Clip, error) {
	explicit := strings.HasPrefix(r.Text, Explicit)
	if v.prompts != nil {
		clip, err := v.prompts.Speak(ctx, r)
		if err == nil || explicit || !errors.Is(err, ErrNoPrompt) {
			return clip, err
		}
	}
	if explicit {
		return nil, fmt.Errorf("%w: %s: there is no prompt directory", ErrNoPrompt, r.Text)
	}
	if v.missing != nil {
		return nil, fmt.Errorf("%w: looked for %s.wav and %s.wav: %w", ErrNoPrompt, Slug(r.Text), Hash(r.Text), v.missing)
	}
	sentences := Sentences(r.Text)
	if len(sentences) == 1 {
		return v.cached.Speak(ctx, r)
	}
	return v.join(ctx, r, sentences)
}

// join says the sentences at the same time and puts them one behind the other.
func (v *Voice) join(ctx context.Context, r Request, sentences []string) (media.Clip, error) {
	clips, failed := make([]media.Clip, len(sentences)), make([]error, len(sentences))
	var work sync.WaitGroup
	for i, sentence := range sentences {
		work.Go(func() {
			clips[i], failed[i] = v.cached.Speak(ctx, Request{Text: sentence, Voice: r.Voice, Rate: r.Rate})
		})
	}
	work.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	var out media.Clip
	for i, clip := range clips {
		if i > 0 {
			out = append(out, pause...)
		}
		out = append(out, clip...)
	}
	return out, nil
}
