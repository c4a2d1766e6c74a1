// Package realtime speaks OpenAI's Realtime protocol: one WebSocket for a conversation, that the caller's sound goes into and
// the agent's comes out of, both as 8 kHz µ-law.
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
	messageMost = 1 << 20
	answerMost  = 3 * 60 * 8000 // samples of one answer
	ordersMost  = 64            // messages of ours that may wait to be sent
	textMost    = 32 << 10      // bytes of the words of one answer
	callsMost   = 16
	givenMost   = 32 << 10 // bytes of the arguments of one call
	itemMost    = 256      // bytes of a name of theirs
	turnMost    = time.Minute
)

// ErrSlow and ErrStalled are what a silent far end fails with.
var (
	ErrSlow    = speech.ErrFirstAudioTimeout
	ErrStalled = speech.ErrAudioStalled
	errBroke   = errors.New("the connection broke")
	errGone    = errors.New("nobody wants it any more")
)

// Engine opens conversations.
type Engine struct {
	URL    string // http, https, ws or wss, up to and with /v1
	Key    string // "": it asks for none
	Model  string // its defaults
	Voice  string
	Words  string        // the model that writes down what the caller says; "": nobody does
	First  time.Duration // the longest wait for the session, and for an answer to begin
	Stall  time.Duration // and for more of it
	Turn   time.Duration // the longest that the caller speaks without a pause; zero: a minute
	Client *http.Client
}

// OpenSession begins a conversation, and connects meanwhile.
func (e *Engine) OpenSession(o speech.RealtimeRequest, told func(speech.RealtimeEvent)) speech.RealtimeSession {
	if o.Model == "" {
		o.Model = e.Model
	}
	if o.Voice == "" {
		o.Voice = e.Voice
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &session{of: e, order: o, told: told, cancel: cancel, more: make(chan struct{}, 1), cut: make(map[string]bool), wanted: make(map[string]bool), said: make(map[string]*strings.Builder)}
	go s.run(ctx)
	return s
}

// session is one connection.
type session struct {
	of     *Engine
	order  speech.RealtimeRequest
	told   func(speech.RealtimeEvent)
	cancel context.CancelCauseFunc
	more   chan struct{}

	ring   engines.Ring
	mu     sync.Mutex
	ready  bool     // the far end takes sound
	past   [][]byte // what was said before, to be sent first: the conversation bounds it
	orders [][]byte // that are still to be sent
	closed bool
	watch  *time.Timer // ends a session whose far end keeps us waiting
	cut    map[string]bool
	wanted map[string]bool // ids of calls of this session

	// Of the reader alone.
	item   string // that sounds
	feed   *media.Feed
	said   map[string]*strings.Builder
	busy   bool // an answer is being made
	speaks bool // the caller does, as it says
}

// Write keeps sound until it is sent. What nobody takes for two seconds ends
// the session.
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

// End does nothing: the far end knows by itself when a turn is over.
func (s *session) End() {}

// Close gives up.
func (s *session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errGone)
}

// RequestResponse has the far end speak.
func (s *session) RequestResponse(text string) {
	if text != "" {
		for _, o := range itemsOf(line{Caller: true, Text: text}) {
			s.send(o)
		}
	}
	s.send(order{Type: "response.create"})
	s.wind(s.of.First, ErrSlow)
}

// SendKey does nothing: the far end hears no keys.
func (s *session) SendKey(byte) {}

// SendToolResult tells the far end what came of a call. One of before this session has
// a result already, by its history: the late one is told as a message.
func (s *session) SendToolResult(id, text string) {
	s.mu.Lock()
	own := s.wanted[id]
	s.mu.Unlock()
	for i := range s.order.History {
		if c := s.order.History[i].Call; c != nil && c.ID == id && !own {
			s.send(itemsOf(line{Caller: true, Text: "(This is what came of " + c.Name + ", which was under way: " + text + ")"})[0])
			return
		}
	}
	s.send(resultOf(id, text))
}

// ReportPlayed tells the far end how much of an item was heard.
func (s *session) ReportPlayed(name string, heard time.Duration) {
	s.mu.Lock()
	s.cut[name] = true
	s.mu.Unlock()
	ms := heard.Milliseconds()
	zero := 0
	s.send(order{Type: "conversation.item.truncate", ItemID: name, Index: &zero, EndMs: &ms})
}

func (s *session) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// send queues a message; a far end that takes none of so many is gone.
func (s *session) send(o order) {
	b := o.bytes()
	s.mu.Lock()
	full := len(s.orders) >= ordersMost
	if !full && !s.closed {
		s.orders = append(s.orders, b)
	}
	s.mu.Unlock()
	if full {
		s.cancel(ErrStalled)
		return
	}
	s.wake()
}

// wind sets until when something has to come; 0: nothing has to.
func (s *session) wind(limit time.Duration, late error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.watch.Stop()
		s.watch = nil
	}
	if limit > 0 && !s.closed {
		s.watch = time.AfterFunc(limit, func() { s.cancel(late) })
	}
}

// report tells, unless nobody wants to hear any more.
func (s *session) report(e speech.RealtimeEvent) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if !closed {
		s.told(e)
	}
}

func (s *session) run(ctx context.Context) {
	s.wind(s.of.First, ErrSlow)
	err := s.talk(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	s.wind(0, nil)
	s.silence()
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: fmt.Errorf("realtime: %w", err)})
	s.Close()
}

// silence ends what sounds.
func (s *session) silence() {
	if s.feed != nil {
		s.feed.End()
	}
	s.feed, s.item = nil, ""
}

// talk connects, and reads until the end.
func (s *session) talk(ctx context.Context) error {
	header := http.Header{}
	if s.of.Key != "" {
		header.Set("Authorization", "Bearer "+s.of.Key)
	}
	address := s.of.URL + "/realtime?model=" + url.QueryEscape(s.order.Model)
	conn, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: s.of.Client, HTTPHeader: header}) //nolint:bodyclose // the library has read and closed it
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			return engines.Refusal(answer)
		}
		return errors.New("the engine cannot be reached")
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(messageMost)
	sending, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	s.send(s.opening())
	work.Go(func() { s.write(sending, conn) })
	work.Go(func() { engines.Ping(sending, conn, func() { s.cancel(errBroke) }) })
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			return ending(err)
		}
		if kind != websocket.MessageText {
			return fmt.Errorf("%w: binary", engines.ErrGarbage)
		}
		if err := s.takeMessage(b); err != nil {
			return err
		}
	}
}

// ending is why a connection ended.
func ending(err error) error {
	if code := websocket.CloseStatus(err); code > 0 {
		return fmt.Errorf("%w: it closed the connection with %d", errBroke, code)
	}
	return errBroke
}

// What stands around sound on its way out.
const (
	appendHead = `{"type":"input_audio_buffer.append","audio":"`
	appendTail = `"}`
)

// write sends what waits: messages in their order, and sound.
func (s *session) write(ctx context.Context, conn *websocket.Conn) {
	var sound [engines.RingKeeps]byte
	message := make([]byte, 0, len(appendHead)+base64.StdEncoding.EncodedLen(len(sound))+len(appendTail))
	for {
		s.mu.Lock()
		orders := append(s.past, s.orders...)
		s.past, s.orders = nil, nil
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
