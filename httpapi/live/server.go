// Package live serves connections that stay open: the stream of events, and the
// WebSockets of listeners and of callers, with the tickets that open them.
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

// Services are the use cases of open connections.
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
	// FollowEvents reads events of the principal's environment after q.After, which may be
	// events.FromNow, and goes on with new ones. next returns the following events, at most
	// a hundred. Without new events it waits until its ctx ends and returns none. io.EOF: no
	// event will follow. next has one reader, buffers a bounded number of events, and needs
	// no close.
	FollowEvents(ctx context.Context, p domain.Principal, q events.Query) (next func(ctx context.Context) ([]event.Event, error), err error)
}

// Config sets a Server up. All fields are required.
type Config struct {
	Access       *middleware.Access
	Heartbeat    time.Duration // between two signs of life on a stream of events
	EventStreams int           // open at a time, of one workspace
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
	streams      limit.Concurrent // of events, by workspace
	tickets      ticketStore
	life         func() context.Context // of open connections
}

// Register registers the routes of open connections, which end with life.
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
