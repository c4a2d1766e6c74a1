// Package elevenlabs speaks ElevenLabs' streaming endpoint, as the µ-law of telephones.
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

// Speech speaks by POST /v1/text-to-speech/{voice}/stream.
type Speech struct {
	URL    string // up to and without /v1
	Key    string
	Client *http.Client
}

// order is the body of the request.
type order struct {
	Text     string    `json:"text"`
	Model    string    `json:"model_id"`
	Language string    `json:"language_code,omitempty"`
	Settings *settings `json:"voice_settings,omitempty"`
}

type settings struct {
	Speed float64 `json:"speed"`
}

const (
	normalRate = 175 // words a minute of a speed of 1
	slowest    = 0.7
	fastest    = 1.2
)

// StreamSpeech streams one sentence.
func (s *Speech) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
	o := order{Text: r.Text, Model: r.Model}
	if strings.Contains(r.Model, "flash_v2_5") || strings.Contains(r.Model, "turbo_v2_5") { // the others take none
		o.Language, _, _ = strings.Cut(strings.ToLower(r.Language), "-")
	}
	if r.Rate > 0 {
		o.Settings = &settings{Speed: min(max(float64(r.Rate)/normalRate, slowest), fastest)}
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
		return fmt.Errorf("elevenlabs: %w: %s in place of µ-law", engines.ErrGarbage, kind)
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
			return fmt.Errorf("elevenlabs: the sound broke off: %w", err)
		}
	}
}
