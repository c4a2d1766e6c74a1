// Package live serves connections that stay open: the event stream, and the WebSockets of listeners and of calls
// from a browser. It also issues the tickets that open them.
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

// Services are the services that open connections use.
type Services struct {
	Calls        Calls
	Agents       Agents
	CallAudio    CallAudio
	BrowserCalls BrowserCalls
	Events       Events
}

// Calls finds calls.
type Calls interface {
	Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
}

// Agents finds agents.
type Agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
}

// Events follows the event log.
type Events interface {
	// FollowEvents returns a function that reads events of the principal's environment after q.After, which may be
	// events.FromNow. next returns at most a hundred following events. Without new events next waits until its ctx
	// ends and returns none. io.EOF means that no event will follow. next has one reader, buffers a bounded number
	// of events and needs no close.
	FollowEvents(ctx context.Context, p domain.Principal, q events.Query) (next func(ctx context.Context) ([]event.Event, error), err error)
}

// Config configures a Server. All fields are required.
type Config struct {
	Access       *middleware.Access
	Heartbeat    time.Duration // time between two heartbeats on an event stream
	EventStreams int           // concurrent event streams per workspace
	Services     Services
}

// Server serves open connections.
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

// Register registers the routes of open connections. The connections end with life.
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
