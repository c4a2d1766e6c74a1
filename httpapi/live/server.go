// Package live serves connections that stay open: the event stream, and the WebSockets for listening to calls and for
// calls from a browser. It also issues the tickets with which a browser opens these connections.
package live

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/events"
)

// Services are the services that the handlers of open connections call.
type Services struct {
	Calls        Calls
	Agents       Agents
	CallAudio    CallAudio
	BrowserCalls BrowserCalls
	Events       Events
}

// Calls reads calls.
type Calls interface {
	Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
}

// Agents reads agents.
type Agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
}

// Events reads the event log.
type Events interface {
	// FollowEvents returns a function next that reads events of the principal's environment after q.After. q.After may be
	// events.FromNow. next returns at most a hundred events. Without new events it waits until its ctx ends and returns
	// none. It returns io.EOF if no event will follow. next is for one goroutine and needs no close.
	FollowEvents(ctx context.Context, p domain.Principal, q events.Query) (next func(ctx context.Context) ([]event.Event, error), err error)
}

// Config configures a Server. All fields are required.
type Config struct {
	Access       *middleware.Access
	Heartbeat    time.Duration // time between two heartbeats on an event stream
	EventStreams int           // concurrent event streams per workspace
	Services     Services
}

// Server serves event streams, WebSockets and tickets.
type Server struct {
	*router.Router

	access       *middleware.Access
	calls        Calls
	agents       Agents
	audio        CallAudio
	browserCalls BrowserCalls
	events       Events
	heartbeat    time.Duration
	maxStreams   int
	streams      limit.Concurrent // event streams by workspace
	tickets      ticketStore
	life         func() context.Context // returns the context of open connections
}

// Register registers the routes of event streams, WebSockets and tickets. Open connections end when life ends.
func Register(life context.Context, r *router.Router, cfg Config) {
	s := &Server{
		Router: r, access: cfg.Access, heartbeat: cfg.Heartbeat, maxStreams: cfg.EventStreams, life: func() context.Context { return life },
		calls: cfg.Services.Calls, agents: cfg.Services.Agents, audio: cfg.Services.CallAudio, browserCalls: cfg.Services.BrowserCalls, events: cfg.Services.Events,
	}
	s.registerEventStream()
	s.registerListen()
	s.registerBrowserCall()
	s.registerTalkPage()
	s.registerTickets()
}
