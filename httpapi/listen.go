package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/calls"
)

// Listening lets people hear live calls.
type Listening interface {
	// ListenCall seats somebody at a live call. out is handed frames of
	// ask.ListenFrame bytes, overwritten afterwards, and nil once, at the call's
	// end; it neither blocks nor leaves. Errors: invalid_state,
	// rate_limit_exceeded where as many listen as may.
	ListenCall(ctx context.Context, p domain.Principal, callID string, mode calls.ListenMode, out func(frame []byte)) (calls.LiveAudio, error)
}

// ListenFormat is how sound goes over the socket, both ways.
type ListenFormat struct {
	Encoding string `json:"encoding" enum:"mulaw"`
	Rate     int    `json:"rate"`
	Channels int    `json:"channels"`
	FrameMs  int    `json:"frame_ms"`
}

// ListenHello is the first message to who listens to a call, a text. What
// follows is sound, in binary messages, and at the end one text
// {"type":"ended"}.
type ListenHello struct {
	Type   string           `json:"type" enum:"hello"`
	CallID string           `json:"call_id"`
	Mode   calls.ListenMode `json:"mode" enum:"listen,whisper,barge"`
	Format ListenFormat     `json:"format"`
}

const (
	heardMost    = 4096             // bytes of one message from who listens: half a second
	heardTimeout = 5 * time.Second  // for one message to be taken
	pingEvery    = 15 * time.Second // and as long for its answer
	closeWait    = 500 * time.Millisecond
)

func (s *Server) listenRoutes() {
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: "/v1/calls/{id}/listen", ID: "listenToCall", Stream: true, Tag: "Calls", Summary: "Listen to a live call, whisper or barge in",
		Description: "A WebSocket. The first message is a text, ListenHello; then come binary messages of 20 ms of sound, both sides mixed: µ-law, 8 kHz, one " +
			"channel; at the end the text {\"type\":\"ended\"}. With mode=whisper or barge, binary messages of the same format, of any length, are heard by " +
			"the agent's side only, or by both. Who takes the sound too slowly is dropped. What a sensitive node collects is silence. Browsers use a ticket.",
		Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUpgradeRequired},
	}, s.admitTicketed, func(h *huma.Operation) {
		h.Parameters = append(
			h.Parameters,
			&huma.Param{Name: "mode", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"listen", "whisper", "barge"}, Default: "listen"}},
			&huma.Param{Name: ticketParam, In: "query", Description: "In place of a credential.", Schema: &huma.Schema{Type: huma.TypeString}},
		)
		h.Security = append(h.Security, map[string][]string{})
		h.Responses["101"] = &huma.Response{Description: "The socket is open.", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: router.SchemaOf[ListenHello](s.API)},
		}}
	}, s.listen)
}

func (s *Server) listen(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixCall, c.Params("id"))
	if err != nil {
		return err
	}
	mode := calls.ListenMode(c.Query("mode", string(calls.Listen)))
	switch mode {
	case calls.Listen, calls.Whisper, calls.Barge:
	default:
		var ps domain.Problems
		ps.Add("mode", domain.CodeValidation, "must be listen, whisper or barge")
		return ps.Err()
	}
	v := router.RequestOf(c.UserContext())
	if _, err = s.services.Calls.Calls.Call(c.UserContext(), v.Principal, id); err != nil {
		return err
	}
	r, err := upgrade(c)
	if err != nil {
		return err
	}
	heard := newEarful()
	seat, err := s.services.Listening.ListenCall(c.UserContext(), v.Principal, id, mode, heard.put)
	if err != nil {
		return err
	}
	h := &hearer{server: s, visit: *v, seat: seat, heard: heard, log: s.Log.With(slog.String("call_id", id), slog.String("request_id", v.RequestID))}
	return h.begin(c, r, ListenHello{Type: "hello", CallID: id, Mode: mode, Format: listenFormat()})
}

func listenFormat() ListenFormat {
	return ListenFormat{Encoding: "mulaw", Rate: calls.ListenRate, Channels: 1, FrameMs: calls.ListenFrame * 1000 / calls.ListenRate}
}

// hearer is one who listens to a call, or takes part in it.
type hearer struct {
	server *Server
	visit  router.Request // of the request that opened the socket
	hello  []byte
	seat   calls.LiveAudio
	heard  *earful
	notes  *notes             // what is told besides sound; nil: nothing
	text   func([]byte) error // takes the texts that are sent; nil: they are left unread
	log    *slog.Logger
}

// begin takes the connection over once the request has been answered.
func (h *hearer) begin(c *fiber.Ctx, r *http.Request, hello any) error {
	var err error
	if h.hello, err = domain.EncodeJSON(hello); err != nil {
		h.seat.Leave()
		return err
	}
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(conn net.Conn) { h.serve(conn, r) })
	return nil
}

// errSlow: the client did not take the sound as fast as it came.
var errSlow = errors.New("httpapi: the listener is too slow")

// serve carries sound until either side, the call or the service ends.
func (h *hearer) serve(conn net.Conn, r *http.Request) {
	defer h.seat.Leave()
	defer func() {
		if cause := recover(); cause != nil {
			h.log.Error("panic at a listener", slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
		}
	}()
	conn = taken{conn}
	_ = conn.SetDeadline(time.Time{})
	ws, err := websocket.Accept(&handshake{conn: conn}, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled, // who asks has shown a key or a ticket
	})
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(heardMost)
	ctx, cancel := context.WithCancelCause(h.server.listens())
	defer cancel(nil)
	holds, stop := h.server.WatchCredential(ctx, &h.visit)
	defer stop()
	h.heard.attend(func() { cancel(errSlow) })
	h.notes.attend(func() { cancel(errSlow) })
	spoken := make(chan error, 1)
	go func() {
		why := errors.New("httpapi: the listener's messages could not be read")
		defer func() {
			if cause := recover(); cause != nil {
				h.log.Error("panic at a listener's messages", slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
			}
			cancel(why)
			spoken <- why
		}()
		why = h.take(ctx, holds, ws)
	}()
	err = h.give(ctx, holds, ws)
	switch {
	case err == nil:
		_ = ws.Close(websocket.StatusNormalClosure, "the call is over")
	case errors.Is(err, errCredentialEnded):
		closeWithin(ws, closeWait, websocket.StatusPolicyViolation, "the credential has ended")
	}
	_ = ws.CloseNow()
	h.log.Debug("a listener left", slog.Any("sent", err), slog.Any("received", <-spoken), slog.Any("cause", context.Cause(ctx)))
}

// closeWithin sends a close frame and waits for the answer for a bounded time.
func closeWithin(ws *websocket.Conn, most time.Duration, code websocket.StatusCode, reason string) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = ws.Close(code, reason)
	}()
	select {
	case <-closed:
	case <-time.After(most):
	}
}

// take reads the messages of the listener until ctx ends or the context valid, which
// ends with the credential.
func (h *hearer) take(ctx, valid context.Context, ws *websocket.Conn) error {
	for {
		kind, sound, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		switch {
		case valid.Err() != nil:
			return context.Cause(valid)
		case kind == websocket.MessageBinary:
			h.seat.Say(sound)
		case h.text != nil:
			if err = h.text(sound); err != nil {
				_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
				return err
			}
		}
	}
}

// give sends what is heard; nil: the call is over.
func (h *hearer) give(ctx, holds context.Context, ws *websocket.Conn) error {
	err := h.send(ctx, ws, websocket.MessageText, h.hello)
	if err != nil {
		return err
	}
	alive := time.NewTicker(pingEvery)
	defer alive.Stop()
	frame := make([]byte, calls.ListenFrame)
	for {
		select {
		case <-holds.Done():
			return context.Cause(holds)
		case <-alive.C:
			bound, cancel := context.WithTimeout(ctx, heardTimeout)
			err = ws.Ping(bound)
			cancel()
			if err != nil {
				return err
			}
		case <-h.heard.more:
		case <-h.notes.more():
		}
		if over, err := h.giveSound(ctx, ws, frame); over || err != nil {
			return err
		}
	}
}

// giveSound sends what waits; over: nothing will follow.
func (h *hearer) giveSound(ctx context.Context, ws *websocket.Conn, frame []byte) (over bool, err error) {
	if err = h.giveNotes(ctx, ws); err != nil {
		return false, err
	}
	for {
		n, over := h.heard.take(frame)
		switch {
		case n == 0 && over:
			if err = h.giveNotes(ctx, ws); err != nil { // the last words may come beside the end
				return true, err
			}
			return true, h.send(ctx, ws, websocket.MessageText, []byte(`{"type":"ended"}`))
		case n == 0:
			return false, nil
		}
		if err = h.send(ctx, ws, websocket.MessageBinary, frame[:n]); err != nil {
			return false, err
		}
	}
}

func (h *hearer) giveNotes(ctx context.Context, ws *websocket.Conn) error {
	for _, note := range h.notes.take() {
		if err := h.send(ctx, ws, websocket.MessageText, note); err != nil {
			return err
		}
	}
	return nil
}

func (h *hearer) send(ctx context.Context, ws *websocket.Conn, kind websocket.MessageType, message []byte) error {
	bound, cancel := context.WithTimeout(ctx, heardTimeout)
	defer cancel()
	return ws.Write(bound, kind, message)
}
