// Package deepgram speaks Deepgram's streaming protocol: a turn is a WebSocket that sound goes into while it is said, and
// words come out of.
package deepgram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media/speech"
)

const (
	messageMost = 1 << 20
	soundMost   = 30 * 8000
	termsMost   = 50
)

// Words understands turns while they are said.
type Words struct {
	URL    string // ws:// or wss://, up to and without /v1/listen
	Key    string
	Model  string // its default
	Client *http.Client
}

// SupportsLanguage any language.
func (w *Words) SupportsLanguage(string) bool { return true }

// TranscribesFreeSpeech any language.
func (w *Words) TranscribesFreeSpeech(string) bool { return true }

// Open begins a turn, and connects meanwhile.
func (w *Words) Open(wanted speech.RecognitionRequest, told func(speech.RecognitionResult)) speech.Stream {
	ctx, cancel := context.WithCancel(context.Background())
	t := &turn{of: w, told: told, cancel: cancel, more: make(chan struct{}, 1)}
	go t.run(ctx, w.address(wanted))
	return t
}

// address asks for words of 8 kHz µ-law, with the ones before they are sure.
func (w *Words) address(wanted speech.RecognitionRequest) string {
	model := wanted.Model
	if model == "" {
		model = w.Model
	}
	q := url.Values{
		"model": {model}, "encoding": {"mulaw"}, "sample_rate": {"8000"}, "channels": {"1"},
		"interim_results": {"true"}, "punctuate": {"true"},
	}
	if wanted.Language != "" {
		q.Set("language", wanted.Language)
	}
	terms := "keyterm" // of the newer models
	if strings.HasPrefix(model, "nova-2") || strings.HasPrefix(model, "nova-general") || strings.HasPrefix(model, "enhanced") || strings.HasPrefix(model, "base") {
		terms = "keywords"
	}
	for _, k := range wanted.Keywords[:min(len(wanted.Keywords), termsMost)] {
		q.Add(terms, k)
	}
	return w.URL + "/v1/listen?" + q.Encode()
}

// turn is one connection.
type turn struct {
	of     *Words
	told   func(speech.RecognitionResult)
	cancel context.CancelFunc
	more   chan struct{}
	mu     sync.Mutex
	sound  []byte // that is still to be sent
	total  int
	ended  bool
	closed bool
}

// Write queues sound.
func (t *turn) Write(mu []byte) {
	t.mu.Lock()
	if !t.ended && t.total < soundMost {
		t.sound = append(t.sound, mu...)
		t.total += len(mu)
	}
	t.mu.Unlock()
	t.wake()
}

// End says that nothing follows.
func (t *turn) End() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.wake()
}

// Close gives up.
func (t *turn) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
}

func (t *turn) wake() {
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// say tells, unless nobody wants to hear any more.
func (t *turn) say(h speech.RecognitionResult) {
	t.mu.Lock()
	closed := t.closed
	t.mu.Unlock()
	if !closed {
		t.told(h)
	}
}

func (t *turn) run(ctx context.Context, address string) {
	defer t.cancel()
	h := speech.RecognitionResult{Final: true}
	h.Text, h.Confidence, h.Err = t.talk(ctx, address)
	if h.Err != nil {
		h.Err = fmt.Errorf("deepgram: %w", h.Err)
	}
	t.say(h)
}

// talk sends the sound and gathers the words until the far end has told all.
func (t *turn) talk(ctx context.Context, address string) (text string, confidence float64, err error) {
	conn, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // the library has read and closed it
		HTTPClient: t.of.Client, HTTPHeader: http.Header{"Authorization": {"Token " + t.of.Key}},
	})
	if err != nil {
		if answer != nil {
			return "", 0, engines.Refusal(answer)
		}
		return "", 0, errors.New("the engine cannot be reached")
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(messageMost)
	sending, stop := context.WithCancel(ctx)
	defer stop()
	go t.send(sending, conn)
	var words gathered
	far := "" // what was told
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			return words.text, words.confidence(), t.ending(err)
		}
		if kind != websocket.MessageText {
			return "", 0, fmt.Errorf("%w: binary", engines.ErrGarbage)
		}
		done, err := words.takeMessage(b)
		if err != nil || done {
			return words.text, words.confidence(), err
		}
		if so := strings.TrimSpace(words.text + " " + words.interim); so != "" && so != far {
			far = so
			t.say(speech.RecognitionResult{Text: so, Confidence: words.sure})
		}
	}
}

// ending is why a connection ended: rightly, once it was told that nothing follows.
func (t *turn) ending(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended && websocket.CloseStatus(err) == websocket.StatusNormalClosure {
		return nil
	}
	if code := websocket.CloseStatus(err); code > 0 {
		return fmt.Errorf("%w: it closed the connection with %d", engines.ErrRefused, code)
	}
	return errors.New("the connection broke")
}

// send writes what waits, and at the end that nothing follows.
func (t *turn) send(ctx context.Context, conn *websocket.Conn) {
	for {
		t.mu.Lock()
		sound, ended := t.sound, t.ended
		t.sound = nil
		t.mu.Unlock()
		if len(sound) > 0 {
			if conn.Write(ctx, websocket.MessageBinary, sound) != nil {
				return
			}
		}
		if ended {
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"CloseStream"}`))
			return
		}
		select {
		case <-t.more:
		case <-ctx.Done():
			return
		}
	}
}

// result is a message of the far end.
type result struct {
	IsFinal bool `json:"is_final"`
	Channel struct {
		Alternatives []struct {
			Transcript string  `json:"transcript"`
			Confidence float64 `json:"confidence"`
		} `json:"alternatives"`
	} `json:"channel"`
}

// gathered are the words so far.
type gathered struct {
	text    string
	interim string
	sure    float64 // of the newest
	sum     float64
	letters int
}

// takeMessage reads a message; done: it was the last one.
func (g *gathered) takeMessage(b []byte) (done bool, err error) {
	var what struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(b, &what) != nil || what.Type == "" {
		return false, fmt.Errorf("%w: no message", engines.ErrGarbage)
	}
	g.interim = ""
	switch what.Type {
	case "Metadata": // it answers the end
		return true, nil
	case "Error":
		return false, engines.ErrRefused
	case "Results":
	default: // UtteranceEnd, SpeechStarted, whose channel is none
		return false, nil
	}
	var r result
	if json.Unmarshal(b, &r) != nil {
		return false, fmt.Errorf("%w: no results", engines.ErrGarbage)
	}
	if len(r.Channel.Alternatives) == 0 {
		return false, nil
	}
	best := r.Channel.Alternatives[0]
	g.sure = best.Confidence
	if !r.IsFinal {
		g.interim = strings.TrimSpace(best.Transcript)
		return false, nil
	}
	if part := strings.TrimSpace(best.Transcript); part != "" {
		g.text = strings.TrimSpace(g.text + " " + part)
		g.sum += best.Confidence * float64(len(part))
		g.letters += len(part)
	}
	return false, nil
}

func (g *gathered) confidence() float64 {
	if g.letters == 0 {
		return 0
	}
	return min(max(g.sum/float64(g.letters), 0), 1)
}
