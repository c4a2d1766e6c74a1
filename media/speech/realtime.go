package speech

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/media"
)

// RealtimeRequest tells an engine that hears and speaks by itself what a
// conversation is about.
type RealtimeRequest struct {
	Model         string // "": the engine's default
	Voice         string // likewise
	Language      string // as BCP 47 writes it
	Instructions  string // its part
	History       []RealtimeHistoryEntry
	Tools         []RealtimeTool
	Keywords      []string      // that are likely to be said
	EndOfTurn     time.Duration // so much silence ends the caller's turn; zero: the engine's default
	Interruptible bool          // words of the caller cut its own
	SpeaksFirst   bool          // it has the word
	// About is what is told of the call to an engine of somebody's own, by name:
	// call_id, workspace_id, and more.
	CallParameters map[string]string
}

// RealtimeHistoryEntry is something that was said before, or done.
type RealtimeHistoryEntry struct {
	Caller bool
	Text   string
	Call   *RealtimeToolCall // what was done, Text being its result; nil: it was said
}

// RealtimeTool is something that the engine may want done.
type RealtimeTool struct {
	Name, Description string
	Parameters        map[string]any // JSON Schema
}

// RealtimeToolCall is something that it wants done. Arguments are a stranger's.
type RealtimeToolCall struct{ ID, Name, Arguments string }

// RealtimeEventKind is what a LiveEvent tells.
type RealtimeEventKind uint8

// The kinds of events. Item names what was said or heard.
const (
	RealtimeReady            RealtimeEventKind = iota + 1 // it hears
	RealtimeSpeechStarted                                 // the caller begins to speak: Item
	RealtimeSpeechEnded                                   // and stops
	RealtimeCallerTranscript                              // what he said: Item, Text
	RealtimeAudioStarted                                  // it speaks: Item, and Feed with what is there of it so far
	RealtimeAgentTranscript                               // what it says: Item, and Text so far
	RealtimeResponseDone                                  // its answer is over, but for the sound: Calls
	RealtimeFailed                                        // it is gone: Err. Nothing follows
	RealtimeIdle                                          // it says nothing more for now, though it was no answer of which there are only so many
	RealtimeAudioCleared                                  // what was not heard yet of all that it says is taken back
	RealtimeEnded                                         // it has no more to do with the caller, once he has heard what it says. Nothing follows
)

// RealtimeEvent is something that such an engine tells.
type RealtimeEvent struct {
	Kind  RealtimeEventKind
	Item  string
	Text  string
	Feed  *media.Feed
	Calls []RealtimeToolCall
	Err   error
}

// RealtimeSession is a conversation with such an engine. Its methods return at once and
// may be called from any goroutine; Write may be called from the media clock.
type RealtimeSession interface {
	Stream
	// Answer has it speak; text, where there is any, is told it as the caller's.
	Answer(text string)
	// Result tells how a LiveCall ended.
	Result(id, text string)
	// Cut tells that no more of an item was heard than this.
	Cut(item string, heard time.Duration)
	// Key tells that the caller has pressed one.
	Key(key byte)
}

// RealtimeEngine opens conversations. told is never called from within Open, a
// method of the Live, or twice at once.
type RealtimeEngine interface {
	Live(o RealtimeRequest, told func(RealtimeEvent)) RealtimeSession
}

// NamedRealtimeEngine is such an engine with a name.
type NamedRealtimeEngine struct {
	Name   string
	Engine RealtimeEngine
	// Alone: it finds the caller's turns and interruptions by itself and tells
	// nothing of them, nor of words.
	IsMediaStream bool
}

// RealtimeEngines are the engines of an installation that hear and speak by themselves.
type RealtimeEngines struct {
	all   []*realtimeEngineEntry
	order []string
}

type realtimeEngineEntry struct {
	NamedRealtimeEngine
	health
}

// NewRealtimeEngines takes them; order names those that serve whoever names none.
func NewRealtimeEngines(all []NamedRealtimeEngine, order []string) *RealtimeEngines {
	l := &RealtimeEngines{order: order}
	for _, s := range all {
		l.all = append(l.all, &realtimeEngineEntry{NamedRealtimeEngine: s})
	}
	return l
}

// HasEngine says whether there is an engine of the name, or any where it is "".
func (l *RealtimeEngines) HasEngine(name string) bool { return l != nil && len(l.chain(name)) > 0 }

// HasMediaStream says whether an engine that tells nothing of words may have the caller
// of whoever names this one.
func (l *RealtimeEngines) HasMediaStream(name string) bool {
	return l != nil && slices.ContainsFunc(l.chain(name), func(s *realtimeEngineEntry) bool { return s.IsMediaStream })
}

// chain are the engines for a name.
func (l *RealtimeEngines) chain(name string) (all []*realtimeEngineEntry) {
	names := l.order
	if name != "" {
		names = []string{name}
	}
	for _, n := range names {
		if i := slices.IndexFunc(l.all, func(s *realtimeEngineEntry) bool { return s.Name == n }); i >= 0 {
			all = append(all, l.all[i])
		}
	}
	return all
}

// ErrResting says that the engine has failed so often of late that it is left alone.
var ErrEngineSuspended = errors.New("speech: the engine has failed too often, and rests")

// Open begins a conversation with the first engine for a name that is well, and
// says which it is.
func (l *RealtimeEngines) Open(name string, o RealtimeRequest, told func(RealtimeEvent)) (RealtimeSession, NamedRealtimeEngine, error) {
	all := l.chain(name)
	if len(all) == 0 {
		return nil, NamedRealtimeEngine{Name: name}, fmt.Errorf("speech: there is no engine %q", name)
	}
	now := time.Now()
	i := slices.IndexFunc(all, func(s *realtimeEngineEntry) bool { return !s.rests(now) })
	if i < 0 {
		return nil, all[0].NamedRealtimeEngine, ErrEngineSuspended
	}
	s := all[i]
	if i > 0 { // they are names of the first one's
		o.Model, o.Voice = "", ""
	}
	return s.Engine.Live(o, func(e RealtimeEvent) {
		switch e.Kind { //nolint:exhaustive // the others tell nothing of its health
		case RealtimeReady:
			s.well()
		case RealtimeFailed:
			if s.IsMediaStream { // nothing of an agent's choice is in what it is asked for
				s.ill(time.Now())
			} else {
				s.failed(e.Err, time.Now())
			}
		}
		told(e)
	}), s.NamedRealtimeEngine, nil
}
