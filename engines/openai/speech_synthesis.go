// Package openai is a client of the audio endpoints of OpenAI's HTTP API: streamed speech synthesis and speech
// recognition. Local servers such as Kokoro, Piper or whisper.cpp offer the same protocol.
package openai

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
)

// Config holds the address and the credentials of a server.
type Config struct {
	URL    string // address, up to and with /v1
	Key    string // API key; "": the server needs none
	Client *http.Client
}

// post creates a POST request with the API key. kind is the content type.
func (c *Config) post(ctx context.Context, path, kind string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, body)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	r.Header.Set("Content-Type", kind)
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	return r, nil
}

// Speech synthesizes speech with POST /audio/speech.
type Speech struct {
	Config
	Rate int // sample rate of the server's PCM in Hz; OpenAI: 24000
}

// synthesisRequest is the JSON body of a synthesis request.
type synthesisRequest struct {
	Model  string  `json:"model"`
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed,omitempty"`
}

// normalRate is the speaking rate in words per minute that the API's speed 1 stands for.
const normalRate = 175

// StreamSpeech synthesizes one sentence and passes the audio to out as it arrives.
func (s *Speech) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
	body, err := json.Marshal(synthesisRequest{
		Model: r.Model, Input: r.Text, Voice: r.Voice, Format: "pcm", Speed: float64(r.Rate) / normalRate,
	})
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	request, err := s.post(ctx, "/audio/speech", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := engines.Do(s.Client, request)
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	return Stream(ctx, answer, s.Rate, out)
}

// Stream converts the audio of a response to 8 kHz µ-law as it arrives. The audio is PCM of the given sample rate, or a
// WAV file of PCM with its own sample rate.
func Stream(ctx context.Context, answer *http.Response, rate int, out func(mu []byte)) error {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if strings.HasPrefix(kind, "text/") || slices.Contains([]string{"application/json", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac", "audio/aac"}, kind) {
		return fmt.Errorf("openai: %w: %s instead of PCM", engines.ErrInvalidResponse, kind)
	}
	head, err := readHeader(answer.Body, &rate)
	if err != nil {
		return fmt.Errorf("openai: %w", cause(ctx, err))
	}
	pcm, err := wav.NewPCM(rate)
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	out(pcm.Write(head))
	buf := make([]byte, 4096)
	for {
		n, err := answer.Body.Read(buf)
		out(pcm.Write(buf[:n]))
		if errors.Is(err, io.EOF) {
			out(pcm.Flush())
			return nil
		}
		if err != nil {
			return fmt.Errorf("openai: the audio ended early: %w", cause(ctx, err))
		}
	}
}

// cause returns the cause of the context's end, or err if the context has not ended.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}

// readHeader reads the first bytes of the audio. If they are a WAV header, it removes the header and sets rate to its
// sample rate. Compressed audio is an error.
func readHeader(body io.Reader, rate *int) (head []byte, err error) {
	head = make([]byte, 12)
	n, err := io.ReadFull(body, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return head[:n], nil
	}
	if err != nil {
		return nil, err
	}
	for _, magic := range []string{"ID3", "OggS", "fLaC", "<htm", "<!DO"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil, fmt.Errorf("%w: no PCM", engines.ErrInvalidResponse)
		}
	}
	if string(head[:4]) != "RIFF" || string(head[8:12]) != "WAVE" {
		return head, nil
	}
	for range 16 { // chunks before the data chunk
		var chunk [8]byte
		if _, err := io.ReadFull(body, chunk[:]); err != nil {
			return nil, fmt.Errorf("%w: a WAV file without audio", engines.ErrInvalidResponse)
		}
		if string(chunk[:4]) == "data" {
			return nil, nil
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		content, err := io.ReadAll(io.LimitReader(body, min(size+size%2, 4096)))
		if err != nil || int64(len(content)) < size {
			return nil, fmt.Errorf("%w: a WAV file without audio", engines.ErrInvalidResponse)
		}
		if string(chunk[:4]) != "fmt " {
			continue
		}
		if len(content) < 16 || binary.LittleEndian.Uint16(content) != 1 || binary.LittleEndian.Uint16(content[2:]) != 1 || binary.LittleEndian.Uint16(content[14:]) != 16 {
			return nil, fmt.Errorf("%w: a WAV file that is not mono 16-bit PCM", engines.ErrInvalidResponse)
		}
		*rate = int(binary.LittleEndian.Uint32(content[4:]))
	}
	return nil, fmt.Errorf("%w: a WAV file without audio", engines.ErrInvalidResponse)
}
