package testspeech

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/media/process"
	"github.com/callboard/callboard/media/wav"
)

const (
	defaultRate = 160
	sayAtMost   = time.Minute
	largestFile = 64 << 20 // bytes
	audible     = 0.01     // magnitude relative to the peak from which a sample at the edge counts as speech
)

// ErrVoice says that a voice has no such synthesizer or that the synthesizer does not know its name.
var ErrVoice = errors.New("testspeech: unknown voice")

// processes limits the number of synthesizers that run at once.
var processes = make(chan struct{}, 4)

// memory is the cache of Say.
var memory Cache

// utterance is a text in a voice.
type utterance struct {
	voice Voice
	text  string
}

// Cache holds synthesized speech in memory and, with a directory, as WAV files that other processes use too.
type Cache struct {
	dir    string   // "": memory only
	spoken sync.Map // from utterance to a func() (Sound, error)
}

// NewCache returns a cache with a directory, which it makes if necessary.
func NewCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("testspeech: %w", err)
	}
	return &Cache{dir: dir}, nil
}

// Say returns a text in a voice, without silence before and after it, at StandardLevel. It is synthesized once per process.
func Say(voice Voice, text string) (Sound, error) { return memory.Say(voice, text) }

// Say returns what the function Say returns. Speech that is in the directory is not synthesized.
func (c *Cache) Say(voice Voice, text string) (Sound, error) {
	u := utterance{voice, text}
	once, _ := c.spoken.LoadOrStore(u, sync.OnceValues(func() (Sound, error) { return c.speak(u) }))
	said, err := once.(func() (Sound, error))()
	return slices.Clone(said), err
}

// speak reads speech from the directory, or synthesizes it.
func (c *Cache) speak(u utterance) (Sound, error) {
	path := filepath.Join(c.dir, u.fileName())
	if c.dir != "" {
		if stored, err := wav.ReadFile(path, largestFile); err == nil {
			return trimmed(stored.Samples).AtLevel(StandardLevel), nil
		}
	}
	samples, err := u.synthesize()
	if err != nil {
		return nil, fmt.Errorf("testspeech: %s says %q: %w", u.voice, u.text, err)
	}
	if c.dir != "" {
		if err := writeFile(path, wav.EncodePCM(1, samples)); err != nil {
			return nil, err
		}
	}
	return trimmed(samples).AtLevel(StandardLevel), nil
}

func (u utterance) fileName() string {
	sum := sha256.Sum256([]byte(u.voice.String() + " " + strconv.Itoa(u.voice.Rate) + " " + u.text))
	return hex.EncodeToString(sum[:12]) + ".wav"
}

// writeFile writes a file so that other processes see it complete or not at all.
func writeFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fmt.Errorf("testspeech: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("testspeech: %w", err)
	}
	return nil
}

// synthesize runs the synthesizer and resamples its output to Rate.
func (u utterance) synthesize() ([]int16, error) {
	processes <- struct{}{}
	defer func() { <-processes }()
	ctx, cancel := context.WithTimeout(context.Background(), sayAtMost)
	defer cancel()
	dir, err := os.MkdirTemp("", "testspeech-")
	if err != nil {
		return nil, fmt.Errorf("directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "said.wav")
	program, args := u.voice.command(path)
	if program == "" {
		return nil, fmt.Errorf("%w: no synthesizer has this name", ErrVoice)
	}
	cmd := process.Command(ctx, program, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(u.text), &stderr
	if err = cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", program, err, stderr.String())
	}
	said, err := wav.ReadFile(path, largestFile)
	if err != nil { // espeak-ng ends without an error
		return nil, fmt.Errorf("%w: %s: %s", ErrVoice, program, stderr.String())
	}
	return wav.Resample(said.Samples, said.Rate, Rate)
}

// command returns the command that reads a text from standard input and writes speech to a WAV file.
func (v Voice) command(path string) (program string, args []string) {
	switch v.Engine {
	case Espeak:
		rate := v.Rate
		if rate == 0 {
			rate = defaultRate
		}
		return "espeak-ng", []string{"--stdin", "-w", path, "-b", "1", "-v", v.Name, "-s", strconv.Itoa(rate)}
	case Flite:
		return "flite", []string{"-voice", v.Name, "-f", "/dev/stdin", "-o", path}
	case Festival:
		return "text2wave", []string{"-eval", "(voice_" + v.Name + "_diphone)", "-o", path}
	}
	return "", nil
}

// trimmed removes silence before and after speech.
//
//go:norace
func trimmed(samples []int16) Sound {
	out := make(Sound, len(samples))
	for i, v := range samples {
		out[i] = float64(v) / 32768
	}
	threshold := audible * out.Peak()
	first, last := len(out), -1
	for i, v := range out {
		if math.Abs(v) > threshold {
			first, last = min(first, i), i
		}
	}
	return out[min(first, last+1) : last+1]
}
