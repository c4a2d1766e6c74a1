// Package openai speaks OpenAI's HTTP: speech that is played while it comes, and transcriptions. Many servers do, also such
// that run beside this one.
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

// Config is how a server is reached.
type Config struct {
	URL    string // up to and with /v1
	Key    string // "": it asks for none
	Client *http.Client
}

// post makes a request.
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

// Speech speaks by POST /audio/speech.
type Speech struct {
	Config
	Rate int // of the PCM that the server sends, Hz; OpenAI's is 24000
}

// speechOrder is the body of the request.
type speechOrder struct {
	Model  string  `json:"model"`
	Input  string  `json:"input"`
	Voice  string  `json:"voice"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed,omitempty"`
}

// normalRate is a speed of 1 in words a minute.
const normalRate = 175

// StreamSpeech streams one sentence.
func (s *Speech) StreamSpeech(ctx context.Context, r speech.Request, out func(mu []byte)) error {
	body, err := json.Marshal(speechOrder{
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

// Stream hands over the sound of an answer as it comes: PCM of so many Hz, or a WAV of PCM, whose own rate counts.
func Stream(ctx context.Context, answer *http.Response, rate int, out func(mu []byte)) error {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if strings.HasPrefix(kind, "text/") || slices.Contains([]string{"application/json", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac", "audio/aac"}, kind) {
		return fmt.Errorf("openai: %w: %s in place of PCM", engines.ErrGarbage, kind)
	}
	head, err := begins(answer.Body, &rate)
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
			return fmt.Errorf("openai: the sound broke off: %w", cause(ctx, err))
		}
	}
}

// cause is why a context ended in place of what follows from it.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}

// begins reads the first bytes of the sound. A header of a WAV is taken off, and tells the rate; what is compressed is no
// PCM.
func begins(body io.Reader, rate *int) (head []byte, err error) {
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
			return nil, fmt.Errorf("%w: no PCM", engines.ErrGarbage)
		}
	}
	if string(head[:4]) != "RIFF" || string(head[8:12]) != "WAVE" {
		return head, nil
	}
	for range 16 { // chunks before the sound
		var chunk [8]byte
		if _, err := io.ReadFull(body, chunk[:]); err != nil {
			return nil, fmt.Errorf("%w: a WAV without sound", engines.ErrGarbage)
		}
		if string(chunk[:4]) == "data" {
			return nil, nil
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		content, err := io.ReadAll(io.LimitReader(body, min(size+size%2, 4096)))
		if err != nil || int64(len(content)) < size {
			return nil, fmt.Errorf("%w: a WAV without sound", engines.ErrGarbage)
		}
		if string(chunk[:4]) != "fmt " {
			continue
		}
		if len(content) < 16 || binary.LittleEndian.Uint16(content) != 1 || binary.LittleEndian.Uint16(content[2:]) != 1 || binary.LittleEndian.Uint16(content[14:]) != 16 {
			return nil, fmt.Errorf("%w: a WAV that is not mono PCM of 16 bits", engines.ErrGarbage)
		}
		*rate = int(binary.LittleEndian.Uint32(content[4:]))
	}
	return nil, fmt.Errorf("%w: a WAV without sound", engines.ErrGarbage)
}
