package speech

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// LocalRecognizer is the name of the recognizer that runs on this machine.
const LocalRecognizer = "pocketsphinx"

// NamedRecognizer is a recognizer with the name by which requests select it.
type NamedRecognizer struct {
	Name          string
	Recognizer    Recognizer
	ResultTimeout time.Duration // longest wait from the end of a turn to its text; 0: 3 s
}

type recognizerEntry struct {
	NamedRecognizer
	health
}

// RecognizerChain tries several recognizers in order. If one fails, the next gets the whole audio of the turn.
type RecognizerChain struct {
	all   []*recognizerEntry
	order []*recognizerEntry
	local *recognizerEntry // nil: no local recognizer
}

// NewRecognizerChain returns a chain that tries the recognizers in the given order. A request can name another first
// recognizer. The local recognizer is the last one. If local is nil, there is none.
func NewRecognizerChain(all []NamedRecognizer, order []string, local Recognizer) *RecognizerChain {
	h := &RecognizerChain{}
	for _, l := range all {
		if l.ResultTimeout == 0 {
			l.ResultTimeout = 3 * time.Second
		}
		h.all = append(h.all, &recognizerEntry{NamedRecognizer: l})
	}
	for _, name := range order {
		if l := h.named(name); l != nil {
			h.order = append(h.order, l)
		}
	}
	if local != nil {
		h.local = &recognizerEntry{NamedRecognizer: NamedRecognizer{Name: LocalRecognizer, Recognizer: local, ResultTimeout: 6 * time.Second}}
	}
	return h
}

func (h *RecognizerChain) named(name string) *recognizerEntry {
	for _, l := range h.all {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// HasEngine reports whether a recognizer with this name exists. The empty name always exists.
func (h *RecognizerChain) HasEngine(engine string) bool {
	return engine == "" || engine == LocalRecognizer && h.local != nil || h.named(engine) != nil
}

// SupportsLanguage reports whether any recognizer of the default order, or the local one, understands a language.
func (h *RecognizerChain) SupportsLanguage(language string) bool {
	return slices.ContainsFunc(h.order, func(l *recognizerEntry) bool { return l.Recognizer.SupportsLanguage(language) }) || h.local != nil && h.local.Recognizer.SupportsLanguage(language)
}

// TranscribesFreeSpeech reports whether any recognizer of the default order transcribes any speech of a language.
func (h *RecognizerChain) TranscribesFreeSpeech(language string) bool {
	return slices.ContainsFunc(h.order, func(l *recognizerEntry) bool { return l.Recognizer.TranscribesFreeSpeech(language) })
}

// SelectRecognizer returns the chain with the named engine first. If the recognizer is not a chain, it is returned
// unchanged.
func SelectRecognizer(ears Recognizer, engine string) Recognizer {
	if h, ok := ears.(*RecognizerChain); ok {
		return h.SelectEngine(engine)
	}
	return ears
}

// SelectEngine returns a Recognizer that tries the named engine first.
func (h *RecognizerChain) SelectEngine(engine string) Recognizer { return named{h, engine} }

// named is a RecognizerChain that tries one engine first.
type named struct {
	*RecognizerChain
	engine string
}

// SupportsLanguage reports whether any recognizer of the chain understands a language.
func (n named) SupportsLanguage(language string) bool {
	return slices.ContainsFunc(n.chain(n.engine), func(l *recognizerEntry) bool { return l.Recognizer.SupportsLanguage(language) })
}

// TranscribesFreeSpeech reports whether any recognizer of the chain transcribes any speech of a language.
func (n named) TranscribesFreeSpeech(language string) bool {
	return slices.ContainsFunc(n.chain(n.engine), func(l *recognizerEntry) bool { return l.Recognizer.TranscribesFreeSpeech(language) })
}

// Open starts a turn that tries the named engine first.
func (n named) Open(w RecognitionRequest, told func(RecognitionResult)) Stream {
	w.Engine = n.engine
	return n.RecognizerChain.Open(w, told)
}

// chain returns the recognizers to try in order: the named engine, the default order, and the local recognizer.
func (h *RecognizerChain) chain(engine string) []*recognizerEntry {
	var all []*recognizerEntry
	if engine != LocalRecognizer {
		if l := h.named(engine); l != nil {
			all = append(all, l)
		}
		for _, l := range h.order {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	if h.local != nil {
		all = append(all, h.local)
	}
	return all
}

// Open starts a turn with the first recognizer that supports the language and is not suspended. If all are suspended,
// it starts with the first of them.
func (h *RecognizerChain) Open(w RecognitionRequest, told func(RecognitionResult)) Stream {
	t := &recognitionTurn{request: w, report: told}
	now := time.Now()
	for _, l := range h.chain(w.Engine) {
		if l.Recognizer.SupportsLanguage(w.Language) {
			t.recognizers = append(t.recognizers, l)
		}
	}
	if well := slices.DeleteFunc(slices.Clone(t.recognizers), func(l *recognizerEntry) bool { return l.isSuspended(now) }); len(well) > 0 {
		t.recognizers = well
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next(nil)
	return t
}

// errNoRecognizer is the error of a turn in a language that no recognizer supports.
var errNoRecognizer = errors.New("speech: no recognizer for the language")

// recognitionTurn is the audio of one turn and the list of recognizers to try.
type recognitionTurn struct {
	mu          sync.Mutex
	request     RecognitionRequest
	report      func(RecognitionResult)
	recognizers []*recognizerEntry
	at          int // number of recognizers tried
	stream      Stream
	audio       []byte
	ended       bool
	done        bool
	timer       *time.Timer
	failures    []EngineFailure
}

// next passes the turn's audio to the next recognizer. err is the error of the previous one. If no recognizer is left,
// next reports err. The caller holds the lock.
func (t *recognitionTurn) next(err error) {
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.at >= len(t.recognizers) {
		if err == nil {
			err = errNoRecognizer
		}
		t.done = true
		go t.report(RecognitionResult{Final: true, Err: err, Failures: t.failures})
		return
	}
	l := t.recognizers[t.at]
	t.at++
	w, at := t.request, t.at
	if w.Engine != l.Name {
		w.Model = ""
	}
	w.Engine = l.Name
	t.stream = l.Recognizer.Open(w, func(heard RecognitionResult) { t.takeResult(at, heard) })
	if len(t.audio) > 0 {
		t.stream.Write(t.audio)
	}
	if t.ended {
		t.end()
	}
}

// end ends the turn for the current recognizer and starts the timeout for its result. The caller holds the lock.
func (t *recognitionTurn) end() {
	at := t.at
	t.timer = time.AfterFunc(t.recognizers[at-1].ResultTimeout, func() { t.takeResult(at, RecognitionResult{Final: true, Err: ErrTranscriptTimeout}) })
	t.stream.End()
}

// takeResult handles a result of the recognizer with number at. It ignores a late result of an earlier recognizer.
func (t *recognitionTurn) takeResult(at int, result RecognitionResult) {
	t.mu.Lock()
	if t.done || at != t.at {
		t.mu.Unlock()
		return
	}
	if result.Err == nil {
		if result.Final {
			t.done = true
			if t.timer != nil {
				t.timer.Stop()
			}
			t.recognizers[at-1].recordSuccess()
			result.Failures = t.failures
		}
		t.mu.Unlock()
		t.report(result)
		return
	}
	defer t.mu.Unlock()
	l := t.recognizers[at-1]
	l.recordFailure(result.Err, time.Now())
	t.failures = append(t.failures, EngineFailure{Engine: l.Name, Err: fmt.Errorf("%s: %w", l.Name, result.Err), Recovered: at < len(t.recognizers)})
	old := t.stream
	t.next(result.Err)
	if old != nil {
		go old.Close()
	}
}

// Write passes audio to the current recognizer and stores it in case another recognizer must be tried.
func (t *recognitionTurn) Write(mu []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.ended {
		return
	}
	t.audio = append(t.audio, mu[:min(len(mu), turnMost-len(t.audio))]...)
	t.stream.Write(mu)
}

// End marks the end of the turn. The final result follows.
func (t *recognitionTurn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.ended {
		return
	}
	t.ended = true
	t.end()
}

// Close cancels the recognition of the turn.
func (t *recognitionTurn) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.stream != nil {
		t.stream.Close()
	}
}
