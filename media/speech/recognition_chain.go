package speech

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// LocalRecognizer is the recogniser of the machine.
const LocalRecognizer = "pocketsphinx"

// Listener is a recogniser that has a name.
type Listener struct {
	Name       string
	Recogniser Recogniser
	Final      time.Duration // the longest wait from the end of a turn to its text; zero: 3 s
}

type listener struct {
	Listener
	health
}

// Hearing is what calls hear with: one recogniser after the other, each with the whole turn, until one has understood it.
type Hearing struct {
	all   []*listener
	order []*listener
	local *listener // nil: the machine has none
}

// NewHearing tries the recognisers in this order where nobody names one, and local (nil: none) last.
func NewHearing(all []Listener, order []string, local Recogniser) *Hearing {
	h := &Hearing{}
	for _, l := range all {
		if l.Final == 0 {
			l.Final = 3 * time.Second
		}
		h.all = append(h.all, &listener{Listener: l})
	}
	for _, name := range order {
		if l := h.named(name); l != nil {
			h.order = append(h.order, l)
		}
	}
	if local != nil {
		h.local = &listener{Listener: Listener{Name: LocalRecognizer, Recogniser: local, Final: 6 * time.Second}}
	}
	return h
}

func (h *Hearing) named(name string) *listener {
	for _, l := range h.all {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Listens says whether there is a recogniser of the name.
func (h *Hearing) Listens(engine string) bool {
	return engine == "" || engine == LocalRecognizer && h.local != nil || h.named(engine) != nil
}

// Hears says whether any of them understands a language.
func (h *Hearing) Hears(language string) bool {
	return slices.ContainsFunc(h.order, func(l *listener) bool { return l.Recogniser.Hears(language) }) || h.local != nil && h.local.Recogniser.Hears(language)
}

// Transcribes says whether any of those that are tried unless one is named understands whatever is said.
func (h *Hearing) Transcribes(language string) bool {
	return slices.ContainsFunc(h.order, func(l *listener) bool { return l.Recogniser.Transcribes(language) })
}

// For are the ears of somebody who names an engine, where there are several; else the same ones.
func For(ears Recogniser, engine string) Recogniser {
	if h, ok := ears.(*Hearing); ok {
		return h.For(engine)
	}
	return ears
}

// For are the ears of somebody who names one of them, before the others.
func (h *Hearing) For(engine string) Recogniser { return named{h, engine} }

// named is a Hearing of which one engine was named.
type named struct {
	*Hearing
	engine string
}

// Hears says whether any of those that are tried understands a language.
func (n named) Hears(language string) bool {
	return slices.ContainsFunc(n.chain(n.engine), func(l *listener) bool { return l.Recogniser.Hears(language) })
}

// Transcribes says whether any of them understands whatever is said.
func (n named) Transcribes(language string) bool {
	return slices.ContainsFunc(n.chain(n.engine), func(l *listener) bool { return l.Recogniser.Transcribes(language) })
}

// Open begins a turn.
func (n named) Open(w Wanted, told func(Heard)) Stream {
	w.Engine = n.engine
	return n.Hearing.Open(w, told)
}

// chain are the recognisers of a request, the machine's own last.
func (h *Hearing) chain(engine string) []*listener {
	var all []*listener
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

// Open begins a turn with the first recogniser that is well.
func (h *Hearing) Open(w Wanted, told func(Heard)) Stream {
	t := &hearingTurn{wanted: w, told: told}
	now := time.Now()
	for _, l := range h.chain(w.Engine) {
		if l.Recogniser.Hears(w.Language) {
			t.tries = append(t.tries, l)
		}
	}
	if well := slices.DeleteFunc(slices.Clone(t.tries), func(l *listener) bool { return l.rests(now) }); len(well) > 0 {
		t.tries = well
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next(nil)
	return t
}

// errNoRecognizer says that no recogniser knows the language.
var errNoRecognizer = errors.New("speech: nobody understands the language")

// hearingTurn is a turn that more than one recogniser may hear.
type hearingTurn struct {
	mu     sync.Mutex
	wanted Wanted
	told   func(Heard)
	tries  []*listener
	at     int // how many were tried
	stream Stream
	sound  []byte
	ended  bool
	over   bool
	timer  *time.Timer
	faults []Fault
}

// next hands the turn to the next recogniser; err is why the one before failed. The lock is held.
func (t *hearingTurn) next(err error) {
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.at >= len(t.tries) {
		if err == nil {
			err = errNoRecognizer
		}
		t.over = true
		go t.told(Heard{Final: true, Err: err, Faults: t.faults})
		return
	}
	l := t.tries[t.at]
	t.at++
	w, at := t.wanted, t.at
	if w.Engine != l.Name {
		w.Model = ""
	}
	w.Engine = l.Name
	t.stream = l.Recogniser.Open(w, func(heard Heard) { t.takeResult(at, heard) })
	if len(t.sound) > 0 {
		t.stream.Write(t.sound)
	}
	if t.ended {
		t.end()
	}
}

// end ends the turn for the recogniser that hears it, and limits its time. The lock is held.
func (t *hearingTurn) end() {
	at := t.at
	t.timer = time.AfterFunc(t.tries[at-1].Final, func() { t.takeResult(at, Heard{Final: true, Err: ErrUnheard}) })
	t.stream.End()
}

// takeResult takes what a recogniser tells; of one that was given up it is too late.
func (t *hearingTurn) takeResult(at int, takeResult Heard) {
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
			takeResult.Faults = t.faults
		}
		t.mu.Unlock()
		t.told(takeResult)
		return
	}
	defer t.mu.Unlock()
	l := t.tries[at-1]
	l.failed(takeResult.Err, time.Now())
	t.faults = append(t.faults, Fault{Engine: l.Name, Err: fmt.Errorf("%s: %w", l.Name, takeResult.Err), Recovered: at < len(t.tries)})
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
