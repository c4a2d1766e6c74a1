package speech

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
)

// NamedSynthesizer is an engine that has a name.
type NamedSynthesizer struct {
	Name              string
	Engine            StreamingSynthesizer
	Voice             string        // its default
	Model             string        // its default
	FirstAudioTimeout time.Duration // the longest wait for its first sound; zero: 2.5 s
	PauseTimeout      time.Duration // the longest wait for more; zero: 2 s
}

// What engines fail with, besides their own errors.
var (
	ErrFirstAudioTimeout = errors.New("speech: the engine sent no sound in time")
	ErrAudioStalled      = errors.New("speech: the engine stopped in the midst of a sentence")
	ErrNoAudio           = errors.New("speech: the engine sent no sound")
	ErrTooMuchAudio      = errors.New("speech: the engine sent too much sound")
	ErrTranscriptTimeout = errors.New("speech: the engine did not tell in time what was said")
	ErrRequestRefused    = errors.New("the engine refused")
	ErrInvalidResponse   = errors.New("the engine answered something else than was asked for")
	// ErrUnfit is an ErrRefused that the request is to blame for, as for a voice which the engine does not have: who asks may
	// name what there is not, and that tells nothing of the engine's health.
	ErrRequestInvalid = fmt.Errorf("%w what it was asked for", ErrRequestRefused)
)

// ErrorCode is a word for what an engine failed with, which may be shown to anybody.
func ErrorCode(err error) string {
	for _, w := range []struct {
		err  error
		code string
	}{
		{ErrFirstAudioTimeout, "engine_slow"},
		{ErrTranscriptTimeout, "engine_slow"},
		{ErrAudioStalled, "engine_stalled"},
		{ErrNoAudio, "engine_silent"},
		{ErrTooMuchAudio, "engine_garbage"},
		{ErrInvalidResponse, "engine_garbage"},
		{ErrRequestRefused, "engine_refused"},
	} {
		if errors.Is(err, w.err) {
			return w.code
		}
	}
	return "engine_unreachable"
}

const (
	sentenceLonger = 3 * 60 * 8000 // samples that no sentence takes
	tiredAfter     = 3             // failures in a row
	restAtFirst    = 10 * time.Second
	restAtMost     = time.Minute
)

// EngineFailure says that an engine failed. Recovered: another one took its place.
type EngineFailure struct {
	Engine    string
	Err       error
	Recovered bool
}

// health tells whether an engine is worth a try: one that has failed often rests, so that nobody waits for it again and again.
type health struct {
	mu    sync.Mutex
	times int // that it failed in a row
	until time.Time
}

func (h *health) rests(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.until)
}

func (h *health) well() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.times, h.until = 0, time.Time{}
}

// failed counts a failure, unless the request is to blame for it.
func (h *health) failed(err error, now time.Time) {
	if !errors.Is(err, ErrRequestInvalid) {
		h.ill(now)
	}
}

func (h *health) ill(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.times++; h.times >= tiredAfter {
		h.until = now.Add(min(restAtFirst<<min(h.times-tiredAfter, 8), restAtMost))
	}
}

type source struct {
	NamedSynthesizer
	health
}

func newSource(s NamedSynthesizer) *source {
	if s.FirstAudioTimeout == 0 {
		s.FirstAudioTimeout = 2500 * time.Millisecond
	}
	if s.PauseTimeout == 0 {
		s.PauseTimeout = 2 * time.Second
	}
	return &source{NamedSynthesizer: s}
}

// utter lets the engine speak within its times.
func (s *source) utter(ctx context.Context, r Request, out func(mu []byte)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := ErrFirstAudioTimeout
	var mu sync.Mutex
	timer := time.AfterFunc(s.FirstAudioTimeout, func() {
		mu.Lock()
		defer mu.Unlock()
		cancel(late)
	})
	defer timer.Stop()
	got := 0
	err := s.Engine.StreamSpeech(ctx, r, func(piece []byte) {
		if ctx.Err() != nil || len(piece) == 0 {
			return
		}
		if got += len(piece); got > sentenceLonger {
			cancel(ErrTooMuchAudio)
			return
		}
		mu.Lock()
		late = ErrAudioStalled
		timer.Reset(s.PauseTimeout)
		mu.Unlock()
		out(piece)
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil && got == 0 {
		err = ErrNoAudio
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// source finds one by name.
func (v *SynthesizerChain) source(name string) *source {
	for _, s := range v.sources {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// HasEngine says whether there is an engine of the name; "": whether there is any voice
// at all, be it prompt files alone.
func (v *SynthesizerChain) HasEngine(engine string) bool {
	if engine != "" && engine != LocalVoice && engine != PromptFilesEngine {
		return v.source(engine) != nil
	}
	return v.local != nil || engine == "" && len(v.order) > 0 || v.prompts != nil && v.prompts.HasFiles()
}

// chain are the engines beyond the machine's own that a request is tried with: the one it names, then the usual ones.
func (v *SynthesizerChain) chain(r Request) []*source {
	if r.Engine == LocalVoice || r.Engine == PromptFilesEngine {
		return nil
	}
	wanted := v.source(r.Engine)
	if wanted == nil {
		return v.order
	}
	all := []*source{wanted}
	for _, s := range v.order {
		if s != wanted {
			all = append(all, s)
		}
	}
	return all
}

// tries are those of the chain that do not rest, and the machine's own as nil.
func (v *SynthesizerChain) tries(r Request) []*source {
	now := time.Now()
	var all []*source
	for _, s := range v.chain(r) {
		if !s.rests(now) {
			all = append(all, s)
		}
	}
	if v.local != nil {
		return append(all, nil)
	}
	if len(all) == 0 {
		return v.chain(r)
	}
	return all
}

// requestFor is the request as an engine hears it; nil: the machine's own.
func (v *SynthesizerChain) requestFor(s *source, r Request) Request {
	if s == nil {
		return v.atHome(r)
	}
	meant := v.meant(r) == s
	r.Engine, r.Model = s.Name, s.Model
	if !meant || r.Voice == "" {
		r.Voice = s.Voice
	}
	return r
}

// meant is the engine whose voice a request names; nil: the machine's own.
func (v *SynthesizerChain) meant(r Request) *source {
	if chain := v.chain(r); len(chain) > 0 {
		return chain[0]
	}
	return nil
}

// atHome is the request as the machine's own engine hears it.
func (v *SynthesizerChain) atHome(r Request) Request {
	if v.meant(r) != nil {
		r.Voice = ""
	}
	if r.Voice == "" {
		r.Voice = strings.ToLower(r.Language)
	}
	r.Engine, r.Model, r.Language = "", "", ""
	return r
}

// utter lets the engine that the request names speak.
func (v *SynthesizerChain) utter(ctx context.Context, r Request, out func(mu []byte)) error {
	s := v.source(r.Engine)
	if s == nil {
		return ClipStreamer{v.local}.StreamSpeech(ctx, r, out)
	}
	err := s.utter(ctx, r, out)
	switch {
	case err == nil:
		s.well()
	case !errors.Is(err, context.Canceled):
		s.failed(err, time.Now())
	}
	return err
}

// Utterance is something that is being said.
type Utterance struct {
	Clip media.Clip  // all of it
	Feed *media.Feed // or, where this is not nil, what is still being made
	Stop func()      // nobody listens any more; never nil
}

// StartSpeaking is Speak that returns as soon as the first sound is there; the rest follows in the Feed until Stop. told hears of
// engines that fail meanwhile, from any goroutine, also after Begin has returned.
func (v *SynthesizerChain) StartSpeaking(ctx context.Context, r Request, told func(EngineFailure)) (Utterance, error) {
	whole := func(clip media.Clip) Utterance { return Utterance{Clip: clip, Stop: func() {}} }
	r, err := tidy(r)
	if err != nil || r.Text == "" {
		return whole(nil), err
	}
	clip, err := v.prompt(ctx, r)
	if clip != nil || err != nil {
		return whole(clip), err
	}
	if len(v.chain(r)) == 0 {
		clip, err = v.whole.Speak(ctx, local(r))
		return whole(clip), err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	feed, failed := new(media.Feed), make(chan error, 1)
	go func() {
		defer feed.End()
		failed <- v.follow(run, r, feed, told)
	}()
	_, over, err := feed.Wait(ctx, 0)
	if over {
		err = <-failed
	}
	if err != nil {
		stop()
		return whole(nil), fmt.Errorf("speech: %w", err)
	}
	return Utterance{Feed: feed, Stop: stop}, nil
}

// Prepare says something by the first engine alone, so that it need not be waited for when its time comes. Where that
// fails nobody takes its place: it will be tried again, and told of, then.
func (v *SynthesizerChain) Prepare(ctx context.Context, r Request) (media.Clip, error) {
	r, err := tidy(r)
	chain := v.chain(r)
	if err != nil || r.Text == "" || len(chain) == 0 {
		return v.Speak(ctx, r)
	}
	if clip, err := v.prompt(ctx, r); clip != nil || err != nil {
		return clip, err
	}
	var clips [][]byte
	for _, sentence := range Sentences(r.Text) {
		one := r
		one.Text = sentence
		clip, err := v.cached.Speak(ctx, v.requestFor(chain[0], one))
		if err != nil {
			return nil, err
		}
		clips = append(clips, clip)
	}
	return bytes.Join(clips, pause), nil
}

// follow says sentence after sentence, each by the first engine that can. While one sounds the next is already made.
func (v *SynthesizerChain) follow(ctx context.Context, r Request, feed *media.Feed, told func(EngineFailure)) (first error) {
	sentences := Sentences(r.Text)
	for i, sentence := range sentences {
		one := r
		one.Text = sentence
		if i+1 < len(sentences) {
			next := r
			next.Text = sentences[i+1]
			ahead := v.requestFor(v.tries(next)[0], next)
			go func() { _, _ = v.cached.Speak(ctx, ahead) }() // its failure is told when its turn comes
		}
		if i > 0 && feed.Len() > 0 {
			feed.Write(pause)
		}
		if err := v.say(ctx, one, feed, told); err != nil && first == nil {
			first = err
		}
		if ctx.Err() != nil {
			return first
		}
	}
	return first
}

// say puts one sentence into the feed. Where an engine breaks off in its midst, what nobody heard of it is taken back, and
// the next engine says it from its beginning.
func (v *SynthesizerChain) say(ctx context.Context, r Request, feed *media.Feed, told func(EngineFailure)) (err error) {
	tries := v.tries(r)
	for i, s := range tries {
		begin := feed.Len()
		if err = v.cached.StreamSpeech(ctx, v.requestFor(s, r), feed.Write); err == nil || ctx.Err() != nil {
			return err
		}
		name := LocalVoice
		if s != nil {
			name = s.Name
		}
		told(EngineFailure{Engine: name, Err: err, Recovered: i+1 < len(tries)})
		if feed.TakeBack(begin) > 0 {
			feed.Write(pause)
		}
	}
	return err
}

// local is the request for the machine's own engine, whatever stands before it.
func local(r Request) Request {
	r.Engine, r.Model = LocalVoice, ""
	return r
}
