// Package agentruntime makes agents respond and act in calls and chats. It connects them with language models,
// realtime engines, tools, SMS and appointments.
package agentruntime

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/service/record"
)

// languageModels sends requests to language models.
type languageModels interface {
	// Ask sends a request to engines in order until one answers. It calls lost with the fault of each engine that fails.
	Ask(ctx context.Context, engines []llm.Engine, r llm.Request, sentence func(text string, first time.Duration), lost func(*llm.Fault)) (llm.Answer, error)
}

// toolClient calls HTTP and MCP tools of a workspace.
type toolClient interface {
	Call(ctx context.Context, t *domain.Tool, arguments map[string]any) (string, error)
}

// appointments books and finds appointments.
type appointments interface {
	Book(ctx context.Context, p domain.Principal, o booking.NewAppointment) (*domain.Appointment, error)
	Appointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error)
	Availability(ctx context.Context, p domain.Principal, q booking.AvailabilityQuery) (booking.Availability, error)
}

// appointmentChanges changes appointments.
type appointmentChanges interface {
	ConfirmAppointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error)
	CancelAppointment(ctx context.Context, p domain.Principal, id, reason string) (*domain.Appointment, error)
	RescheduleAppointment(ctx context.Context, p domain.Principal, id string, to booking.Reschedule) (*domain.Appointment, error)
}

// Config holds the dependencies of a Service.
type Config struct {
	Store         commit.Store
	Models        llm.Models
	Client        languageModels
	Realtime      *speech.RealtimeEngines // nil: no realtime engine
	Speaker       speech.Synthesizer
	Recognizer    speech.Recognizer // nil: no speech recognition
	Tools         toolClient
	HTTP          *http.Client // client for on_inbound requests
	Appointments  appointments
	Changes       appointmentChanges
	TraceContexts *tracing.SpanContexts
	Log           *slog.Logger
	// Engines returns the capabilities of the engines that a script selects.
	Engines func(*domain.Script) pathway.Capabilities
	// Script returns the script of an agent or pathway: the conversation of its calls.
	Script func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	// Retrieve returns passages of knowledge bases that match a query.
	Retrieve func(ctx context.Context, p domain.Principal, ids []string, query string) (string, []domain.Passage)
	SendSMS  func(ctx context.Context, p domain.Principal, o domain.NewMessage) (*domain.Message, error)
	// Watch returns the function that receives the live transcript of a call, or nil if nobody follows the transcript.
	Watch func(callID string) func(domain.Segment)
}

// tool returns a tool of the workspace. Errors: not_found.
func (c *Config) tool(ctx context.Context, p domain.Principal, id string) (*domain.Tool, error) {
	t, _, err := record.Get[domain.Tool](ctx, c.Store, p, domain.PrefixTool, id)
	return t, err
}

// Service makes the runtimes of calls and chats.
type Service struct{ cfg Config }

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// ForCall returns the runtime of a call.
func (s *Service) ForCall(c domain.Call) conversation.AgentRuntime {
	a := &Runtime{cfg: &s.cfg, p: domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}, call: c}
	if wrote := s.cfg.Watch(c.ID); wrote != nil {
		return &watchedRuntime{Runtime: a, wrote: wrote}
	}
	return a
}

// ForMessages returns the runtime of an SMS conversation, which is represented by the call c. from is the number that
// the agent sends messages from.
func (s *Service) ForMessages(p domain.Principal, c domain.Call, from string) conversation.AgentRuntime {
	return &Runtime{cfg: &s.cfg, p: p, call: c, from: from}
}
