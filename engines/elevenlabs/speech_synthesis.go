// Package elevenlabs is a client of ElevenLabs' streaming speech synthesis, with 8 kHz µ-law output and the times of words.
package elevenlabs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media/speech"
)

// Speech synthesizes speech with POST /v1/text-to-speech/{voice}/stream/with-timestamps.
type Speech struct {
	URL    string // address before /v1
	Key    string
	Client *http.Client
}

// synthesisRequest is the JSON body of a synthesis request.
type synthesisRequest struct {
	Text     string         `json:"text"`
	Model    string         `json:"model_id"`
	Language string         `json:"language_code,omitempty"`
	Settings *voiceSettings `json:"voice_settings,omitempty"`
}

type voiceSettings struct {
	Speed float64 `json:"speed"`
}

const (
	normalRate = 175 // words per minute at speed 1
	minSpeed   = 0.7
	maxSpeed   = 1.2

	sampleRate    = 8000
	timeTolerance = 0.05    // seconds by which characters may overlap
	maxLine       = 4 << 20 // bytes of one JSON object; more than three minutes of audio
)

// timedAudio is one JSON object of the response: a piece of the audio and the times of its characters.
type timedAudio struct {
	Audio     []byte     `json:"audio_base64"` // 8 kHz µ-law
	Alignment *alignment `json:"alignment"`    // of the text of the request; nil: unknown
}

// alignment holds the characters of the text and the times at which they begin and end, in seconds.
type alignment struct {
	Characters []string  `json:"characters"`
	Starts     []float64 `json:"character_start_times_seconds"`
	Ends       []float64 `json:"character_end_times_seconds"`
}

// StreamSpeech synthesizes one sentence and passes the audio to out as it arrives.
func (s *Speech) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
	return s.StreamWords(ctx, r, out, func(speech.WordTime) {})
}

// StreamWords synthesizes one sentence. It passes the audio to out as it arrives, and the times of the words before it.
func (s *Speech) StreamWords(ctx context.Context, r speech.Request, out func(mu []byte), spoken func(speech.WordTime)) error {
	o := synthesisRequest{Text: r.Text, Model: r.Model}
	if r.SSML { // the API reads the elements without the root element
		o.Text = strings.TrimSuffix(r.Text[strings.IndexByte(r.Text, '>')+1:], "</speak>")
	}
	if strings.Contains(r.Model, "flash_v2_5") || strings.Contains(r.Model, "turbo_v2_5") { // other models refuse a language
		o.Language, _, _ = strings.Cut(strings.ToLower(r.Language), "-")
	}
	if r.Rate > 0 {
		o.Settings = &voiceSettings{Speed: min(max(float64(r.Rate)/normalRate, minSpeed), maxSpeed)}
	}
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("elevenlabs: %w", err)
	}
	address := s.URL + "/v1/text-to-speech/" + url.PathEscape(r.Voice) + "/stream/with-timestamps?output_format=ulaw_8000"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("elevenlabs: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Xi-Api-Key", s.Key)
	answer, err := engines.Do(s.Client, request)
	if err != nil {
		return fmt.Errorf("elevenlabs: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxLine)
	words := wordTimes{spoken: spoken}
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var piece timedAudio
		if err := json.Unmarshal(lines.Bytes(), &piece); err != nil {
			return fmt.Errorf("elevenlabs: %w: no JSON with audio", engines.ErrInvalidResponse)
		}
		words.add(piece.Alignment)
		words.samples += len(piece.Audio)
		out(piece.Audio)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("elevenlabs: %w: a line is longer than %d bytes", engines.ErrInvalidResponse, maxLine)
	}
	if lines.Err() != nil {
		return fmt.Errorf("elevenlabs: the audio ended early: %w", lines.Err())
	}
	words.report()
	return nil
}

// wordTimes finds the ends of the words in the times of the characters.
type wordTimes struct {
	spoken  func(speech.WordTime)
	samples int     // of the audio so far
	bytes   int     // of the text so far
	end     float64 // of the last character so far, in seconds
}

// add reports the words of an alignment. Its times count from the beginning of the audio, or from the beginning of the
// piece if they would go back otherwise.
func (w *wordTimes) add(a *alignment) {
	if a == nil || len(a.Characters) == 0 || len(a.Starts) != len(a.Characters) || len(a.Ends) != len(a.Characters) {
		return
	}
	offset := 0.0
	if a.Starts[0] < w.end-timeTolerance {
		offset = float64(w.samples) / sampleRate
	}
	for i, c := range a.Characters {
		if strings.TrimSpace(c) == "" {
			w.report()
		}
		w.bytes += len(c)
		w.end = offset + a.Ends[i]
	}
}

// report reports the word that ends with the last character.
func (w *wordTimes) report() {
	if w.bytes > 0 {
		w.spoken(speech.WordTime{TextEnd: w.bytes, AudioEnd: int(math.Round(w.end * sampleRate))})
	}
}
