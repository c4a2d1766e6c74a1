package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"regexp"
	"strings"
	"sync"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
)

const (
	maxResponseBytes       = 1 << 20 // bytes of a response
	maxTurnSamples         = 30 * 8000
	hintsMost              = 800
	defaultConfidence      = 0.9  // confidence of a text for which the server reports none
	maxNoSpeechProbability = 0.6  // a segment above this probability and below minLogProbability is dropped
	minLogProbability      = -1.0 // average log probability of a segment
)

// Recognizer transcribes turns of the caller with POST /audio/transcriptions. It sends a turn after the turn has ended.
type Recognizer struct {
	Config
	Model string // default model
}

// SupportsLanguage returns true for every language, because only the server knows which languages a model supports.
func (w *Recognizer) SupportsLanguage(string) bool { return true }

// TranscribesFreeSpeech returns true: the server is not limited to expected phrases in any language.
func (w *Recognizer) TranscribesFreeSpeech(string) bool { return true }

// Open starts collecting the audio of a turn. It calls told with the result after the end of the turn.
func (w *Recognizer) Open(wanted speech.RecognitionRequest, told func(speech.RecognitionResult)) speech.Stream {
	if wanted.Model == "" {
		wanted.Model = w.Model
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &turn{recognizer: w, wanted: wanted, notify: told, ctx: ctx, cancel: cancel}
}

// turn collects the audio of one turn of the caller until its transcription.
type turn struct {
	recognizer *Recognizer
	wanted     speech.RecognitionRequest
	notify     func(speech.RecognitionResult)
	ctx        context.Context //nolint:containedctx // of the turn, which outlives Open
	cancel     context.CancelFunc
	mu         sync.Mutex
	audio      []byte
	ended      bool
}

// Write adds audio to the turn.
func (t *turn) Write(mu []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.audio = append(t.audio, mu[:min(len(mu), maxTurnSamples-len(t.audio))]...)
	}
}

// End ends the audio of the turn and starts its transcription.
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
		if h.Text, h.Confidence, h.Err = t.recognizer.transcribe(t.ctx, t.wanted, t.audio); t.ctx.Err() == nil {
			t.notify(h)
		}
	}()
}

// Close cancels the transcription of the turn.
func (t *turn) Close() { t.cancel() }

// transcript is the JSON of a transcription response in the format json or verbose_json.
type transcript struct {
	Text     *string `json:"text"`
	Segments []struct {
		Text     string   `json:"text"`
		Average  *float64 `json:"avg_logprob"` // LocalAI sends none
		NoSpeech float64  `json:"no_speech_prob"`
	} `json:"segments"`
	Tokens []struct {
		Log float64 `json:"logprob"`
	} `json:"logprobs"`
}

func (w *Recognizer) transcribe(ctx context.Context, wanted speech.RecognitionRequest, sound []byte) (text string, confidence float64, err error) {
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
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxResponseBytes))
	if err != nil {
		return "", 0, fmt.Errorf("openai: the transcription ended early: %w", cause(ctx, err))
	}
	var told transcript
	if err := json.Unmarshal(b, &told); err != nil || told.Text == nil {
		return "", 0, fmt.Errorf("openai: %w: no transcription", engines.ErrInvalidResponse)
	}
	text, confidence = told.result()
	return text, confidence, nil
}

// nonSpeech matches the notes of Whisper models about sounds, such as "[BLANK_AUDIO]", "(music)" and "*coughs*".
var nonSpeech = regexp.MustCompile(`\[[^\[\]]{1,60}\]|\([^()]{1,60}\)|\*[^*]{1,60}\*|[♪♫]+`)

// result returns the recognized text and its confidence. It drops segments that are probably not speech, because some
// models invent words for silence, and notes about sounds. Line breaks between segments become spaces.
func (t *transcript) result() (text string, confidence float64) {
	sum, n := 0.0, 0
	for _, token := range t.Tokens {
		sum, n = sum+token.Log, n+1
	}
	var spoken []string
	if len(t.Segments) == 0 {
		spoken = append(spoken, *t.Text)
	}
	for _, s := range t.Segments {
		if s.Average != nil {
			if s.NoSpeech > maxNoSpeechProbability && *s.Average < minLogProbability {
				continue
			}
			sum, n = sum+*s.Average, n+1
		}
		spoken = append(spoken, s.Text)
	}
	text = strings.Join(strings.Fields(nonSpeech.ReplaceAllString(strings.Join(spoken, " "), " ")), " ")
	switch {
	case text == "":
		return "", 0
	case n == 0:
		return text, defaultConfidence
	}
	return text, min(max(math.Exp(sum/float64(n)), 0), 1)
}

// form returns the multipart body of a transcription request and its content type. The audio is a 16-bit WAV file, which
// every server accepts.
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

// hints returns the prompt parameter of a transcription request, which contains the expected words. Models follow its
// spelling, because they treat the prompt as the text before the audio.
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
