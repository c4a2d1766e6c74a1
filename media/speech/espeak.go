package speech

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/process"
	"github.com/callboard/callboard/media/wav"
)

const (
	espeakProgram = "espeak-ng"
	espeakVoice   = "en-us"
	espeakRate    = 160
	slowest       = 80
	fastest       = 450
	outputMost    = 32 << 20 // bytes of one sentence: 12 minutes
)

// Errors of local speech synthesis.
var (
	ErrNotInstalled = errors.New("speech: espeak-ng is not installed")
	ErrBadRequest   = errors.New("speech: cannot be said")
	ErrNoPrompt     = errors.New("speech: no prompt file")
)

// voiceName matches valid voice names of espeak-ng. Other names are not passed to its command line.
var voiceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+_-]{0,31}$`)

// Espeak synthesizes with espeak-ng, one process per sentence.
type Espeak struct {
	program string
	timeout time.Duration
	slots   chan struct{}
}

// NewEspeak looks up espeak-ng and returns ErrNotInstalled without it. At most concurrency processes run at once,
// each for at most timeout.
func NewEspeak(concurrency int, timeout time.Duration) (*Espeak, error) {
	program, err := exec.LookPath(espeakProgram)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	return &Espeak{program: program, timeout: timeout, slots: make(chan struct{}, max(concurrency, 1))}, nil
}

// Speak synthesizes one sentence.
func (e *Espeak) Speak(ctx context.Context, r Request) (media.Clip, error) {
	voice, rate := r.Voice, r.Rate
	if voice == "" {
		voice = espeakVoice
	}
	if rate == 0 {
		rate = espeakRate
	}
	if !voiceName.MatchString(voice) || rate < slowest || rate > fastest {
		return nil, fmt.Errorf("%w: voice %q at %d words a minute", ErrBadRequest, voice, rate)
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("speech: waiting for espeak-ng: %w", ctx.Err())
	}
	b, err := e.run(ctx, voice, rate, r.Text)
	if err != nil {
		return nil, err
	}
	sound, err := wav.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("speech: espeak-ng: %w", err)
	}
	mu, err := sound.Mu()
	if err != nil {
		return nil, fmt.Errorf("speech: espeak-ng: %w", err)
	}
	return mu, nil
}

func (e *Espeak) run(ctx context.Context, voice string, rate int, text string) ([]byte, error) {
	cmd := process.Command(ctx, e.program, "--stdin", "--stdout", "-b", "1", "-v", voice, "-s", strconv.Itoa(rate)) // voice and rate are checked, the text goes by stdin
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "[[", "[ ["))                                            // "[[" would begin phonemes
	cmd.WaitDelay = time.Second
	out, note := limited{most: outputMost}, limited{most: 1 << 10}
	cmd.Stdout, cmd.Stderr = &out, &note
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("speech: espeak-ng: %w (%s)", err, strings.TrimSpace(note.String()))
	}
	return out.Bytes(), nil
}

// limited is a buffer that keeps the first most bytes written to it and discards later bytes.
type limited struct {
	bytes.Buffer
	most int
}

// Write keeps b up to the limit and reports success for all of b.
func (l *limited) Write(b []byte) (int, error) {
	_, _ = l.Buffer.Write(b[:min(len(b), l.most-l.Len())])
	return len(b), nil
}
