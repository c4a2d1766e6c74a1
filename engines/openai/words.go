package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"strings"
	"sync"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
)

const (
	wordsMost  = 1 << 20 // bytes of an answer
	soundMost  = 30 * 8000
	hintsMost  = 800
	unknown    = 0.9  // the confidence of a text that tells none
	noSpeech   = 0.6  // a passage that is likely to be none,
	noSpeechBy = -1.0 // and is not sure of its words, is none
)

// Words understands turns by POST /audio/transcriptions, each when it is over.
type Words struct {
	Config
	Model string // its default
}

// SupportsLanguage any language.
func (w *Words) SupportsLanguage(string) bool { return true }

// TranscribesFreeSpeech any language.
func (w *Words) TranscribesFreeSpeech(string) bool { return true }

// Open begins a turn.
func (w *Words) Open(wanted speech.RecognitionRequest, told func(speech.RecognitionResult)) speech.Stream {
	if wanted.Model == "" {
		wanted.Model = w.Model
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &turn{of: w, wanted: wanted, told: told, ctx: ctx, cancel: cancel}
}

// turn keeps the sound until its end.
type turn struct {
	of     *Words
	wanted speech.RecognitionRequest
	told   func(speech.RecognitionResult)
	ctx    context.Context //nolint:containedctx // of the turn, which outlives the call that opens it
	cancel context.CancelFunc
	mu     sync.Mutex
	sound  []byte
	ended  bool
}

// Write keeps sound.
func (t *turn) Write(mu []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.sound = append(t.sound, mu[:min(len(mu), soundMost-len(t.sound))]...)
	}
}

// End has it understood.
func (t *turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.ended = true
	go func() {
		defer t.cancel()
		h := speech.RecognitionResult{Final: true}
		if h.Text, h.Confidence, h.Err = t.of.transcribe(t.ctx, t.wanted, t.sound); t.ctx.Err() == nil {
			t.told(h)
		}
	}()
}

// Close gives up.
func (t *turn) Close() { t.cancel() }

// transcript is the answer: of json, or of verbose_json.
type transcript struct {
	Text     *string `json:"text"`
	Segments []struct {
		Text     string  `json:"text"`
		Average  float64 `json:"avg_logprob"`
		NoSpeech float64 `json:"no_speech_prob"`
	} `json:"segments"`
	Tokens []struct {
		Log float64 `json:"logprob"`
	} `json:"logprobs"`
}

func (w *Words) transcribe(ctx context.Context, wanted speech.RecognitionRequest, sound []byte) (text string, confidence float64, err error) {
	body, kind, err := form(wanted, sound)
	if err != nil {
		return "", 0, fmt.Errorf("openai: %w", err)
	}
	request, err := w.post(ctx, "/audio/transcriptions", kind, body)
	if err != nil {
		return "", 0, err
	}
	answer, err := engines.Do(w.Client, request)
	if err != nil {
		return "", 0, fmt.Errorf("openai: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(answer.Body, wordsMost))
	if err != nil {
		return "", 0, fmt.Errorf("openai: the text broke off: %w", cause(ctx, err))
	}
	var told transcript
	if err := json.Unmarshal(b, &told); err != nil || told.Text == nil {
		return "", 0, fmt.Errorf("openai: %w: no transcription", engines.ErrGarbage)
	}
	text, confidence = told.read()
	return text, confidence, nil
}

// read is the text with how sure it is. Passages that are likely to be no speech are dropped: some models invent words for
// silence.
func (t *transcript) read() (text string, confidence float64) {
	sum, n := 0.0, 0
	for _, token := range t.Tokens {
		sum, n = sum+token.Log, n+1
	}
	if len(t.Segments) == 0 {
		text = strings.TrimSpace(*t.Text)
	}
	for _, s := range t.Segments {
		if s.NoSpeech > noSpeech && s.Average < noSpeechBy {
			continue
		}
		text = strings.TrimSpace(text + " " + strings.TrimSpace(s.Text))
		sum, n = sum+s.Average, n+1
	}
	switch {
	case text == "":
		return "", 0
	case n == 0:
		return text, unknown
	}
	return text, min(max(math.Exp(sum/float64(n)), 0), 1)
}

// form is the body of the request: a WAV of 16 bits, as every server reads it.
func form(wanted speech.RecognitionRequest, sound []byte) (body io.Reader, kind string, err error) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	field := func(name, value string) {
		if err == nil && value != "" {
			err = m.WriteField(name, value)
		}
	}
	language, _, _ := strings.Cut(strings.ToLower(wanted.Language), "-")
	field("model", wanted.Model)
	field("language", language)
	field("prompt", hints(wanted))
	switch {
	case strings.HasPrefix(wanted.Model, "whisper"):
		field("response_format", "verbose_json")
	case strings.HasPrefix(wanted.Model, "gpt-"):
		field("response_format", "json")
		field("include[]", "logprobs")
	default:
		field("response_format", "json")
	}
	if err != nil {
		return nil, "", err
	}
	file, err := m.CreateFormFile("file", "turn.wav")
	if err != nil {
		return nil, "", err
	}
	if _, err = file.Write(wav.EncodePCM(1, g711.DecodeMu(sound))); err == nil {
		err = m.Close()
	}
	return &b, m.FormDataContentType(), err
}

// hints are the words that are likely to be said, as the text that came before: models spell like it.
func hints(wanted speech.RecognitionRequest) string {
	text := ""
	for _, w := range append(wanted.Keywords, wanted.Phrases...) {
		if len(text)+len(w) > hintsMost {
			break
		}
		if text != "" {
			text += ", "
		}
		text += w
	}
	return text
}
