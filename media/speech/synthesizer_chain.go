package speech

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
)

// NamedSynthesizer is an external speech engine with its name and its default voice, model and timeouts.
type NamedSynthesizer struct {
	Name              string
	Engine            StreamingSynthesizer
	Voice             string        // default voice
	Model             string        // default model
	FirstAudioTimeout time.Duration // longest wait for the first audio; 0: 2.5 s
	PauseTimeout      time.Duration // longest wait between two pieces of audio; 0: 2 s
	SSML              bool          // a text with elements of SSML is sent as an SSML document
}

// Errors of speech engines. ErrorCode maps them to the codes that users see.
var (
	ErrFirstAudioTimeout = errors.New("speech: the engine sent no sound in time")
	ErrAudioStalled      = errors.New("speech: the engine stopped in the midst of a sentence")
	ErrNoAudio           = errors.New("speech: the engine sent no sound")
	ErrTooMuchAudio      = errors.New("speech: the engine sent too much sound")
	ErrTranscriptTimeout = errors.New("speech: the engine did not tell in time what was said")
	ErrRequestRefused    = errors.New("the engine refused")
	ErrInvalidResponse   = errors.New("the engine answered something else than was asked for")
	// ErrRequestInvalid is a special case of ErrRequestRefused: the request itself is wrong, for example its voice is
	// unknown. This error does not count as a failure of the engine.
	ErrRequestInvalid = fmt.Errorf("%w the request as invalid", ErrRequestRefused)
)

// ErrorCode returns the code for an engine's error. The code contains no text of the engine, so any user may see it.
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
	maxSentenceSamples       = 3 * 60 * 8000 // 8 kHz samples; longer audio of one sentence ends with ErrTooMuchAudio
	maxDocumentSamples       = 10 * 60 * 8000
	failuresBeforeSuspension = 3 // consecutive failures
	minSuspension            = 10 * time.Second
	maxSuspension            = time.Minute
)

// EngineFailure reports a failure of an engine. If Recovered is set, another engine is tried.
type EngineFailure struct {
	Engine    string
	Err       error
	Recovered bool
}

// health counts consecutive failures of an engine. After failuresBeforeSuspension failures the engine is suspended
// for a while, so that calls do not wait for it each time.
type health struct {
	mu             sync.Mutex
	failures       int // consecutive failures
	suspendedUntil time.Time
}

func (h *health) isSuspended(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.suspendedUntil)
}

func (h *health) recordSuccess() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures, h.suspendedUntil = 0, time.Time{}
}

// recordFailure counts a failure, except one that the request caused (ErrRequestInvalid).
func (h *health) recordFailure(err error, now time.Time) {
	if !errors.Is(err, ErrRequestInvalid) {
		h.countFailure(now)
	}
}

func (h *health) countFailure(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures++; h.failures >= failuresBeforeSuspension {
		h.suspendedUntil = now.Add(min(minSuspension<<min(h.failures-failuresBeforeSuspension, 8), maxSuspension))
	}
}

type synthesizerEntry struct {
	NamedSynthesizer
	health
}

func newSynthesizerEntry(s NamedSynthesizer) *synthesizerEntry {
	if s.FirstAudioTimeout == 0 {
		s.FirstAudioTimeout = 2500 * time.Millisecond
	}
	if s.PauseTimeout == 0 {
		s.PauseTimeout = 2 * time.Second
	}
	return &synthesizerEntry{NamedSynthesizer: s}
}

// synthesize streams the engine's audio to out, and the times of words to spoken if the engine tells them. It cancels the
// request if the first audio or later audio is late.
func (s *synthesizerEntry) synthesize(ctx context.Context, r Request, out func(mu []byte), spoken func(WordTime)) error {
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
	got, most := 0, maxSentenceSamples
	if r.SSML {
		most = maxDocumentSamples
	}
	stream := withoutWordTimes(s.Engine)
	if w, ok := s.Engine.(WordTimingSynthesizer); ok {
		stream = w.StreamWords
	}
	err := stream(ctx, r, func(piece []byte) {
		if ctx.Err() != nil || len(piece) == 0 {
			return
		}
		if got += len(piece); got > most {
			cancel(ErrTooMuchAudio)
			return
		}
		mu.Lock()
		late = ErrAudioStalled
		timer.Reset(s.PauseTimeout)
		mu.Unlock()
		out(piece)
	}, spoken)
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

// source returns the external engine with this name, or nil.
func (v *SynthesizerChain) source(name string) *synthesizerEntry {
	for _, s := range v.sources {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// HasEngine reports whether an engine with this name exists. For an empty name it reports whether any engine or WAV
// file exists.
func (v *SynthesizerChain) HasEngine(engine string) bool {
	if engine != "" && engine != LocalVoice && engine != PromptFilesEngine {
		return v.source(engine) != nil
	}
	return v.local != nil || engine == "" && len(v.order) > 0 || v.prompts != nil && v.prompts.HasFiles()
}

// chain returns the external engines to try for a request: the requested engine first, then the configured order.
func (v *SynthesizerChain) chain(r Request) []*synthesizerEntry {
	if r.Engine == LocalVoice || r.Engine == PromptFilesEngine {
		return nil
	}
	wanted := v.source(r.Engine)
	if wanted == nil {
		return v.order
	}
	all := []*synthesizerEntry{wanted}
	for _, s := range v.order {
		if s != wanted {
			all = append(all, s)
		}
	}
	return all
}

// healthyChain returns the engines of the chain that are not suspended. A nil entry at the end stands for the local
// engine. Without a local engine, a chain of suspended engines is returned whole.
func (v *SynthesizerChain) healthyChain(r Request) []*synthesizerEntry {
	now := time.Now()
	var all []*synthesizerEntry
	for _, s := range v.chain(r) {
		if !s.isSuspended(now) {
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

// requestFor returns the request with the voice and model of engine s. A nil s stands for the local engine.
func (v *SynthesizerChain) requestFor(s *synthesizerEntry, r Request) Request {
	if s == nil {
		return v.localRequest(r)
	}
	meant := v.preferredEngine(r) == s
	r.Engine, r.Model = s.Name, s.Model
	if !meant || r.Voice == "" {
		r.Voice = s.Voice
	}
	return r
}

// preferredEngine returns the engine to which the request's voice belongs. Nil stands for the local engine.
func (v *SynthesizerChain) preferredEngine(r Request) *synthesizerEntry {
	if chain := v.chain(r); len(chain) > 0 {
		return chain[0]
	}
	return nil
}

// localRequest returns the request for the local engine. It has no model. Its voice is the request's language, unless
// the request names a voice of the local engine.
func (v *SynthesizerChain) localRequest(r Request) Request {
	if v.preferredEngine(r) != nil {
		r.Voice = ""
	}
	if r.Voice == "" {
		r.Voice = strings.ToLower(r.Language)
	}
	r.Engine, r.Model, r.Language = "", "", ""
	return r
}

// synthesize streams the audio of the engine that the request names, and counts its success or failure.
func (v *SynthesizerChain) synthesize(ctx context.Context, r Request, out func(mu []byte), spoken func(WordTime)) error {
	s := v.source(r.Engine)
	if s == nil {
		return ClipStreamer{v.local}.StreamSpeech(ctx, r, out)
	}
	err := s.synthesize(ctx, r, out, spoken)
	switch {
	case err == nil:
		s.recordSuccess()
	case !errors.Is(err, context.Canceled):
		s.recordFailure(err, time.Now())
	}
	return err
}

// Utterance is audio that is complete or still being synthesized.
type Utterance struct {
	Clip   media.Clip  // complete audio
	Feed   *media.Feed // audio in progress; nil: Clip is complete
	Stop   func()      // cancels the synthesis; never nil
	Spoken *SpokenText // where the text is in the audio; nil: unknown
}

func completeUtterance(clip media.Clip, spoken *SpokenText) Utterance {
	return Utterance{Clip: clip, Stop: func() {}, Spoken: spoken}
}

// StartSpeaking synthesizes a text and returns as soon as the first audio exists. The remaining audio follows in the
// Feed until Stop is called. StartSpeaking calls told for each engine that fails, from any goroutine, also after it has
// returned.
func (v *SynthesizerChain) StartSpeaking(ctx context.Context, r Request, told func(EngineFailure)) (Utterance, error) {
	r, err := normalizeRequest(r)
	if err != nil || r.Text == "" {
		return completeUtterance(nil, nil), err
	}
	clip, err := v.promptFile(ctx, r)
	if clip != nil || err != nil {
		return completeUtterance(clip, nil), err
	}
	if len(v.chain(r)) == 0 {
		clip, err = v.localCache.Speak(ctx, local(r))
		return completeUtterance(clip, nil), err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	feed, spoken, failed := new(media.Feed), new(SpokenText), make(chan error, 1)
	go func() {
		defer feed.End()
		failed <- (&utteranceStream{chain: v, request: r, feed: feed, spoken: spoken, report: told}).run(run)
	}()
	_, over, err := feed.Wait(ctx, 0)
	if over {
		err = <-failed
	}
	if err != nil {
		stop()
		return completeUtterance(nil, nil), fmt.Errorf("speech: %w", err)
	}
	return Utterance{Feed: feed, Stop: stop, Spoken: spoken}, nil
}

// Prepare synthesizes a text ahead of time, so that it later plays without delay. It tries the first engine only.
// After an error the text is synthesized again when it is needed, and an error of that synthesis is reported.
func (v *SynthesizerChain) Prepare(ctx context.Context, r Request) (Utterance, error) {
	r, err := normalizeRequest(r)
	chain := v.chain(r)
	if err != nil || r.Text == "" || len(chain) == 0 {
		clip, errSpeak := v.Speak(ctx, r)
		return completeUtterance(clip, nil), errSpeak
	}
	clip, err := v.promptFile(ctx, r)
	if clip != nil || err != nil {
		return completeUtterance(clip, nil), err
	}
	if s, document := v.ssmlRequestFor(r, chain); s != nil {
		clip, err = v.sentenceCache.Speak(ctx, document)
		return completeUtterance(clip, nil), err
	}
	sentences, spoken := pausedSentences(r), new(SpokenText)
	spoken.set(sentenceTexts(sentences)...)
	var joined media.Clip
	for i, sentence := range sentences {
		joined = append(joined, silence(sentence.pause)...)
		if sentence.text == "" {
			continue // only a pause
		}
		one := r
		one.Text = sentence.text
		cached, err := v.sentenceCache.speakWords(ctx, v.requestFor(chain[0], one))
		if err != nil {
			return Utterance{}, err
		}
		spoken.begin(i, len(joined))
		for _, w := range cached.words {
			spoken.addWord(i, w)
		}
		if len(joined) == 0 {
			joined = slices.Clip(cached.clip) // shared with the cache
		} else {
			joined = append(joined, cached.clip...)
		}
		spoken.finish(i, len(joined))
	}
	return completeUtterance(joined, spoken), nil
}

// local returns the request for the local engine, also if the request names another engine.
func local(r Request) Request {
	r.Engine, r.Model = LocalVoice, ""
	return r
}
