// Package mediastreams lets a developer's own server have the caller: it speaks the messages of Twilio's Media Streams over one
// WebSocket, that the caller's sound goes into and the server's comes out of, both as 8 kHz µ-law.
package mediastreams

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

const (
	messageMost = 1 << 20
	ordersMost  = 256           // messages of ours that may wait to be sent
	marksMost   = 256           // that wait for their sound to be heard
	nameMost    = 256           // bytes of the name of a mark
	unheardMost = 5 * 60 * 8000 // samples that nobody has heard yet
	burstMost   = 60 * 8000     // samples that are played as one
	burstGap    = 600 * time.Millisecond
	lookEvery   = 20 * time.Millisecond
	closeMost   = 2 * time.Second
)

var errBroke = errors.New("the connection broke")

// Engine opens conversations.
type Engine struct {
	URL string // ws or wss
	// Sign are the headers that show whose request it is, for the stream's id.
	Sign   func(id string, at time.Time, url string) http.Header
	First  time.Duration // the longest wait for the connection
	Client *http.Client
}

// OpenSession begins a conversation, and connects meanwhile.
func (e *Engine) OpenSession(o speech.RealtimeRequest, told func(speech.RealtimeEvent)) speech.RealtimeSession {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &stream{
		of: e, about: o.CallParameters, told: told, cancel: cancel, id: "MZ" + hex.EncodeToString(random[:]),
		more: make(chan struct{}, 1), leave: make(chan struct{}),
	}
	go s.run(ctx)
	return s
}

// stream is one connection.
type stream struct {
	of     *Engine
	about  map[string]string
	id     string
	cancel context.CancelCauseFunc
	ring   engines.Ring
	more   chan struct{}
	leave  chan struct{} // closed by Close
	once   sync.Once

	telling sync.Mutex
	told    func(speech.RealtimeEvent)
	quiet   bool // nobody wants to hear any more

	mu     sync.Mutex
	orders []message // that are still to be sent
	bursts []*burst  // of what it says, the first one being heard
	count  int       // of them
	came   time.Time // when the last sound came
}

// burst is what is played as one.
type burst struct {
	item  string
	feed  *media.Feed
	ended bool
	marks []mark
}

// mark is told once so many samples of its burst were heard.
type mark struct {
	name string
	at   int
}

// Write keeps sound until it is sent. What nobody takes for two seconds ends the stream.
func (s *stream) Write(mu []byte) {
	if !s.ring.Write(mu) {
		s.cancel(speech.ErrAudioStalled)
		return
	}
	s.wake()
}

// End does nothing: the far end knows by itself when a turn is over.
func (s *stream) End() {}

// Close says goodbye.
func (s *stream) Close() {
	s.once.Do(func() {
		s.telling.Lock()
		s.quiet = true
		s.telling.Unlock()
		close(s.leave)
		time.AfterFunc(closeMost, func() { s.cancel(errBroke) })
	})
}

// RequestResponse has no meaning for the far end, which speaks when it wants to.
func (s *stream) RequestResponse(string) {
	go s.report(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
}

// SendToolResult has none either: nothing was wanted.
func (s *stream) SendToolResult(string, string) {}

// ReportPlayed tells the far end that what it marked behind a place will not be heard.
func (s *stream) ReportPlayed(item string, _ time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range s.bursts {
		if b.item == item {
			b.feed.End()
			s.echo(b.marks)
			s.bursts = append(s.bursts[:i:i], s.bursts[i+1:]...)
			return
		}
	}
}

// SendKey tells the far end of a key.
func (s *stream) SendKey(key byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(message{Event: "dtmf", DTMF: &dtmf{Track: "inbound_track", Digit: string(key)}})
}

// send queues a message; a far end that takes none of so many is gone. The lock is held.
func (s *stream) send(m message) {
	if len(s.orders) >= ordersMost {
		s.cancel(speech.ErrAudioStalled)
		return
	}
	s.orders = append(s.orders, m)
	s.wake()
}

// echo tells of marks. The lock is held.
func (s *stream) echo(all []mark) {
	for _, m := range all {
		s.send(message{Event: "mark", Mark: &named{Name: m.name}})
	}
}

func (s *stream) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *stream) report(e speech.RealtimeEvent) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if !s.quiet {
		s.told(e)
	}
}

func (s *stream) run(ctx context.Context) {
	err := s.talk(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	s.cancel(errBroke)
	s.mu.Lock()
	for _, b := range s.bursts {
		b.feed.End()
	}
	s.mu.Unlock()
	e := speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: fmt.Errorf("media stream: %w", err)}
	if err == nil {
		e = speech.RealtimeEvent{Kind: speech.RealtimeEnded}
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	if !s.quiet {
		s.quiet = true
		s.told(e)
	}
}

// talk connects, and reads until the end: nil where the far end has said goodbye.
func (s *stream) talk(ctx context.Context) error {
	first, stop := context.WithTimeoutCause(ctx, s.of.First, speech.ErrFirstAudioTimeout)
	defer stop()
	conn, answer, err := websocket.Dial(first, s.of.URL, &websocket.DialOptions{HTTPClient: s.of.Client, HTTPHeader: s.of.Sign(s.id, time.Now(), s.of.URL)}) //nolint:bodyclose // the library has read and closed it
	if err != nil {
		switch cause := context.Cause(first); {
		case cause != nil:
			return cause
		case answer != nil && answer.StatusCode != http.StatusSwitchingProtocols:
			return engines.Refusal(answer)
		}
		return errors.New("the engine cannot be reached")
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(messageMost)
	working, done := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer done()
	s.ring.Open()
	work.Go(func() { s.write(working, conn) })
	work.Go(func() { engines.Ping(working, conn, func() { s.cancel(errBroke) }) })
	work.Go(func() { s.reportPlayed(working) })
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeReady})
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeIdle}) // nobody knows whether it means to speak first
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			if code := websocket.CloseStatus(err); code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway || code == websocket.StatusNoStatusRcvd {
				return nil
			}
			return errBroke
		}
		if kind != websocket.MessageText {
			return fmt.Errorf("%w: binary", engines.ErrGarbage)
		}
		if err := s.takeMessage(b); err != nil {
			return err
		}
	}
}

// reportPlayed tells of what was heard, and ends what nothing follows.
func (s *stream) reportPlayed(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.echoMarks(time.Now()) {
			s.report(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
		}
	}
}

// echoMarks echoes the marks that were reached; idle: all was heard, and nothing came since.
func (s *stream) echoMarks(now time.Time) (idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.bursts) > 0 {
		b := s.bursts[0]
		heard := b.feed.Heard()
		n := 0
		for n < len(b.marks) && b.marks[n].at <= heard {
			n++
		}
		s.echo(b.marks[:n])
		b.marks = b.marks[n:]
		if heard < b.feed.Len() {
			return false
		}
		if !b.ended {
			if now.Sub(s.came) < burstGap {
				return false
			}
			b.feed.End()
			idle = true
		}
		s.bursts = s.bursts[1:]
	}
	return idle
}

// write sends what waits: the caller's sound in pieces of 20 ms, and messages.
func (s *stream) write(ctx context.Context, conn *websocket.Conn) {
	w := writer{stream: s.id, write: func(b []byte) error { return conn.Write(ctx, websocket.MessageText, b) }}
	call, workspace := s.about["call_id"], s.about["workspace_id"]
	known := make(map[string]string, len(s.about))
	for name, value := range s.about {
		if name != "call_id" && name != "workspace_id" {
			known[name] = value
		}
	}
	w.bare(message{Event: "connected", Protocol: "Call", Version: "1.0.0"})
	w.send(message{Event: "start", Start: &start{
		AccountSID: workspace, StreamSID: s.id, CallSID: call, Tracks: []string{"inbound"}, Parameters: known,
		Format: format{Encoding: "audio/x-mulaw", SampleRate: 8000, Channels: 1},
	}})
	var sound [engines.RingKeeps]byte
	n := 0 // what waits to be a whole piece
	for {
		s.mu.Lock()
		orders := s.orders
		s.orders = nil
		s.mu.Unlock()
		for _, m := range orders {
			w.send(m)
		}
		n += s.ring.Take(sound[n:])
		at := 0
		for ; n-at >= pieceOf; at += pieceOf {
			w.sound(sound[at : at+pieceOf])
		}
		n = copy(sound[:], sound[at:n])
		if w.failed {
			return
		}
		select {
		case <-s.more:
		case <-s.leave:
			w.send(message{Event: "stop", Stop: &stopped{AccountSID: workspace, CallSID: call}})
			_ = conn.Close(websocket.StatusNormalClosure, "")
			return
		case <-ctx.Done():
			return
		}
	}
}

// writer numbers what it sends.
type writer struct {
	stream string
	write  func([]byte) error
	number int
	pieces int
	failed bool
}

func (w *writer) bare(m message) {
	if !w.failed {
		w.failed = w.write(m.bytes()) != nil
	}
}

func (w *writer) send(m message) {
	w.number++
	m.Number, m.StreamSID = strconv.Itoa(w.number), w.stream
	w.bare(m)
}

// sound is the caller's; its time is that since the stream began.
func (w *writer) sound(mu []byte) {
	w.pieces++
	w.send(message{Event: "media", Media: &sound{
		Track: "inbound", Chunk: strconv.Itoa(w.pieces), Timestamp: strconv.Itoa((w.pieces - 1) * pieceOf / 8), Payload: mu,
	}})
}
