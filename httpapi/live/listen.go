package live

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
	"github.com/callboard/callboard/httpapi/middleware"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/calls"
)

// CallAudio connects listeners to live calls.
type CallAudio interface {
	// ListenCall connects a listener to a live call. It calls out with frames of calls.ListenFrame bytes, which are valid
	// only during the call of out. At the end of the telephone call it calls out with nil. out must not block. Errors:
	// invalid_state, and rate_limit_exceeded if the telephone call has its maximum number of listeners.
	ListenCall(ctx context.Context, p domain.Principal, callID string, mode calls.ListenMode, out func(frame []byte)) (calls.LiveAudio, error)
}

// ListenFormat is the audio format of the WebSocket in both directions.
type ListenFormat struct {
	Encoding string `json:"encoding" enum:"mulaw"`
	Rate     int    `json:"rate"`
	Channels int    `json:"channels"`
	FrameMs  int    `json:"frame_ms"`
}

// ListenHello is the first message that the service sends to a listener, a text message. Binary messages with audio
// follow. The last message is the text {"type":"ended"}.
type ListenHello struct {
	Type   string           `json:"type" enum:"hello"`
	CallID string           `json:"call_id"`
	Mode   calls.ListenMode `json:"mode" enum:"listen,whisper,barge"`
	Format ListenFormat     `json:"format"`
}

const (
	maxMessageSize = 4096             // bytes of a message from the client: half a second of audio
	messageTimeout = 5 * time.Second  // time for a client to accept a message
	pingInterval   = 15 * time.Second // the client's pong must arrive within messageTimeout
	closeTimeout   = 500 * time.Millisecond
)

// registerListen registers the WebSocket route for listening to a live call.
func (s *Server) registerListen() {
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: "/v1/calls/{id}/listen", ID: "listenToCall", Stream: true, Tag: "Calls", Summary: "Listen to a live call, whisper or barge in",
		Description: "Opens a WebSocket. The first message is the text ListenHello. Binary messages with 20 ms of audio of both sides follow (µ-law, 8 kHz, " +
			"mono). The last message is the text {\"type\":\"ended\"}. With mode=whisper or barge, binary messages from the client in the same format, of any length, are played to " +
			"the agent's side or to both sides. A client that reads too slowly is disconnected. Input of a sensitive node is replaced by silence. Browsers use a ticket.",
		Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUpgradeRequired},
	}, s.admitWithTicket, func(h *huma.Operation) {
		h.Parameters = append(
			h.Parameters,
			&huma.Param{Name: "mode", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"listen", "whisper", "barge"}, Default: "listen"}},
			&huma.Param{Name: ticketParam, In: "query", Description: "Ticket in place of a credential.", Schema: &huma.Schema{Type: huma.TypeString}},
		)
		h.Security = append(h.Security, map[string][]string{})
		h.Responses["101"] = &huma.Response{Description: "The WebSocket is open.", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: router.SchemaOf[ListenHello](s.API)},
		}}
	}, s.openListener)
}

// openListener connects a listener to a live call and upgrades the listener's connection to a WebSocket.
func (s *Server) openListener(c *fiber.Ctx) error {
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
	if _, err = s.calls.Call(c.UserContext(), v.Principal, id); err != nil {
		return err
	}
	r, err := upgradeRequest(c)
	if err != nil {
		return err
	}
	frames := newFrameQueue()
	audio, err := s.audio.ListenCall(c.UserContext(), v.Principal, id, mode, frames.push)
	if err != nil {
		return err
	}
	socket := &audioSocket{server: s, request: *v, audio: audio, frames: frames, log: s.Log.With(slog.String("call_id", id), slog.String("request_id", v.RequestID))}
	return socket.open(c, r, ListenHello{Type: "hello", CallID: id, Mode: mode, Format: listenFormat()})
}

func listenFormat() ListenFormat {
	return ListenFormat{Encoding: "mulaw", Rate: calls.ListenRate, Channels: 1, FrameMs: calls.ListenFrame * 1000 / calls.ListenRate}
}

// audioSocket is the WebSocket of a client that listens to a call or takes part in it.
type audioSocket struct {
	server      *Server
	request     router.Request // the request that opened the WebSocket
	hello       []byte
	audio       calls.LiveAudio
	frames      *frameQueue
	messages    *messageQueue      // text messages to the client; nil: there are none
	receiveText func([]byte) error // handles text messages of the client; nil: they are discarded
	log         *slog.Logger
}

// open encodes the first message and upgrades the connection to a WebSocket after the handler has returned.
func (s *audioSocket) open(c *fiber.Ctx, r *http.Request, hello any) error {
	var err error
	if s.hello, err = domain.EncodeJSON(hello); err != nil {
		s.audio.Leave()
		return err
	}
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(conn net.Conn) { s.serve(conn, r) })
	return nil
}

// errSlow reports a client that accepts audio slower than real time.
var errSlow = errors.New("httpapi: the listener is too slow")

// serve sends and receives audio until the client disconnects, the call ends, the credential becomes invalid or the
// service stops.
func (s *audioSocket) serve(conn net.Conn, r *http.Request) {
	defer s.audio.Leave()
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("panic in an audio socket", slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
		}
	}()
	conn = hijackedConn{conn}
	_ = conn.SetDeadline(time.Time{})
	ws, err := websocket.Accept(&handshake{conn: conn}, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled, // origin checks are not needed: the request has a credential or a ticket
	})
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(maxMessageSize)
	ctx, cancel := context.WithCancelCause(s.server.life())
	defer cancel(nil)
	valid, stop := s.server.access.WatchCredential(ctx, &s.request)
	defer stop()
	s.frames.disconnectSlow(func() { cancel(errSlow) })
	s.messages.disconnectSlow(func() { cancel(errSlow) })
	received := make(chan error, 1)
	go func() {
		why := errors.New("httpapi: messages of the listener not readable")
		defer func() {
			if cause := recover(); cause != nil {
				s.log.Error("panic while reading messages of a listener", slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
			}
			cancel(why)
			received <- why
		}()
		why = s.receive(ctx, valid, ws)
	}()
	err = s.sendAll(ctx, valid, ws)
	switch {
	case err == nil:
		_ = ws.Close(websocket.StatusNormalClosure, "the call is over")
	case errors.Is(err, middleware.ErrCredentialEnded):
		closeWithin(ws, closeTimeout, websocket.StatusPolicyViolation, "the credential has ended")
	}
	_ = ws.CloseNow()
	s.log.Debug("a listener left", slog.Any("sent", err), slog.Any("received", <-received), slog.Any("cause", context.Cause(ctx)))
}

// closeWithin sends a close frame and waits at most limit for the close frame of the client.
func closeWithin(ws *websocket.Conn, limit time.Duration, code websocket.StatusCode, reason string) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = ws.Close(code, reason)
	}()
	select {
	case <-closed:
	case <-time.After(limit):
	}
}

// receive reads the messages of the client until ctx ends, or until valid ends because the credential is invalid.
func (s *audioSocket) receive(ctx, valid context.Context, ws *websocket.Conn) error {
	for {
		kind, message, err := ws.Read(ctx)
		if err != nil {
			return err
		}
		switch {
		case valid.Err() != nil:
			return context.Cause(valid)
		case kind == websocket.MessageBinary:
			s.audio.Say(message)
		case s.receiveText != nil:
			if err = s.receiveText(message); err != nil {
				_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
				return err
			}
		}
	}
}

// sendAll sends audio and text messages until the call ends.
func (s *audioSocket) sendAll(ctx, valid context.Context, ws *websocket.Conn) error {
	err := s.send(ctx, ws, websocket.MessageText, s.hello)
	if err != nil {
		return err
	}
	alive := time.NewTicker(pingInterval)
	defer alive.Stop()
	frame := make([]byte, calls.ListenFrame)
	for {
		select {
		case <-valid.Done():
			return context.Cause(valid)
		case <-alive.C:
			bound, cancel := context.WithTimeout(ctx, messageTimeout)
			err = ws.Ping(bound)
			cancel()
			if err != nil {
				return err
			}
		case <-s.frames.available:
		case <-s.messages.ready():
		}
		if ended, err := s.sendWaiting(ctx, ws, frame); ended || err != nil {
			return err
		}
	}
}

// sendWaiting sends the waiting audio and text messages. ended reports that the call has ended and no more audio
// follows.
func (s *audioSocket) sendWaiting(ctx context.Context, ws *websocket.Conn, frame []byte) (ended bool, err error) {
	if err = s.sendMessages(ctx, ws); err != nil {
		return false, err
	}
	for {
		n, ended := s.frames.pop(frame)
		switch {
		case n == 0 && ended:
			if err = s.sendMessages(ctx, ws); err != nil { // a message may have been queued together with the end of the audio
				return true, err
			}
			return true, s.send(ctx, ws, websocket.MessageText, []byte(`{"type":"ended"}`))
		case n == 0:
			return false, nil
		}
		if err = s.send(ctx, ws, websocket.MessageBinary, frame[:n]); err != nil {
			return false, err
		}
	}
}

func (s *audioSocket) sendMessages(ctx context.Context, ws *websocket.Conn) error {
	for _, message := range s.messages.popAll() {
		if err := s.send(ctx, ws, websocket.MessageText, message); err != nil {
			return err
		}
	}
	return nil
}

func (s *audioSocket) send(ctx context.Context, ws *websocket.Conn, kind websocket.MessageType, message []byte) error {
	bound, cancel := context.WithTimeout(ctx, messageTimeout)
	defer cancel()
	return ws.Write(bound, kind, message)
}
