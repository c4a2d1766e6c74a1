// Package realtime is a client of OpenAI's Realtime protocol. One WebSocket per conversation carries the audio of
// the caller and of the agent, both as 8 kHz µ-law.
package realtime

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

const (
	maxMessageBytes    = 1 << 20
	maxResponseSamples = 3 * 60 * 8000 // samples of one response
	maxQueuedMessages  = 64            // queued messages to the engine
	maxTranscriptBytes = 32 << 10      // bytes of the transcript of one response
	maxToolCalls       = 16            // tool calls of one response
	maxArgumentBytes   = 32 << 10      // bytes of the arguments of one tool call
	maxItemBytes       = 256           // bytes of an item id, call id or tool name that the engine sends
	defaultMaxTurn     = time.Minute
)

// Errors that end a session: the engine is too slow, or the connection is lost or closed.
var (
	ErrResponseTimeout = speech.ErrFirstAudioTimeout
	ErrStalled         = speech.ErrAudioStalled
	errConnectionLost  = errors.New("the connection was lost")
	errClosed          = errors.New("the session is closed")
)

// Engine opens sessions with one realtime engine, a server that speaks the Realtime protocol.
type Engine struct {
	URL                string        // base URL that ends in /v1; scheme http, https, ws or wss
	Key                string        // API key; "": the engine needs none
	Model              string        // default model
	Voice              string        // default voice
	TranscriptionModel string        // model that transcribes the caller; "": no transcripts of the caller
	ResponseTimeout    time.Duration // maximum time until the session is ready, and until a response begins
	PauseTimeout       time.Duration // longest pause within a response
	MaxTurn            time.Duration // longest speech of the caller without a pause; 0: one minute
	Client             *http.Client
}

// OpenSession returns a new session immediately. The session connects to the engine in the background.
func (e *Engine) OpenSession(o speech.RealtimeRequest, notify func(speech.RealtimeEvent)) speech.RealtimeSession {
	if o.Model == "" {
		o.Model = e.Model
	}
	if o.Voice == "" {
		o.Voice = e.Voice
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &session{engine: e, request: o, notify: notify, cancel: cancel, more: make(chan struct{}, 1), interrupted: make(map[string]bool), toolCalls: make(map[string]bool), transcripts: make(map[string]*strings.Builder)}
	go s.run(ctx)
	return s
}

// session is one conversation with the engine over one connection.
type session struct {
	engine  *Engine
	request speech.RealtimeRequest
	notify  func(speech.RealtimeEvent)
	cancel  context.CancelCauseFunc
	more    chan struct{}

	ring        engines.Ring
	mu          sync.Mutex
	ready       bool     // the engine accepts audio
	history     [][]byte // messages with the history, which are sent before queue
	queue       [][]byte // queued messages
	closed      bool
	timer       *time.Timer // ends the session if the engine sends nothing in time
	interrupted map[string]bool
	toolCalls   map[string]bool // ids of tool calls of this session

	// Only the goroutine that reads from the connection accesses the fields below.
	item         string // id of the response that plays
	feed         *media.Feed
	transcripts  map[string]*strings.Builder
	responding   bool // a response is in progress
	callerSpeaks bool // the engine has reported that the caller speaks
}

// Write buffers audio of the caller until it is sent to the engine. If more than two seconds of audio are unsent, the
// session ends with ErrStalled.
func (s *session) Write(mu []byte) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	ready := s.ready
	s.mu.Unlock()
	if !s.ring.Write(mu) {
		s.cancel(ErrStalled)
		return
	}
	if ready {
		s.wake()
	}
}

// End does nothing, because the engine itself detects when the caller has finished speaking.
func (s *session) End() {}

// Close ends the session. After Close the session reports no further events.
func (s *session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosed)
}

// RequestResponse asks the engine for a spoken response. A text is first added to the conversation as the caller's
// message.
func (s *session) RequestResponse(text string) {
	if text != "" {
		for _, o := range historyMessages(historyEntry{Caller: true, Text: text}) {
			s.send(o)
		}
	}
	s.send(request{Type: "response.create"})
	s.setTimeout(s.engine.ResponseTimeout, ErrResponseTimeout)
}

// SendKey does nothing, because the protocol has no message for keys.
func (s *session) SendKey(byte) {}

// SendToolResult sends the result of a tool call to the engine. For a call of an earlier session, the history already
// holds a result with this id, so the late result is sent as a message of the caller.
func (s *session) SendToolResult(id, text string) {
	s.mu.Lock()
	own := s.toolCalls[id]
	s.mu.Unlock()
	for i := range s.request.History {
		if c := s.request.History[i].Call; c != nil && c.ID == id && !own {
			s.send(historyMessages(historyEntry{Caller: true, Text: "(This is what came of " + c.Name + ", which was under way: " + text + ")"})[0])
			return
		}
	}
	s.send(toolResult(id, text))
}

// ReportPlayed tells the engine how much of an interrupted response the caller has heard. Further audio of that
// response is ignored.
func (s *session) ReportPlayed(name string, heard time.Duration) {
	s.mu.Lock()
	s.interrupted[name] = true
	s.mu.Unlock()
	ms := heard.Milliseconds()
	zero := 0
	s.send(request{Type: "conversation.item.truncate", ItemID: name, Index: &zero, EndMs: &ms})
}

func (s *session) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// send queues a message to the engine. If the queue is full, the session ends with ErrStalled.
func (s *session) send(o request) {
	b := o.bytes()
	s.mu.Lock()
	full := len(s.queue) >= maxQueuedMessages
	if !full && !s.closed {
		s.queue = append(s.queue, b)
	}
	s.mu.Unlock()
	if full {
		s.cancel(ErrStalled)
		return
	}
	s.wake()
}

// setTimeout ends the session with the error late if setTimeout is not called again within limit. A limit of 0
// stops the timer.
func (s *session) setTimeout(limit time.Duration, late error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if limit > 0 && !s.closed {
		s.timer = time.AfterFunc(limit, func() { s.cancel(late) })
	}
}

// report calls the session's callback, unless the session is closed.
func (s *session) report(e speech.RealtimeEvent) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if !closed {
		s.notify(e)
	}
}

func (s *session) run(ctx context.Context) {
	s.setTimeout(s.engine.ResponseTimeout, ErrResponseTimeout)
	err := s.exchange(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	s.setTimeout(0, nil)
	s.endAudio()
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: fmt.Errorf("realtime: %w", err)})
	s.Close()
}

// endAudio marks the audio of the current response as complete.
func (s *session) endAudio() {
	if s.feed != nil {
		s.feed.End()
	}
	s.feed, s.item = nil, ""
}

// exchange connects to the engine and handles its messages until the connection ends. It returns why it ended.
func (s *session) exchange(ctx context.Context) error {
	header := http.Header{}
	if s.engine.Key != "" {
		header.Set("Authorization", "Bearer "+s.engine.Key)
	}
	address := s.engine.URL + "/realtime?model=" + url.QueryEscape(s.request.Model)
	conn, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: s.engine.Client, HTTPHeader: header}) //nolint:bodyclose // the library has read and closed it
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			return engines.Refusal(answer)
		}
		return errors.New("the engine cannot be reached")
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxMessageBytes)
	sending, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	s.send(s.sessionUpdate())
	work.Go(func() { s.write(sending, conn) })
	work.Go(func() { engines.Ping(sending, conn, func() { s.cancel(errConnectionLost) }) })
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			return closeError(err)
		}
		if kind != websocket.MessageText {
			return fmt.Errorf("%w: binary message", engines.ErrInvalidResponse)
		}
		if err := s.takeMessage(b); err != nil {
			return err
		}
	}
}

// closeError converts the error of a read from the connection into the error that the session reports.
func closeError(err error) error {
	if code := websocket.CloseStatus(err); code > 0 {
		return fmt.Errorf("%w: the engine closed the connection with status %d", errConnectionLost, code)
	}
	return errConnectionLost
}

// JSON before and after the base64 audio in a message that appends audio of the caller.
const (
	appendHead = `{"type":"input_audio_buffer.append","audio":"`
	appendTail = `"}`
)

// write sends queued messages in order, and then the buffered audio of the caller, until ctx ends.
func (s *session) write(ctx context.Context, conn *websocket.Conn) {
	var sound [engines.RingSamples]byte
	message := make([]byte, 0, len(appendHead)+base64.StdEncoding.EncodedLen(len(sound))+len(appendTail))
	for {
		s.mu.Lock()
		orders := append(s.history, s.queue...)
		s.history, s.queue = nil, nil
		s.mu.Unlock()
		for _, b := range orders {
			if conn.Write(ctx, websocket.MessageText, b) != nil {
				return
			}
		}
		if n := s.ring.Take(sound[:]); n > 0 {
			message = append(message[:0], appendHead...)
			message = base64.StdEncoding.AppendEncode(message, sound[:n])
			message = append(message, appendTail...)
			if conn.Write(ctx, websocket.MessageText, message) != nil {
				return
			}
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return
		}
	}
}
