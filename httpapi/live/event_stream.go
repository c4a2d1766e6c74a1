package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/events"
	eventsservice "github.com/callboard/callboard/service/events"
)

const (
	mimeEvents    = "text/event-stream"
	lastEventID   = "Last-Event-ID"
	maxStreamPart = 4 << 10 // bytes per write
)

// registerEventStream registers the route that streams events.
func (s *Server) registerEventStream() {
	text := func(about string) *huma.Param {
		return &huma.Param{In: "query", Description: about, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: "/v1/events/stream", ID: "streamEvents", Stream: true, Tag: "Events", Summary: "Stream events",
		Description: "Server-sent events (EventSource) in the order of commits, each with its id and an Event in one line as data. The stream starts after " +
			"Last-Event-ID or after. Without either it starts with the oldest stored event, with after=now at the next event. A comment every 15 seconds shows " +
			"that the connection works. A slow client, and a client that reconnects with the last id, loses no event. The stream ends with its credential, " +
			"and when the service stops; reconnect then. It contains only events of resources that the credential may read. A workspace may have 100 open streams. Browsers use a ticket, and a new one for each connection.",
		Errors: []int{http.StatusGone, http.StatusUnprocessableEntity},
	}, s.admitWithTicket, func(h *huma.Operation) {
		for name, p := range map[string]*huma.Param{
			"after":     text("The id of the last event seen, or now."),
			"type":      text("Event types, or categories such as call.*, separated by commas."),
			ticketParam: text("Ticket in place of a credential."),
		} {
			p.Name = name
			h.Parameters = append(h.Parameters, p)
		}
		slices.SortFunc(h.Parameters, func(a, b *huma.Param) int { return cmp.Compare(a.Name, b.Name) })
		h.Parameters = append(h.Parameters, &huma.Param{
			Name: lastEventID, In: "header", Description: "The same as after, and overrides it. Browsers send it when they reconnect.", Schema: &huma.Schema{Type: huma.TypeString},
		})
		h.Security = append(h.Security, map[string][]string{})
		h.Responses["200"] = router.DescribeResponse("The events.", mimeEvents, &huma.Schema{Type: huma.TypeString, Examples: []any{"id: evt_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0\ndata: {\"id\":\"evt_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0Q0\",\"type\":\"call.ended\",…}\n\n"}})
	}, s.streamEvents)
}

// streamEvents starts an event stream. The stream continues after the handler has returned.
func (s *Server) streamEvents(c *fiber.Ctx) error {
	v := *router.RequestOf(c.UserContext()) // a copy: the handler chain still uses the original
	from := cmp.Or(c.Get(lastEventID), c.Query("after"))
	after := from
	if from == eventsservice.FromNow {
		after = ""
	}
	q, err := events.EventQuery(v.Principal, after, c.Query("type"))
	if err != nil {
		return err
	}
	q.After = from
	next := waitWithoutEvents
	if len(q.Types) > 0 {
		next, err = s.events.FollowEvents(c.UserContext(), v.Principal, q)
	}
	if err != nil {
		return err
	}
	leave, ok := s.streams.Acquire(v.Principal.WorkspaceID, s.maxStreams)
	if !ok {
		return domain.Errorf(domain.CodeRateLimit, "The workspace has %d open event streams, which is the maximum.", s.maxStreams).
			With("limit", s.maxStreams).With("retry_after", 1)
	}
	if err = s.access.Origins.AllowResponse(c, v.Principal); err != nil {
		leave()
		return err
	}
	c.Set(fiber.HeaderContentType, mimeEvents)
	c.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the events
	conn := c.Context().Conn()
	c.Context().SetConnectionClose() // watchClient reads from the connection, so no request may follow
	ctx, cancel := context.WithCancel(router.WithRequest(s.life(), &v))
	stream := &eventStream{access: s.access, heartbeat: s.heartbeat, request: &v, next: next}
	s.Stream(ctx, c, func() { cancel(); leave() }, func(w io.Writer) error {
		go watchClient(conn, cancel)
		return stream.serve(ctx, w)
	})
	return nil
}

// waitWithoutEvents replaces the event source for a credential that may read none of the requested events. It waits
// until ctx ends and returns no events.
func waitWithoutEvents(ctx context.Context) ([]event.Event, error) {
	<-ctx.Done()
	return nil, nil
}

// watchClient reads from the connection and calls closed when the client has closed it. The server must not read
// another request from the connection afterwards.
func watchClient(conn net.Conn, closed func()) {
	defer closed()
	if conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	var b [256]byte
	for {
		if _, err := conn.Read(b[:]); err != nil {
			return
		}
	}
}

// eventStream sends events to one client.
type eventStream struct {
	access    *middleware.Access
	heartbeat time.Duration
	request   *router.Request // the request that opened the stream
	next      func(context.Context) ([]event.Event, error)
	out       bytes.Buffer
}

// serve writes events until the client disconnects, the credential becomes invalid or the service stops.
func (s *eventStream) serve(ctx context.Context, w io.Writer) error {
	s.out.WriteString("retry: 2000\n\n")
	if err := s.flush(w); err != nil {
		return nil //nolint:nilerr // the client has closed the connection
	}
	every := s.heartbeat
	for beat := time.Now().Add(every); ctx.Err() == nil; {
		wait, cancel := context.WithTimeout(ctx, min(middleware.CredentialCheckInterval, max(time.Until(beat), 0)))
		events, err := s.next(wait)
		cancel()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil || !s.access.IsCredentialValid(ctx, s.request): // the credential is checked before each batch of events
			return nil //nolint:nilerr // ends the response normally
		}
		for i := range events {
			if err = s.writeEvent(&events[i]); err != nil {
				return err
			}
			if s.out.Len() < maxStreamPart {
				continue
			}
			if err = s.flush(w); err != nil { // small writes keep few events in memory for a slow client
				return nil //nolint:nilerr // the client has closed the connection
			}
		}
		if len(events) == 0 && time.Now().Before(beat) {
			continue
		}
		if len(events) == 0 {
			s.out.WriteString(": still here\n\n")
		}
		if err = s.flush(w); err != nil {
			return nil //nolint:nilerr // the client has closed the connection
		}
		beat = time.Now().Add(every)
	}
	return nil
}

func (s *eventStream) writeEvent(e *event.Event) error {
	s.out.WriteString("id: ")
	s.out.WriteString(e.ID)
	s.out.WriteString("\ndata: ")
	if err := domain.WriteJSON(&s.out, events.ShowEvent(*e)); err != nil { // WriteJSON ends with a line feed
		return err
	}
	s.out.WriteByte('\n')
	return nil
}

// flush sends the buffered events to the client.
func (s *eventStream) flush(w io.Writer) error {
	_, err := w.Write(s.out.Bytes())
	s.out.Reset()
	if flusher, ok := w.(interface{ Flush() error }); ok && err == nil {
		err = flusher.Flush()
	}
	return err
}
