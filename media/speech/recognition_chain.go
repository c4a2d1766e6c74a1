package speech

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// LocalRecognizer is the recognizer of the machine.
const LocalRecognizer = "pocketsphinx"

// NamedRecognizer is a recognizer that has a name.
type NamedRecognizer struct {
	Name          string
	Recognizer    Recognizer
	ResultTimeout time.Duration // the longest wait from the end of a turn to its text; zero: 3 s
}

type recognizerEntry struct {
	NamedRecognizer
	health
}

// RecognizerChain is what calls hear with: one recognizer after the other, each with the whole turn, until one has understood it.
type RecognizerChain struct {
	all   []*recognizerEntry
	order []*recognizerEntry
	local *recognizerEntry // nil: the machine has none
}

// NewRecognizerChain tries the recognizers in this order where nobody names one, and local (nil: none) last.
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

// HasEngine says whether there is a recognizer of the name.
func (h *RecognizerChain) HasEngine(engine string) bool {
	return engine == "" || engine == LocalRecognizer && h.local != nil || h.named(engine) != nil
}

// SupportsLanguage says whether any of them understands a language.
func (h *RecognizerChain) SupportsLanguage(language string) bool {
	return slices.ContainsFunc(h.order, func(l *recognizerEntry) bool { return l.Recognizer.SupportsLanguage(language) }) || h.local != nil && h.local.Recognizer.SupportsLanguage(language)
}

// TranscribesFreeSpeech says whether any of those that are tried unless one is named understands whatever is said.
func (h *RecognizerChain) TranscribesFreeSpeech(language string) bool {
	return slices.ContainsFunc(h.order, func(l *recognizerEntry) bool { return l.Recognizer.TranscribesFreeSpeech(language) })
}

// SelectRecognizer are the ears of somebody who names an engine, where there are several; else the same ones.
func SelectRecognizer(ears Recognizer, engine string) Recognizer {
	if h, ok := ears.(*RecognizerChain); ok {
		return h.SelectEngine(engine)
	}
	return ears
}

// SelectEngine are the ears of somebody who names one of them, before the others.
func (h *RecognizerChain) SelectEngine(engine string) Recognizer { return named{h, engine} }

// named is a Hearing of which one engine was named.
type named struct {
	*RecognizerChain
	engine string
}

// SupportsLanguage says whether any of those that are tried understands a language.
func (n named) SupportsLanguage(language string) bool {
	return slices.ContainsFunc(n.chain(n.engine), func(l *recognizerEntry) bool { return l.Recognizer.SupportsLanguage(language) })
}

// TranscribesFreeSpeech says whether any of them understands whatever is said.
func (n named) TranscribesFreeSpeech(language string) bool {
	return slices.ContainsFunc(n.chain(n.engine), func(l *recognizerEntry) bool { return l.Recognizer.TranscribesFreeSpeech(language) })
}

// Open begins a turn.
func (n named) Open(w RecognitionRequest, told func(RecognitionResult)) Stream {
	w.Engine = n.engine
	return n.RecognizerChain.Open(w, told)
}

// chain are the recognizers of a request, the machine's own last.
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

// Open begins a turn with the first recognizer that is well.
func (h *RecognizerChain) Open(w RecognitionRequest, told func(RecognitionResult)) Stream {
	t := &hearingTurn{wanted: w, told: told}
	now := time.Now()
	for _, l := range h.chain(w.Engine) {
		if l.Recognizer.SupportsLanguage(w.Language) {
			t.tries = append(t.tries, l)
		}
	}
	if well := slices.DeleteFunc(slices.Clone(t.tries), func(l *recognizerEntry) bool { return l.rests(now) }); len(well) > 0 {
		t.tries = well
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next(nil)
	return t
}

// errNoRecognizer says that no recognizer knows the language.
var errNoRecognizer = errors.New("speech: nobody understands the language")

// hearingTurn is a turn that more than one recognizer may hear.
type hearingTurn struct {
	mu     sync.Mutex
	wanted RecognitionRequest
	told   func(RecognitionResult)
	tries  []*recognizerEntry
	at     int // how many were tried
	stream Stream
	sound  []byte
	ended  bool
	over   bool
	timer  *time.Timer
	faults []EngineFailure
}

// next hands the turn to the next recognizer; err is why the one before failed. The lock is held.
func (t *hearingTurn) next(err error) {
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.at >= len(t.tries) {
		if err == nil {
			err = errNoRecognizer
		}
		t.over = true
		go t.told(RecognitionResult{Final: true, Err: err, Failures: t.faults})
		return
	}
	l := t.tries[t.at]
	t.at++
	w, at := t.wanted, t.at
	if w.Engine != l.Name {
		w.Model = ""
	}
	w.Engine = l.Name
	t.stream = l.Recognizer.Open(w, func(heard RecognitionResult) { t.takeResult(at, heard) })
	if len(t.sound) > 0 {
		t.stream.Write(t.sound)
	}
	if t.ended {
		t.end()
	}
}

// end ends the turn for the recognizer that hears it, and limits its time. The lock is held.
func (t *hearingTurn) end() {
	at := t.at
	t.timer = time.AfterFunc(t.tries[at-1].ResultTimeout, func() { t.takeResult(at, RecognitionResult{Final: true, Err: ErrTranscriptTimeout}) })
	t.stream.End()
}

// takeResult takes what a recognizer tells; of one that was given up it is too late.
func (t *hearingTurn) takeResult(at int, takeResult RecognitionResult) {
	t.mu.Lock()
	if t.over || at != t.at {
		t.mu.Unlock()
		return
	}
	if takeResult.Err == nil {
		if takeResult.Final {
			t.over = true
			if t.timer != nil {
				t.timer.Stop()
			}
			t.tries[at-1].well()
			takeResult.Failures = t.faults
		}
		t.mu.Unlock()
		t.told(takeResult)
		return
	}
	defer t.mu.Unlock()
	l := t.tries[at-1]
	l.failed(takeResult.Err, time.Now())
	t.faults = append(t.faults, EngineFailure{Engine: l.Name, Err: fmt.Errorf("%s: %w", l.Name, takeResult.Err), Recovered: at < len(t.tries)})
	old := t.stream
	t.next(takeResult.Err)
	if old != nil {
		go old.Close()
	}
}

// Write takes sound, and keeps it for who comes next.
func (t *hearingTurn) Write(mu []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.ended {
		return
	}
	t.sound = append(t.sound, mu[:min(len(mu), turnMost-len(t.sound))]...)
	t.stream.Write(mu)
}

// End says that the turn is over.
func (t *hearingTurn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.ended {
		return
	}
	t.ended = true
	t.end()
}

// Close gives up.
func (t *hearingTurn) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.stream != nil {
		t.stream.Close()
	}
}
