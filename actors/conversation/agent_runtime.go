package conversation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// AgentRuntime is the agent runtime: it asks language models and calls tools. Its methods may be called from any goroutine; they end
// early with their context.
type AgentRuntime interface {
	// Think asks the model, and hands over each sentence as soon as it is complete. first is how long the first piece of the
	// answer took.
	Think(ctx context.Context, t Thought, sentence func(text string, first time.Duration)) Answer
	// Act calls the tool of a node, or one that the model at the node has called.
	Act(ctx context.Context, s *domain.Script, a pathway.Act) Result
	// AgentScript returns the script of another agent.
	AgentScript(ctx context.Context, id string) (domain.Script, error)
}

// Watcher is an AgentRuntime that follows the transcript: it gets each segment when it begins, and again whenever it changes. It must
// not block.
type Watcher interface {
	Wrote(s domain.Segment)
}

// RealtimeRuntime is an AgentRuntime that can hand the caller to a realtime engine, which hears and speaks by itself.
type RealtimeRuntime interface {
	AgentRuntime
	// Live opens a session of a realtime engine. told gets its events, also before Live has returned, and never after Close.
	Live(ctx context.Context, s *domain.Script, brief string, d pathway.Live, told func(speech.LiveEvent)) (LiveTalk, error)
	// Instead says whether a model, a voice and a recognizer can take over where the engine fails.
	Instead(s *domain.Script) bool
}

// LiveTalk is a session of a realtime engine.
type LiveTalk struct {
	speech.Live
	Engine string            // its name
	Alone  bool              // it reports no turns and words, and cuts its own audio
	Tools  map[string]string // ids of tools by the names that the engine has for them
}

// Thought is a request to a language model.
type Thought struct {
	Script *domain.Script // of the agent that asks
	Brief  string         // the system prompt
	Ask    pathway.Think
	Read   func(from []domain.Passage) // called before the first sentence with the passages of the knowledge bases
}

// Answer is the model's. Failed is "" or the code of why there is none.
type Answer struct {
	Calls   []pathway.Called
	Failed  string
	Message string  // Failed in words
	Lost    []Fault // engines in whose place another one answered
}

// Result is that of a tool. Text is JSON or words.
type Result struct {
	OK   bool
	Text string
}

// Acted reports to the call what was done for the caller.
type Acted struct {
	Action    string
	Arguments json.RawMessage // an object
	Result    json.RawMessage // an object
	Took      time.Duration
	// Appointment is the change of an appointment, as it was and not as it may be kept.
	Appointment booking.Act
}

// Intent reports to the call what the caller wants.
type Intent struct {
	Name       string
	Confidence float64
	Entities   map[string]string
}

// HandedOver reports to the call that another agent speaks now.
type HandedOver struct {
	AgentID, PathwayID, From string
	Version                  int
}

// Control: all of these are bound by the call.
func (Acted) Control()      {}
func (Intent) Control()     {}
func (HandedOver) Control() {}
