// Package elevenlabs is a client of ElevenLabs' streaming speech synthesis, with 8 kHz µ-law output.
package elevenlabs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media/speech"
)

// Speech synthesizes speech with POST /v1/text-to-speech/{voice}/stream.
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
)

// StreamSpeech synthesizes one sentence and passes the audio to out as it arrives.
func (s *Speech) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
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
	address := s.URL + "/v1/text-to-speech/" + url.PathEscape(r.Voice) + "/stream?output_format=ulaw_8000"
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
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind == "application/json" || strings.HasPrefix(kind, "text/") || kind == "audio/mpeg" {
		return fmt.Errorf("elevenlabs: %w: %s instead of µ-law", engines.ErrInvalidResponse, kind)
	}
	buf := make([]byte, 4096)
	for {
		n, err := answer.Body.Read(buf)
		out(buf[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return fmt.Errorf("elevenlabs: the audio ended early: %w", err)
		}
	}
}
