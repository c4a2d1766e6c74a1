// Package speech turns text into sound, and sound into words. It knows no call and no node of a conversation: it is handed a
// text and returns its sound.
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

// The engines of the machine.
const (
	LocalVoice        = "espeak-ng"
	PromptFilesEngine = "wav" // prompt files alone, and espeak-ng where there is none
)

// Request is what shall be said. Two equal requests sound the same.
type Request struct {
	Text     string // "wav:NAME.wav" plays that file of the prompt directory
	Engine   string // the name of a Source, or LocalVoice; "": the first of Config.Order
	Voice    string // the engine's name of a voice, as "en-us" or "alloy"; "": the engine's default
	Model    string // of the engine; "": its default
	Language string // as BCP 47 writes it; "": the engine's default
	Rate     int    // words a minute, 80 to 450; 0: the engine's default
}

// Synthesizer turns text into sound. The clip is shared: it must not be changed.
type Synthesizer interface {
	Speak(ctx context.Context, r Request) (media.Clip, error)
}

// Config says what a Voice is made of. The zero value works.
type Config struct {
	PromptDir   string             // WAV files that are played in place of speech; "": none
	CacheBytes  int                // of memory; zero: 64 MB, over two hours
	Concurrency int                // processes at once; zero: 4
	Timeout     time.Duration      // of one sentence; zero: 10 s
	Engine      Synthesizer        // the machine's own; nil: espeak-ng, where it is installed
	Sources     []NamedSynthesizer // engines besides it
	Order       []string           // the names of those that are tried where nobody names one
}

// pause is the silence between two sentences, 200 ms.
var pause = bytes.Repeat([]byte{g711.MuSilence}, 1600)

// SynthesizerChain is what calls speak with: prompt files where there are any for the text, else engines, remembered. Where one
// fails another takes its place; the machine's own comes last.
type SynthesizerChain struct {
	prompts *PromptFiles // nil: none
	whole   *Cache       // what the machine itself says
	cached  *Cache       // sentences
	missing error        // why the machine has no engine
	local   Synthesizer
	sources []*source
	order   []*source
}

// NewSynthesizerChain makes a Voice. Without an engine it still plays prompts: ask Missing, and say so in the log.
func NewSynthesizerChain(cfg Config) (*SynthesizerChain, error) {
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = 64 << 20
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 4
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	v := &SynthesizerChain{}
	if cfg.Engine == nil {
		e, err := NewEspeak(cfg.Concurrency, cfg.Timeout)
		if err != nil {
			v.missing = err
		} else {
			cfg.Engine = e
		}
	}
	v.local = cfg.Engine
	for _, s := range cfg.Sources {
		v.sources = append(v.sources, newSource(s))
	}
	for _, name := range cfg.Order {
		if s := v.source(name); s != nil {
			v.order = append(v.order, s)
		}
	}
	if cfg.PromptDir != "" {
		p, err := NewPromptFiles(cfg.PromptDir)
		if err == nil {
			v.prompts = p
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	v.cached = cacheOf(engineFunc(v.utter), cfg.CacheBytes/2)
	v.whole = NewCache(speakerFunc(v.compose), cfg.CacheBytes/2)
	return v, nil
}

type (
	speakerFunc func(ctx context.Context, r Request) (media.Clip, error)
	engineFunc  func(ctx context.Context, r Request, out func(mu []byte)) error
)

// Speak calls the function.
func (f speakerFunc) Speak(ctx context.Context, r Request) (media.Clip, error) { return f(ctx, r) }

// StreamSpeech calls the function.
func (f engineFunc) StreamSpeech(ctx context.Context, r Request, out func(mu []byte)) error {
	return f(ctx, r, out)
}

// LocalEngineError is why the machine itself can speak no text, wrapping ErrNotInstalled; nil where it can.
func (v *SynthesizerChain) LocalEngineError() error { return v.missing }

// Speak says a text of at most 4000 bytes. An empty text is no sound.
func (v *SynthesizerChain) Speak(ctx context.Context, r Request) (media.Clip, error) {
	r, err := tidy(r)
	if err != nil || r.Text == "" {
		return media.Clip{}, err
	}
	if len(v.chain(r)) == 0 {
		return v.whole.Speak(ctx, local(r))
	}
	return v.compose(ctx, r)
}

// tidy is the request as it is remembered.
func tidy(r Request) (Request, error) {
	if len(r.Text) > textMost {
		return r, fmt.Errorf("%w: %d bytes, at most %d", ErrBadRequest, len(r.Text), textMost)
	}
	r.Text = clean(r.Text)
	return r, nil
}

// prompt looks for a file that stands for the text; nil: it has to be spoken.
func (v *SynthesizerChain) prompt(ctx context.Context, r Request) (media.Clip, error) {
	explicit := strings.HasPrefix(r.Text, WAVPrefix)
	switch {
	case v.prompts != nil:
		clip, err := v.prompts.Speak(ctx, v.atHome(r))
		if err == nil || explicit || !errors.Is(err, ErrNoPrompt) {
			return clip, err
		}
	case explicit:
		return nil, fmt.Errorf("%w: %s: there is no prompt directory", ErrNoPrompt, r.Text)
	}
	if v.local == nil && len(v.chain(r)) == 0 {
		return nil, fmt.Errorf("%w: looked for %s.wav and %s.wav: %w", ErrNoPrompt, Slug(r.Text), PromptHash(r.Text), v.missing)
	}
	return nil, nil
}

// compose looks for a prompt, and else joins the sentences, which are said at the same time.
func (v *SynthesizerChain) compose(ctx context.Context, r Request) (media.Clip, error) {
	clip, err := v.prompt(ctx, r)
	if clip != nil || err != nil {
		return clip, err
	}
	sentences := Sentences(r.Text)
	clips, failed := make([]media.Clip, len(sentences)), make([]error, len(sentences))
	var work sync.WaitGroup
	for i, sentence := range sentences {
		work.Go(func() {
			r := r
			r.Text = sentence
			clips[i], failed[i] = v.sentence(ctx, r)
		})
	}
	work.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	if len(clips) == 1 {
		return clips[0], nil
	}
	return bytes.Join(pieces(clips), pause), nil
}

func pieces(clips []media.Clip) [][]byte {
	out := make([][]byte, len(clips))
	for i, c := range clips {
		out[i] = c
	}
	return out
}

// sentence is the whole of one, by the first engine that says it.
func (v *SynthesizerChain) sentence(ctx context.Context, r Request) (clip media.Clip, err error) {
	for _, s := range v.tries(r) {
		if clip, err = v.cached.Speak(ctx, v.requestFor(s, r)); err == nil || ctx.Err() != nil {
			return clip, err
		}
	}
	return nil, err
}
