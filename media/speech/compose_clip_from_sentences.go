// Package speech synthesizes and recognizes speech. Engines on this machine (espeak-ng, pocketsphinx, WAV files) and
// the clients in package engines implement its interfaces. SynthesizerChain and RecognizerChain
// try several engines in order. The package does not depend on calls or pathways.
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

// Names of the engines that need no external service.
const (
	LocalVoice        = "espeak-ng"
	PromptFilesEngine = "wav" // plays WAV files of the prompt directory; a text without a file is spoken by espeak-ng
)

// Request is a text to synthesize. Equal requests produce equal audio.
type Request struct {
	Text     string // "wav:NAME.wav" plays that file of the prompt directory
	Engine   string // name of a NamedSynthesizer, or LocalVoice; "": the first of Config.Order
	Voice    string // voice name of the engine, such as "en-us" or "alloy"; "": the engine's default
	Model    string // model of the engine; "": its default
	Language string // BCP 47 tag; "": the engine's default
	Rate     int    // words per minute, 80 to 450; 0: the engine's default
	// SSML marks a Text that is an SSML document. The chain sets it for engines that read SSML.
	SSML bool
	// Secret marks a Text with a secret value. Its audio is not cached, and no error contains the text.
	Secret bool
}

// Synthesizer converts text to a clip of 8 kHz µ-law audio. Several callers share the clip and must not change it.
type Synthesizer interface {
	Speak(ctx context.Context, r Request) (media.Clip, error)
}

// Config configures a SynthesizerChain. The zero value works.
type Config struct {
	PromptDir   string             // directory of WAV files that replace synthesized speech; "": none
	CacheBytes  int                // memory for cached audio; 0: 64 MB, more than two hours
	Concurrency int                // concurrent processes of espeak-ng; 0: 4
	Timeout     time.Duration      // of one sentence; 0: 10 s
	Engine      Synthesizer        // local engine; nil: espeak-ng, if it is installed
	Sources     []NamedSynthesizer // external engines
	Order       []string           // names of the external engines that serve requests without an engine name, in this order
}

// sentencePause is the silence between two sentences.
const sentencePause = 200 * time.Millisecond

// silence returns 8 kHz µ-law audio of silence.
func silence(d time.Duration) []byte {
	return bytes.Repeat([]byte{g711.MuSilence}, int(d.Milliseconds())*8)
}

// SynthesizerChain produces the speech of all calls. It plays the WAV file of a text if there is one. Otherwise it tries
// the engines in order and caches their audio. The local engine is the last one.
type SynthesizerChain struct {
	prompts       *PromptFiles // nil: no prompt directory
	localCache    *Cache       // texts that the local engine spoke
	sentenceCache *Cache       // single sentences of all engines
	localError    error        // why there is no local engine
	local         Synthesizer
	sources       []*synthesizerEntry
	order         []*synthesizerEntry
}

// NewSynthesizerChain returns a chain of the configured engines. Without a local engine the chain still plays WAV files,
// and LocalEngineError returns the reason.
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
			v.localError = err
		} else {
			cfg.Engine = e
		}
	}
	v.local = cfg.Engine
	for _, s := range cfg.Sources {
		v.sources = append(v.sources, newSynthesizerEntry(s))
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
	v.sentenceCache = newStreamingCache(v.synthesize, cfg.CacheBytes/2)
	v.localCache = NewCache(synthesizerFunc(v.compose), cfg.CacheBytes/2)
	return v, nil
}

type synthesizerFunc func(ctx context.Context, r Request) (media.Clip, error)

// Speak calls f.
func (f synthesizerFunc) Speak(ctx context.Context, r Request) (media.Clip, error) { return f(ctx, r) }

// LocalEngineError returns the reason why no local engine can synthesize text. The error wraps ErrNotInstalled. The
// result is nil if the local engine works.
func (v *SynthesizerChain) LocalEngineError() error { return v.localError }

// Speak returns the audio of a text of at most 4000 bytes. The audio of an empty text is empty.
func (v *SynthesizerChain) Speak(ctx context.Context, r Request) (media.Clip, error) {
	r, err := normalizeRequest(r)
	if err != nil || r.Text == "" {
		return media.Clip{}, err
	}
	if len(v.chain(r)) == 0 {
		return v.localCache.Speak(ctx, local(r))
	}
	return v.compose(ctx, r)
}

// normalizeRequest returns the request in the form that serves as cache key. It returns an error for a text over 4000
// bytes.
func normalizeRequest(r Request) (Request, error) {
	if len(r.Text) > textMost {
		return r, fmt.Errorf("%w: %d bytes, at most %d", ErrBadRequest, len(r.Text), textMost)
	}
	r.Text = cleanLines(r.Text)
	return r, nil
}

// promptFile returns the audio of the WAV file that belongs to the text. It returns nil without an error if the text
// must be synthesized.
func (v *SynthesizerChain) promptFile(ctx context.Context, r Request) (media.Clip, error) {
	explicit := strings.HasPrefix(r.Text, WAVPrefix)
	switch {
	case v.prompts != nil:
		clip, err := v.prompts.Speak(ctx, v.localRequest(r))
		if err != nil && r.Secret {
			err = fmt.Errorf("%w for a text with a secret value", ErrNoPrompt) // the error of PromptFiles names files after the text
		}
		if err == nil || explicit || !errors.Is(err, ErrNoPrompt) {
			return clip, err
		}
	case explicit:
		return nil, fmt.Errorf("%w: %s: there is no prompt directory", ErrNoPrompt, r.Text)
	}
	if v.local == nil && len(v.chain(r)) == 0 {
		if r.Secret {
			return nil, fmt.Errorf("%w for a text with a secret value: %w", ErrNoPrompt, v.localError)
		}
		return nil, fmt.Errorf("%w: looked for %s.wav and %s.wav: %w", ErrNoPrompt, Slug(r.Text), PromptHash(r.Text), v.localError)
	}
	return nil, nil
}

// compose returns the WAV file of the text, or the joined audio of its sentences. The sentences are synthesized
// concurrently.
func (v *SynthesizerChain) compose(ctx context.Context, r Request) (media.Clip, error) {
	clip, err := v.promptFile(ctx, r)
	if clip != nil || err != nil {
		return clip, err
	}
	if s, document := v.ssmlRequestFor(r, v.healthyChain(r)); s != nil {
		if clip, err = v.sentenceCache.Speak(ctx, document); err == nil || ctx.Err() != nil {
			return clip, err
		}
	}
	sentences := pausedSentences(r)
	clips, failed := make([]media.Clip, len(sentences)), make([]error, len(sentences))
	var work sync.WaitGroup
	for i, sentence := range sentences {
		if sentence.text == "" {
			continue // only a pause
		}
		work.Go(func() {
			r := r
			r.Text = sentence.text
			clips[i], failed[i] = v.sentence(ctx, r)
		})
	}
	work.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	return joinClips(sentences, clips), nil
}

// joinClips returns the clips of the sentences with the pauses between them.
func joinClips(sentences []pausedSentence, clips []media.Clip) media.Clip {
	if len(clips) == 1 && sentences[0].pause == 0 {
		return clips[0]
	}
	var joined media.Clip
	for i, clip := range clips {
		joined = append(append(joined, silence(sentences[i].pause)...), clip...)
	}
	return joined
}

// sentence returns the audio of one sentence from the first engine that succeeds.
func (v *SynthesizerChain) sentence(ctx context.Context, r Request) (clip media.Clip, err error) {
	for _, s := range v.healthyChain(r) {
		if clip, err = v.sentenceCache.Speak(ctx, v.requestFor(s, r)); err == nil || ctx.Err() != nil {
			return clip, err
		}
	}
	return nil, err
}
