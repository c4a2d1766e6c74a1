package speech

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/media"
)

// RealtimeRequest configures a conversation with a realtime engine, which receives and returns audio.
type RealtimeRequest struct {
	Model         string // "": the engine's default
	Voice         string // "": the engine's default
	Language      string // BCP 47 tag
	Instructions  string // system prompt
	History       []RealtimeHistoryEntry
	Tools         []RealtimeTool
	Keywords      []string      // words that the caller is likely to say
	EndOfTurn     time.Duration // silence that ends the caller's turn; 0: the engine's default
	Interruptible bool          // the caller's speech interrupts the engine
	SpeaksFirst   bool          // the engine speaks first
	// CallParameters describe the call to a media stream server. The keys are names such as call_id and workspace_id.
	CallParameters map[string]string
}

// RealtimeHistoryEntry is an earlier utterance or tool call of the conversation.
type RealtimeHistoryEntry struct {
	Caller bool
	Text   string
	Call   *RealtimeToolCall // tool call whose result is Text; nil: an utterance
}

// RealtimeTool is a tool that the engine may call.
type RealtimeTool struct {
	Name, Description string
	Parameters        map[string]any // JSON Schema
}

// RealtimeToolCall is a tool call of the engine. Arguments are untrusted.
type RealtimeToolCall struct{ ID, Name, Arguments string }

// RealtimeEventKind is the kind of a RealtimeEvent.
type RealtimeEventKind uint8

// Kinds of events. The parentheses contain the fields of RealtimeEvent that the kind sets.
const (
	RealtimeReady            RealtimeEventKind = iota + 1 // the session is ready
	RealtimeSpeechStarted                                 // the caller begins to speak (Item)
	RealtimeSpeechEnded                                   // the caller stops speaking
	RealtimeCallerTranscript                              // transcript of the caller's turn (Item, Text)
	RealtimeAudioStarted                                  // the engine begins to speak (Item, Feed)
	RealtimeAgentTranscript                               // transcript so far of the engine's speech (Item, Text)
	RealtimeResponseDone                                  // the response is complete except for audio that is still playing (Calls)
	RealtimeFailed                                        // the session failed (Err); the last event
	RealtimeIdle                                          // the engine is silent for now; this does not count as a response
	RealtimeAudioCleared                                  // audio that has not been played yet is discarded
	RealtimeEnded                                         // the engine releases the caller after the remaining audio; the last event
)

// RealtimeEvent is an event of a realtime session.
type RealtimeEvent struct {
	Kind  RealtimeEventKind
	Item  string
	Text  string
	Feed  *media.Feed
	Calls []RealtimeToolCall
	Err   error
}

// RealtimeSession is a conversation with a realtime engine. Its methods return at once and may be called from any
// goroutine. The media clock may call Write.
type RealtimeSession interface {
	Stream
	// RequestResponse asks the engine to speak. A text that is not empty is first added as words of the caller.
	RequestResponse(text string)
	// SendToolResult sends the result of the tool call with this id.
	SendToolResult(id, text string)
	// ReportPlayed reports how much audio of an interrupted item was played. item is the Item of its RealtimeEvent.
	ReportPlayed(item string, heard time.Duration)
	// SendKey reports a DTMF key that the caller pressed.
	SendKey(key byte)
}

// RealtimeEngine opens sessions. The engine never calls told concurrently, nor from within OpenSession or a method of
// the session.
type RealtimeEngine interface {
	OpenSession(o RealtimeRequest, told func(RealtimeEvent)) RealtimeSession
}

// NamedRealtimeEngine is a realtime engine with the name by which agents select it.
type NamedRealtimeEngine struct {
	Name   string
	Engine RealtimeEngine
	// IsMediaStream says that the engine is a media stream server. It detects turns and interruptions itself, and reports
	// neither these nor transcripts.
	IsMediaStream bool
}

// RealtimeEngines are the realtime engines of the installation.
type RealtimeEngines struct {
	all   []*realtimeEngineEntry
	order []string
}

type realtimeEngineEntry struct {
	NamedRealtimeEngine
	health
}

// NewRealtimeEngines returns the engines. order lists the names of the engines that serve agents without a choice.
func NewRealtimeEngines(all []NamedRealtimeEngine, order []string) *RealtimeEngines {
	l := &RealtimeEngines{order: order}
	for _, s := range all {
		l.all = append(l.all, &realtimeEngineEntry{NamedRealtimeEngine: s})
	}
	return l
}

// HasEngine reports whether an engine with this name exists. With an empty name, it reports whether order has any.
func (l *RealtimeEngines) HasEngine(name string) bool { return l != nil && len(l.chain(name)) > 0 }

// HasMediaStream reports whether a media stream server is among the engines for the name.
func (l *RealtimeEngines) HasMediaStream(name string) bool {
	return l != nil && slices.ContainsFunc(l.chain(name), func(s *realtimeEngineEntry) bool { return s.IsMediaStream })
}

// chain returns the engines to try, in this order: the named engine only, or the default engines for an empty name.
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

// ErrEngineSuspended says that an engine is not used for a while after repeated failures.
var ErrEngineSuspended = errors.New("speech: the engine is suspended after repeated failures")

// Open starts a session with the first engine that chain returns for the name and that is not suspended. It also
// returns that engine.
func (l *RealtimeEngines) Open(name string, o RealtimeRequest, told func(RealtimeEvent)) (RealtimeSession, NamedRealtimeEngine, error) {
	all := l.chain(name)
	if len(all) == 0 {
		return nil, NamedRealtimeEngine{Name: name}, fmt.Errorf("speech: there is no engine %q", name)
	}
	now := time.Now()
	i := slices.IndexFunc(all, func(s *realtimeEngineEntry) bool { return !s.isSuspended(now) })
	if i < 0 {
		return nil, all[0].NamedRealtimeEngine, ErrEngineSuspended
	}
	s := all[i]
	if i > 0 { // model and voice belong to the first engine
		o.Model, o.Voice = "", ""
	}
	return s.Engine.OpenSession(o, func(e RealtimeEvent) {
		switch e.Kind { //nolint:exhaustive // the others tell nothing of its health
		case RealtimeReady:
			s.recordSuccess()
		case RealtimeFailed:
			if s.IsMediaStream { // its requests contain no choices of the agent, so the server causes every failure
				s.countFailure(time.Now())
			} else {
				s.recordFailure(e.Err, time.Now())
			}
		}
		told(e)
	}), s.NamedRealtimeEngine, nil
}
