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
	Respond(ctx context.Context, t ModelRequest, sentence func(text string, first time.Duration)) ModelResponse
	// Act calls the tool of a node, or one that the model at the node has called.
	CallTool(ctx context.Context, s *domain.Script, a pathway.Act) ToolResult
	// AgentScript returns the script of another agent.
	AgentScript(ctx context.Context, id string) (domain.Script, error)
}

// TranscriptWatcher is an AgentRuntime that follows the transcript: it gets each segment when it begins, and again whenever it changes. It must
// not block.
type TranscriptWatcher interface {
	SegmentChanged(s domain.Segment)
}

// RealtimeRuntime is an AgentRuntime that can hand the caller to a realtime engine, which hears and speaks by itself.
type RealtimeRuntime interface {
	AgentRuntime
	// Live opens a session of a realtime engine. told gets its events, also before Live has returned, and never after Close.
	OpenRealtime(ctx context.Context, s *domain.Script, brief string, d pathway.Live, told func(speech.RealtimeEvent)) (RealtimeConnection, error)
	// Instead says whether a model, a voice and a recognizer can take over where the engine fails.
	CanReplaceRealtime(s *domain.Script) bool
}

// RealtimeConnection is a session of a realtime engine.
type RealtimeConnection struct {
	speech.RealtimeSession
	Engine    string            // its name
	AudioOnly bool              // it reports no turns and words, and cuts its own audio
	Tools     map[string]string // ids of tools by the names that the engine has for them
}

// ModelRequest is a request to a language model.
type ModelRequest struct {
	Script     *domain.Script // of the agent that asks
	Brief      string         // the system prompt
	Step       pathway.Think
	OnPassages func(from []domain.Passage) // called before the first sentence with the passages of the knowledge bases
}

// ModelResponse is the model's. Failed is "" or the code of why there is none.
type ModelResponse struct {
	Calls     []pathway.Called
	Failed    string
	Message   string  // Failed in words
	Failovers []Fault // engines in whose place another one answered
}

// ToolResult is that of a tool. Text is JSON or words.
type ToolResult struct {
	OK   bool
	Text string
}

// ActionPerformed reports to the call what was done for the caller.
type ActionPerformed struct {
	Action    string
	Arguments json.RawMessage // an object
	Result    json.RawMessage // an object
	Duration  time.Duration
	// Appointment is the change of an appointment, as it was and not as it may be kept.
	Appointment booking.Act
}

// IntentRecognized reports to the call what the caller wants.
type IntentRecognized struct {
	Name       string
	Confidence float64
	Entities   map[string]string
}

// AgentHandedOver reports to the call that another agent speaks now.
type AgentHandedOver struct {
	AgentID, PathwayID, From string
	Version                  int
}

// Control: all of these are bound by the call.
func (ActionPerformed) Control()  {}
func (IntentRecognized) Control() {}
func (AgentHandedOver) Control()  {}
