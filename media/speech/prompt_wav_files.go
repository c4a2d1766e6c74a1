package speech

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

// WAVPrefix marks a text that names a file of the prompt directory, such as "wav:welcome.wav".
const WAVPrefix = "wav:"

const promptMost = 32 << 20 // bytes of a file

// PromptFiles plays WAV files of the prompt directory in place of synthesized speech. The text "wav:NAME" plays that
// file. Any other text plays the file with the name Slug(text), or PromptHash(text) if two texts have the same slug.
// Files in a subfolder with the name of the voice have priority. Files outside of the directory are not read.
type PromptFiles struct{ root *os.Root }

// NewPromptFiles opens the directory.
func NewPromptFiles(dir string) (*PromptFiles, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("speech: prompts: %w", err)
	}
	return &PromptFiles{root}, nil
}

// HasFiles reports whether the prompt directory is not empty.
func (p *PromptFiles) HasFiles() bool {
	dir, err := p.root.Open(".")
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}

// PromptHash returns the alternative file name of a text, without ".wav".
func PromptHash(text string) string {
	sum := sha256.Sum256([]byte(clean(text)))
	return hex.EncodeToString(sum[:8])
}

// Speak returns the audio of the file that belongs to the text.
func (p *PromptFiles) Speak(ctx context.Context, r Request) (media.Clip, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names := []string{PromptHash(r.Text) + ".wav", Slug(r.Text) + ".wav"}
	if name, ok := strings.CutPrefix(r.Text, WAVPrefix); ok {
		names = []string{strings.TrimSpace(name)}
	}
	if voiceName.MatchString(r.Voice) {
		for _, n := range slices.Clip(names) {
			names = append([]string{r.Voice + "/" + n}, names...)
		}
	}
	for _, name := range names {
		clip, err := p.read(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return clip, err
		}
	}
	return nil, fmt.Errorf("%w: looked for %s", ErrNoPrompt, strings.Join(names, ", "))
}

func (p *PromptFiles) read(name string) (media.Clip, error) {
	f, err := p.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("speech: prompt: %w", err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, promptMost+1))
	if err != nil {
		return nil, fmt.Errorf("speech: prompt %s: %w", name, err)
	}
	if len(b) > promptMost {
		return nil, fmt.Errorf("speech: prompt %s: %w", name, wav.ErrTooLarge)
	}
	sound, err := wav.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("speech: prompt %s: %w", name, err)
	}
	mu, err := sound.Mu()
	if err != nil {
		return nil, fmt.Errorf("speech: prompt %s: %w", name, err)
	}
	return mu, nil
}

// Close closes the directory.
func (p *PromptFiles) Close() error { return p.root.Close() }
