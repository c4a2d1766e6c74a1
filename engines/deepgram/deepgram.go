// Package deepgram is a client of Deepgram's streaming speech recognition. One WebSocket for each turn carries the
// caller's audio and returns interim and final text. The model Flux also recognizes the end of a turn.
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

// Recognizer transcribes turns of the caller with Deepgram while the caller speaks.
type Recognizer struct {
	URL    string // ws:// or wss://, up to and without /v1/listen
	Key    string
	Model  string // default model
	Client *http.Client
}

// SupportsLanguage returns true for every language, because only Deepgram knows which languages a model supports.
func (w *Recognizer) SupportsLanguage(string) bool { return true }

// TranscribesFreeSpeech returns true: Deepgram is not limited to expected phrases in any language.
func (w *Recognizer) TranscribesFreeSpeech(string) bool { return true }

// Open starts the recognition of a turn and connects in the background. It calls told for each result.
func (w *Recognizer) Open(wanted speech.RecognitionRequest, told func(speech.RecognitionResult)) speech.Stream {
	ctx, cancel := context.WithCancel(context.Background())
	t := &turn{recognizer: w, notify: told, cancel: cancel, more: make(chan struct{}, 1)}
	go t.run(ctx, w.address(wanted))
	return t
}

// address returns the WebSocket URL for a turn. Its parameters request 8 kHz µ-law and interim results.
func (w *Recognizer) address(wanted speech.RecognitionRequest) string {
	model := wanted.Model
	if model == "" {
		model = w.Model
	}
	flux := strings.HasPrefix(model, "flux")
	q := url.Values{"model": {model}, "encoding": {"mulaw"}, "sample_rate": {"8000"}}
	if !flux {
		q.Set("channels", "1")
		q.Set("interim_results", "true")
		q.Set("punctuate", "true")
		if wanted.Language != "" {
			q.Set("language", wanted.Language)
		}
	}
	terms := "keyterm" // parameter of newer models
	if strings.HasPrefix(model, "nova-2") || strings.HasPrefix(model, "nova-general") || strings.HasPrefix(model, "enhanced") || strings.HasPrefix(model, "base") {
		terms = "keywords"
	}
	for _, k := range wanted.Keywords[:min(len(wanted.Keywords), termsMost)] {
		q.Add(terms, k)
	}
	path := "/v1/listen?"
	if flux {
		path = "/v2/listen?"
		if language, _, _ := strings.Cut(wanted.Language, "-"); language != "" && strings.HasSuffix(model, "multi") {
			q.Set("language_hint", language)
		}
	}
	return w.URL + path + q.Encode()
}

// turn is the connection that recognizes one turn of the caller.
type turn struct {
	recognizer *Recognizer
	notify     func(speech.RecognitionResult)
	cancel     context.CancelFunc
	more       chan struct{}
	mu         sync.Mutex
	audio      []byte // audio that is not sent yet
	total      int
	ended      bool
	closed     bool
}

// Write queues audio for sending. Audio after the end of the turn, or after its first 30 seconds, is ignored.
func (t *turn) Write(mu []byte) {
	t.mu.Lock()
	if !t.ended && t.total < soundMost {
		t.audio = append(t.audio, mu...)
		t.total += len(mu)
	}
	t.mu.Unlock()
	t.wake()
}

// End marks the end of the turn's audio. The final result follows.
func (t *turn) End() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.wake()
}

// Close cancels the recognition. No result follows.
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

// report passes a result to the callback of the turn, unless the turn is closed.
func (t *turn) report(h speech.RecognitionResult) {
	t.mu.Lock()
	closed := t.closed
	t.mu.Unlock()
	if !closed {
		t.notify(h)
	}
}

func (t *turn) run(ctx context.Context, address string) {
	defer t.cancel()
	h := speech.RecognitionResult{Final: true}
	h.Text, h.Confidence, h.Err = t.exchange(ctx, address)
	if h.Err != nil {
		h.Err = fmt.Errorf("deepgram: %w", h.Err)
	}
	t.report(h)
}

// exchange sends the audio of the turn and collects the text until Deepgram has sent all results.
func (t *turn) exchange(ctx context.Context, address string) (text string, confidence float64, err error) {
	conn, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // the library has read and closed it
		HTTPClient: t.recognizer.Client, HTTPHeader: http.Header{"Authorization": {"Token " + t.recognizer.Key}},
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
	var words transcript
	var last speech.RecognitionResult
	for {
		kind, b, err := conn.Read(ctx)
		if err != nil {
			text, confidence = words.whole()
			return text, confidence, t.closeError(err)
		}
		if kind != websocket.MessageText {
			return "", 0, fmt.Errorf("%w: binary message", engines.ErrInvalidResponse)
		}
		done, err := words.takeMessage(b)
		if err != nil || done {
			text, confidence = words.whole()
			return text, confidence, err
		}
		h := speech.RecognitionResult{Text: strings.TrimSpace(words.text + " " + words.interim), Confidence: words.confidenceOfLast, EndOfTurn: words.endOfTurn}
		if h.Text != "" && (h.Text != last.Text || h.EndOfTurn != last.EndOfTurn) {
			last = h
			t.report(h)
		}
	}
}

// closeError returns the error for a closed connection. A normal closure after the end of the turn is not an error.
func (t *turn) closeError(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended && websocket.CloseStatus(err) == websocket.StatusNormalClosure {
		return nil
	}
	if code := websocket.CloseStatus(err); code > 0 {
		return fmt.Errorf("%w: the engine closed the connection with status %d", engines.ErrRequestRefused, code)
	}
	return errors.New("the connection was lost")
}

// send writes queued audio to the connection, and the message CloseStream after the end of the turn.
func (t *turn) send(ctx context.Context, conn *websocket.Conn) {
	for {
		t.mu.Lock()
		sound, ended := t.audio, t.ended
		t.audio = nil
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

// result is a Deepgram message of type Results, with recognized words.
type result struct {
	IsFinal bool `json:"is_final"`
	Channel struct {
		Alternatives []struct {
			Transcript string  `json:"transcript"`
			Confidence float64 `json:"confidence"`
		} `json:"alternatives"`
	} `json:"channel"`
}

// transcript is the text of the turn that has been recognized so far.
type transcript struct {
	text             string
	interim          string
	endOfTurn        bool    // Flux: the caller has finished
	confidenceOfLast float64 // confidence of the newest part
	confidenceSum    float64
	letters          int
}

// takeMessage handles a message of Deepgram. done reports whether it was the last message.
func (g *transcript) takeMessage(b []byte) (done bool, err error) {
	var what struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(b, &what) != nil || what.Type == "" {
		return false, fmt.Errorf("%w: no message", engines.ErrInvalidResponse)
	}
	if what.Type == "TurnInfo" {
		return false, g.takeTurnInfo(b)
	}
	g.interim = ""
	switch what.Type {
	case "Metadata": // answer to CloseStream
		return true, nil
	case "Error", "FatalError":
		return false, engines.ErrRequestRefused
	case "Results":
	default: // Connected, UtteranceEnd and SpeechStarted, which carry no words
		return false, nil
	}
	var r result
	if json.Unmarshal(b, &r) != nil {
		return false, fmt.Errorf("%w: no results", engines.ErrInvalidResponse)
	}
	if len(r.Channel.Alternatives) == 0 {
		return false, nil
	}
	best := r.Channel.Alternatives[0]
	g.confidenceOfLast = best.Confidence
	if !r.IsFinal {
		g.interim = strings.TrimSpace(best.Transcript)
		return false, nil
	}
	g.addPart(best.Transcript, best.Confidence)
	return false, nil
}

// addPart appends a part of the text that does not change any more.
func (g *transcript) addPart(text string, confidence float64) {
	if part := strings.TrimSpace(text); part != "" {
		g.text = strings.TrimSpace(g.text + " " + part)
		g.confidenceSum += confidence * float64(len(part))
		g.letters += len(part)
	}
}

// whole returns the text of the turn and its confidence. It includes words of Flux that Deepgram has not confirmed before
// the end of the audio.
func (g *transcript) whole() (text string, confidence float64) {
	g.addPart(g.interim, g.confidenceOfLast)
	g.interim = ""
	return g.text, g.confidence()
}

// turnInfo is a message of Flux. The transcript is that of the turn so far.
type turnInfo struct {
	Event      string `json:"event"`
	Transcript string `json:"transcript"`
	Words      []struct {
		Confidence float64 `json:"confidence"`
	} `json:"words"`
}

// takeTurnInfo handles a message of Flux. Its turns end at pauses, so that several of them may be one turn of the caller.
func (g *transcript) takeTurnInfo(b []byte) error {
	var r turnInfo
	if json.Unmarshal(b, &r) != nil {
		return fmt.Errorf("%w: no turn", engines.ErrInvalidResponse)
	}
	sum := 0.0
	for _, w := range r.Words {
		sum += w.Confidence
	}
	g.interim, g.endOfTurn = strings.TrimSpace(r.Transcript), r.Event == "EndOfTurn"
	if len(r.Words) > 0 {
		g.confidenceOfLast = sum / float64(len(r.Words))
	}
	if g.endOfTurn {
		g.addPart(g.interim, g.confidenceOfLast)
		g.interim = ""
	}
	return nil
}

func (g *transcript) confidence() float64 {
	if g.letters == 0 {
		return 0
	}
	return min(max(g.confidenceSum/float64(g.letters), 0), 1)
}
