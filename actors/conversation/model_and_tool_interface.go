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

// AgentRuntime sends requests to language models and calls tools. Its methods may be called from any goroutine and
// return early when their context ends.
type AgentRuntime interface {
	// Respond sends a request to the language model. It calls sentence for each complete sentence of the response. The
	// argument first is the time to the first token.
	Respond(ctx context.Context, t ModelRequest, sentence func(text string, first time.Duration)) ModelResponse
	// CallTool calls a tool that the pathway node names or that the language model requested at that node.
	CallTool(ctx context.Context, s *domain.Script, a pathway.ActionRequest) ToolResult
	// AgentScript returns the script of another agent, which takes over the conversation.
	AgentScript(ctx context.Context, id string) (domain.Script, error)
}

// TranscriptWatcher is an optional interface of an AgentRuntime that follows the transcript. SegmentChanged is called when
// a segment begins and whenever it changes. It must not block.
type TranscriptWatcher interface {
	SegmentChanged(s domain.Segment)
}

// RealtimeRuntime is an AgentRuntime that can connect the caller to a realtime (speech-to-speech) engine.
type RealtimeRuntime interface {
	AgentRuntime
	// OpenRealtime opens a session of a realtime engine. onEvent receives the events of the session, possibly before
	// OpenRealtime returns, but never after Close.
	OpenRealtime(ctx context.Context, s *domain.Script, brief string, d pathway.StartRealtime, onEvent func(speech.RealtimeEvent)) (RealtimeConnection, error)
	// CanReplaceRealtime reports whether a language model with speech engines can take over if the realtime engine
	// fails.
	CanReplaceRealtime(s *domain.Script) bool
}

// RealtimeConnection is an open session of a realtime engine.
type RealtimeConnection struct {
	speech.RealtimeSession
	Engine    string            // name of the engine
	AudioOnly bool              // the engine reports neither turns nor text and interrupts its own audio
	Tools     map[string]string // tool IDs by the engine's names of the tools
}

// ModelRequest is a request to a language model.
type ModelRequest struct {
	Script     *domain.Script // script of the requesting agent
	Brief      string         // system prompt
	Step       pathway.ModelRequest
	OnPassages func(from []domain.Passage) // called before the first sentence with the passages of the knowledge bases
}

// ModelResponse is sent after the last sentence of a model's response. Failed is "" or an error code.
type ModelResponse struct {
	Calls     []pathway.ToolCall
	Failed    string
	Message   string  // description of Failed
	Failovers []Fault // engines that failed and were replaced by others
}

// ToolResult is the result of a tool call. Text is JSON or plain text. Name is the name of the workspace's tool, or "" for
// other actions.
type ToolResult struct {
	OK   bool
	Text string
	Name string
}

// ActionPerformed reports to the call actor that the agent has performed an action.
type ActionPerformed struct {
	Action    string
	Arguments json.RawMessage // JSON object
	Result    json.RawMessage // JSON object
	Duration  time.Duration
	// Appointment is the change of an appointment in the calendar, without redaction.
	Appointment booking.AppointmentAction
}

// IntentRecognized reports to the call actor which intent was recognized in the caller's words.
type IntentRecognized struct {
	Name       string
	Confidence float64
	Entities   map[string]string
}

// AgentHandedOver reports to the call actor that another agent has taken over the conversation.
type AgentHandedOver struct {
	AgentID, PathwayID, From string
	Version                  int
}

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (ActionPerformed) Control()  {}
func (IntentRecognized) Control() {}
func (AgentHandedOver) Control()  {}
