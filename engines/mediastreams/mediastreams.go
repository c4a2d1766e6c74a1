// Package mediastreams connects a call to a developer's own server by the protocol of Twilio Media Streams. One
// WebSocket for each call carries the audio of both directions as 8 kHz µ-law.
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
	maxMessageBytes       = 1 << 20
	maxQueuedMessages     = 256           // queued messages to the server
	maxMarks              = 256           // marks whose audio has not been played
	maxMarkName           = 256           // bytes of the name of a mark
	maxUnplayed           = 5 * 60 * 8000 // samples that have not been played
	maxBurst              = 60 * 8000     // samples of one burst
	burstGap              = 600 * time.Millisecond
	playbackCheckInterval = 20 * time.Millisecond
	closeTimeout          = 2 * time.Second
)

var errConnectionLost = errors.New("the connection was lost")

// Engine opens media stream sessions with one server.
type Engine struct {
	URL string // ws or wss
	// Sign returns the signature headers of the WebSocket request. id is the stream ID.
	Sign           func(id string, at time.Time, url string) http.Header
	ConnectTimeout time.Duration // longest wait for the connection
	Client         *http.Client
}

// OpenSession returns a session at once and connects in the background.
func (e *Engine) OpenSession(o speech.RealtimeRequest, notify func(speech.RealtimeEvent)) speech.RealtimeSession {
	var random [16]byte
	_, _ = rand.Read(random[:]) // crypto/rand never fails
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &stream{
		engine: e, parameters: o.CallParameters, notify: notify, cancel: cancel, id: "MZ" + hex.EncodeToString(random[:]),
		more: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	go s.run(ctx)
	return s
}

// stream is one media stream connection to the server. It implements speech.RealtimeSession.
type stream struct {
	engine     *Engine
	parameters map[string]string
	id         string
	cancel     context.CancelCauseFunc
	ring       engines.Ring
	more       chan struct{}
	closing    chan struct{} // closed by Close
	closeOnce  sync.Once

	notifyLock sync.Mutex
	notify     func(speech.RealtimeEvent)
	closed     bool // closed: no more events

	mu         sync.Mutex
	queue      []message // queued messages
	bursts     []*burst  // audio of the server; the first burst is playing
	burstCount int       // number of bursts so far
	lastAudio  time.Time // time of the last audio
}

// burst is audio of the server that is played as one utterance.
type burst struct {
	item  string
	feed  *media.Feed
	ended bool
	marks []mark
}

// mark is a mark message of the server. It is sent back when the first at samples of its burst were played.
type mark struct {
	name string
	at   int
}

// Write buffers audio of the caller until it is sent. The stream fails if two seconds of audio wait to be sent.
func (s *stream) Write(mu []byte) {
	if !s.ring.Write(mu) {
		s.cancel(speech.ErrAudioStalled)
		return
	}
	s.wake()
}

// End does nothing, because the server detects turns itself.
func (s *stream) End() {}

// Close sends the message stop and closes the connection. No event follows.
func (s *stream) Close() {
	s.closeOnce.Do(func() {
		s.notifyLock.Lock()
		s.closed = true
		s.notifyLock.Unlock()
		close(s.closing)
		time.AfterFunc(closeTimeout, func() { s.cancel(errConnectionLost) })
	})
}

// RequestResponse only reports RealtimeIdle, because the protocol has no request for a response.
func (s *stream) RequestResponse(string) {
	go s.report(speech.RealtimeEvent{Kind: speech.RealtimeIdle})
}

// SendToolResult does nothing, because the protocol has no tool calls.
func (s *stream) SendToolResult(string, string) {}

// ReportPlayed discards a burst whose playback was interrupted, and sends its marks back to the server.
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

// SendKey reports a key that the caller pressed to the server.
func (s *stream) SendKey(key byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(message{Event: "dtmf", DTMF: &dtmfMessage{Track: "inbound_track", Digit: string(key)}})
}

// send queues a message to the server. The stream fails if the queue is full. The caller holds the lock.
func (s *stream) send(m message) {
	if len(s.queue) >= maxQueuedMessages {
		s.cancel(speech.ErrAudioStalled)
		return
	}
	s.queue = append(s.queue, m)
	s.wake()
}

// echo sends marks back to the server. The caller holds the lock.
func (s *stream) echo(all []mark) {
	for _, m := range all {
		s.send(message{Event: "mark", Mark: &markMessage{Name: m.name}})
	}
}

func (s *stream) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *stream) report(e speech.RealtimeEvent) {
	s.notifyLock.Lock()
	defer s.notifyLock.Unlock()
	if !s.closed {
		s.notify(e)
	}
}

func (s *stream) run(ctx context.Context) {
	err := s.exchange(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	s.cancel(errConnectionLost)
	s.mu.Lock()
	for _, b := range s.bursts {
		b.feed.End()
	}
	s.mu.Unlock()
	e := speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: fmt.Errorf("media stream: %w", err)}
	if err == nil {
		e = speech.RealtimeEvent{Kind: speech.RealtimeEnded}
	}
	s.notifyLock.Lock()
	defer s.notifyLock.Unlock()
	if !s.closed {
		s.closed = true
		s.notify(e)
	}
}

// exchange connects and handles the server's messages until the connection ends. It returns nil if the server closed
// the connection normally.
func (s *stream) exchange(ctx context.Context) error {
	first, stop := context.WithTimeoutCause(ctx, s.engine.ConnectTimeout, speech.ErrFirstAudioTimeout)
	defer stop()
	conn, answer, err := websocket.Dial(first, s.engine.URL, &websocket.DialOptions{HTTPClient: s.engine.Client, HTTPHeader: s.engine.Sign(s.id, time.Now(), s.engine.URL)}) //nolint:bodyclose // the library has read and closed it
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
	conn.SetReadLimit(maxMessageBytes)
	working, done := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer done()
	s.ring.Open()
	work.Go(func() { s.write(working, conn) })
	work.Go(func() { engines.Ping(working, conn, func() { s.cancel(errConnectionLost) }) })
	work.Go(func() { s.reportPlayed(working) })
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeReady})
	s.report(speech.RealtimeEvent{Kind: speech.RealtimeIdle}) // the server may wait for the caller to speak first
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			if code := websocket.CloseStatus(err); code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway || code == websocket.StatusNoStatusRcvd {
				return nil
			}
			return errConnectionLost
		}
		if kind != websocket.MessageText {
			return fmt.Errorf("%w: binary message", engines.ErrInvalidResponse)
		}
		if err := s.takeMessage(b); err != nil {
			return err
		}
	}
}

// reportPlayed regularly sends back the marks of played audio and ends bursts that were played completely.
func (s *stream) reportPlayed(ctx context.Context) {
	tick := time.NewTicker(playbackCheckInterval)
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

// echoMarks sends back the marks that playback has reached. idle reports whether all audio was played and no audio
// followed within burstGap.
func (s *stream) echoMarks(now time.Time) (idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.bursts) > 0 {
		b := s.bursts[0]
		heard := b.feed.Played()
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
			if now.Sub(s.lastAudio) < burstGap {
				return false
			}
			b.feed.End()
			idle = true
		}
		s.bursts = s.bursts[1:]
	}
	return idle
}

// write sends queued messages and the caller's audio in chunks of 20 ms.
func (s *stream) write(ctx context.Context, conn *websocket.Conn) {
	w := writer{stream: s.id, write: func(b []byte) error { return conn.Write(ctx, websocket.MessageText, b) }}
	call, workspace := s.parameters["call_id"], s.parameters["workspace_id"]
	known := make(map[string]string, len(s.parameters))
	for name, value := range s.parameters {
		if name != "call_id" && name != "workspace_id" {
			known[name] = value
		}
	}
	w.bare(message{Event: "connected", Protocol: "Call", Version: "1.0.0"})
	w.send(message{Event: "start", Start: &startMessage{
		AccountSID: workspace, StreamSID: s.id, CallSID: call, Tracks: []string{"inbound"}, Parameters: known,
		Format: format{Encoding: "audio/x-mulaw", SampleRate: 8000, Channels: 1},
	}})
	var sound [engines.RingSamples]byte
	n := 0 // bytes that wait for a whole piece
	for {
		s.mu.Lock()
		orders := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, m := range orders {
			w.send(m)
		}
		n += s.ring.Take(sound[n:])
		at := 0
		for ; n-at >= chunkSamples; at += chunkSamples {
			w.sound(sound[at : at+chunkSamples])
		}
		n = copy(sound[:], sound[at:n])
		if w.failed {
			return
		}
		select {
		case <-s.more:
		case <-s.closing:
			w.send(message{Event: "stop", Stop: &stopMessage{AccountSID: workspace, CallSID: call}})
			_ = conn.Close(websocket.StatusNormalClosure, "")
			return
		case <-ctx.Done():
			return
		}
	}
}

// writer sends messages to the server and numbers them.
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

// sound sends a chunk of the caller's audio with its time since the start of the stream.
func (w *writer) sound(mu []byte) {
	w.pieces++
	w.send(message{Event: "media", Media: &mediaMessage{
		Track: "inbound", Chunk: strconv.Itoa(w.pieces), Timestamp: strconv.Itoa((w.pieces - 1) * chunkSamples / 8), Payload: mu,
	}})
}
