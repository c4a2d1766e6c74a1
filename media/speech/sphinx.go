package speech

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/media/process"
	"github.com/callboard/callboard/media/wav"
)

const (
	sphinxProgram = "pocketsphinx_batch"
	sphinxRate    = 16000
	turnFiles     = "turn-"
	turnMost      = 20 * 8000 // samples of one turn; what is said beyond is not heard
	phrasesMost   = 500
	phraseWords   = 12
	knownMost     = 20_000 // words whose sound is remembered
)

// ErrDeaf is what hearing fails with where pocketsphinx is not installed.
var ErrRecognizerNotInstalled = errors.New("speech: pocketsphinx is not installed")

// The phones of the model. A loop of them is what any speech at all would be:
// words count as far as they fit better than that. Each phone of the loop costs
// its probability.
const (
	phones    = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
	phoneCost = 0.1
)

// Words that fit no better than the loop are trusted by evenFit, and by perPoint
// more for each point that they fit better, a frame.
const (
	evenFit  = 0.5
	perPoint = 0.0625
)

// mirror is how loud the image above 4 kHz is beside the sound below it.
const mirror = 0.1

// sphinxWord is all that reaches a grammar.
var sphinxWord = regexp.MustCompile(`^[a-z][a-z'-]{0,31}$`)

// Sphinx understands English by pocketsphinx: the phrases that it is told, and
// nothing else. Each turn is one run of the program beside another that knows
// only sounds, which tells how far the words can be trusted.
type Sphinx struct {
	program, model, dir string
	timeout             time.Duration
	slots               chan struct{}

	mu    sync.Mutex
	known map[string][]string // sounds of words; none: there is no such word
}

// NewSphinx finds pocketsphinx and its English model; ErrDeaf where they are not
// there. At most so many turns are understood at once, each for at most timeout.
// The files of a turn are made in dir and removed at its end; what a killed process left there is removed now. "": the
// system's place.
func NewSphinx(dir string, concurrency int, timeout time.Duration) (*Sphinx, error) {
	program, err := exec.LookPath(sphinxProgram)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecognizerNotInstalled, err)
	}
	const model = "/usr/share/pocketsphinx/model/en-us"
	if _, err := os.Stat(filepath.Join(model, "cmudict-en-us.dict")); err != nil {
		return nil, fmt.Errorf("%w: its English model is missing: %w", ErrRecognizerNotInstalled, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, turnFiles+"*"))
	for _, path := range left { // by a process that was killed
		if dir != "" {
			_ = os.RemoveAll(path)
		}
	}
	return &Sphinx{program: program, model: model, dir: dir, timeout: timeout, slots: make(chan struct{}, max(concurrency, 1)), known: make(map[string][]string)}, nil
}

// SupportsLanguage English alone.
func (s *Sphinx) SupportsLanguage(language string) bool {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	return tag == "en"
}

// TranscribesFreeSpeech nothing but what is expected.
func (s *Sphinx) TranscribesFreeSpeech(string) bool { return false }

// Open begins a turn. It is understood when it is over.
func (s *Sphinx) Open(w RecognitionRequest, told func(RecognitionResult)) Stream {
	ctx, cancel := context.WithCancel(context.Background())
	return &sphinxTurn{of: s, phrases: w.Phrases, told: told, ctx: ctx, cancel: cancel}
}

// sphinxTurn keeps the sound until its end.
type sphinxTurn struct {
	of      *Sphinx
	phrases []string
	told    func(RecognitionResult)
	ctx     context.Context //nolint:containedctx // of the turn, which outlives the call that opens it
	cancel  context.CancelFunc
	mu      sync.Mutex
	mulaw   []byte
	ended   bool
}

// Write keeps sound.
func (t *sphinxTurn) Write(mu []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.mulaw = append(t.mulaw, mu[:min(len(mu), turnMost-len(t.mulaw))]...)
	}
}

// End has it understood.
func (t *sphinxTurn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.ended = true
	go t.understand(t.mulaw)
}

// Close gives up.
func (t *sphinxTurn) Close() {
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.mulaw = true, nil
}

func (t *sphinxTurn) understand(mu []byte) {
	defer t.cancel()
	ctx, cancel := context.WithTimeout(t.ctx, t.of.timeout)
	defer cancel()
	h := RecognitionResult{Final: true}
	h.Text, h.Confidence, h.Err = t.of.understand(ctx, mu, t.phrases)
	if t.ctx.Err() == nil {
		t.told(h)
	}
}

// understand runs both programs over one turn.
func (s *Sphinx) understand(ctx context.Context, mu []byte, phrases []string) (text string, confidence float64, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("speech: hearing panicked: %v", v)
		}
	}()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return "", 0, fmt.Errorf("speech: waiting for pocketsphinx: %w", ctx.Err())
	}
	grammar, words, err := s.grammar(phrases)
	if err != nil || grammar == "" || len(mu) == 0 {
		return "", 0, err
	}
	dir, err := os.MkdirTemp(s.dir, turnFiles)
	if err != nil {
		return "", 0, fmt.Errorf("speech: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sound, err := wide(mu)
	if err != nil {
		return "", 0, err
	}
	raw := make([]byte, 0, 2*len(sound))
	for _, v := range sound {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v)) //nolint:gosec // the bits of it
	}
	loop, loopWords := phoneLoop()
	for name, content := range map[string][]byte{
		"u.raw": raw, "ctl": []byte("u\n"),
		"words.fsg": []byte(grammar), "words.dict": []byte(words), "loop.fsg": []byte(loop), "loop.dict": []byte(loopWords),
	} {
		if err = os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", 0, fmt.Errorf("speech: %w", err)
		}
	}
	var best, free decoded
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() { best, failed[0] = s.decode(ctx, dir, "words") })
	both.Go(func() { free, failed[1] = s.decode(ctx, dir, "loop") })
	both.Wait()
	if err = errors.Join(failed[:]...); err != nil {
		return "", 0, err
	}
	if best.text == "" || free.frames == 0 {
		return "", 0, nil
	}
	fit := float64(best.score-free.score) / float64(max(best.frames, 1))
	return best.text, math.Round(100*min(max(evenFit+perPoint*fit, 0), 1)) / 100, nil
}

// wide is the sound of a telephone at the model's rate. The telephone ends at 4 kHz, and the model listens to 6.8 kHz: what
// is missing there is a faint mirror image of what is below, so that an s hisses.
func wide(mu []byte) ([]int16, error) {
	low := linear(mu)
	sound, err := wav.Resample(low, 8000, sphinxRate)
	if err != nil {
		return nil, fmt.Errorf("speech: %w", err)
	}
	for i, v := range sound {
		image := -float64(v) // samples with zeros between them hold the sound and its image
		if i%2 == 0 && i/2 < len(low) {
			image += 2 * float64(low[i/2])
		}
		sound[i] = int16(min(max(float64(v)+mirror*image, -32768), 32767))
	}
	return sound, nil
}

// decoded is what one run found.
type decoded struct {
	text          string
	score, frames int
}

func (s *Sphinx) decode(ctx context.Context, dir, name string) (d decoded, err error) {
	at := func(file string) string { return filepath.Join(dir, file) }
	cmd := process.Command(ctx, s.program, "-hmm", filepath.Join(s.model, "en-us"), "-dict", at(name+".dict"), "-fsg", at(name+".fsg"),
		"-cmn", "batch", "-vad_threshold", "3", "-dither", "yes", "-seed", "1", "-beam", "1e-70", "-wbeam", "1e-50", "-pbeam", "1e-70", "-adcin", "yes", "-cepdir", dir, "-cepext", ".raw", "-ctl", at("ctl"), "-hypseg", at(name+".seg"), "-logfn", os.DevNull)
	cmd.WaitDelay = time.Second
	note := limited{most: 1 << 10}
	cmd.Stderr = &note
	if err = cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return d, fmt.Errorf("speech: pocketsphinx: %w (%s)", err, strings.TrimSpace(note.String()))
	}
	b, err := os.ReadFile(at(name + ".seg"))
	if err != nil {
		return d, fmt.Errorf("speech: pocketsphinx: %w", err)
	}
	return segments(string(b))
}

// segments reads "u S 0 T score A … L … {frame score score word}… frame".
func segments(line string) (d decoded, err error) {
	f := strings.Fields(line)
	const head = 9
	if len(f) < head+1 || f[3] != "T" {
		return d, fmt.Errorf("speech: pocketsphinx answered %.80q", line)
	}
	d.score, err = strconv.Atoi(f[4])
	if err == nil {
		d.frames, err = strconv.Atoi(f[len(f)-1])
	}
	if err != nil {
		return d, fmt.Errorf("speech: pocketsphinx answered %.80q", line)
	}
	var words []string
	for i := head; i+3 < len(f); i += 4 {
		word, _, _ := strings.Cut(f[i+3], "(")
		if sphinxWord.MatchString(word) {
			words = append(words, word)
		}
	}
	d.text = strings.Join(words, " ")
	return d, nil
}

// grammar is an automaton that takes each phrase, and the sounds of its words. A
// phrase with a word that has no sound is left out; "": none is left.
func (s *Sphinx) grammar(phrases []string) (fsg, dict string, err error) {
	var all [][]string
	needed := make(map[string]bool)
	for _, phrase := range phrases[:min(len(phrases), phrasesMost)] {
		words := strings.Fields(strings.ToLower(phrase))
		if len(words) == 0 || len(words) > phraseWords {
			continue
		}
		all = append(all, words)
		for _, w := range words {
			needed[w] = true
		}
	}
	sounds, err := s.sounds(needed)
	if err != nil {
		return "", "", err
	}
	var arcs, lines strings.Builder
	states, taken := 2, 0
	used := make(map[string]bool)
	for _, words := range all {
		if !spelt(words, sounds) {
			continue
		}
		taken++
		from := 0
		for i, w := range words {
			to := 1
			if i < len(words)-1 {
				to = states
				states++
			}
			fmt.Fprintf(&arcs, "TRANSITION %d %d 1.0 %s\n", from, to, w)
			from = to
			if used[w] {
				continue
			}
			used[w] = true
			entries(&lines, w, sounds[w])
		}
	}
	if taken == 0 {
		return "", "", nil
	}
	return automaton(states, arcs.String()), lines.String(), nil
}

// entries writes how a word may sound.
func entries(to *strings.Builder, word string, sounds []string) {
	for n, sound := range sounds {
		if n == 0 {
			fmt.Fprintf(to, "%s %s\n", word, sound)
		} else {
			fmt.Fprintf(to, "%s(%d) %s\n", word, n+1, sound)
		}
	}
}

func spelt(words []string, sounds map[string][]string) bool {
	for _, w := range words {
		if len(sounds[w]) == 0 {
			return false
		}
	}
	return true
}

func automaton(states int, arcs string) string {
	return fmt.Sprintf("FSG_BEGIN <words>\nNUM_STATES %d\nSTART_STATE 0\nFINAL_STATE 1\n%sFSG_END\n", states, arcs)
}

// phoneLoop takes any sounds.
func phoneLoop() (fsg, dict string) {
	var arcs, lines strings.Builder
	arcs.WriteString("TRANSITION 0 2 1.0\nTRANSITION 2 1 1.0\n")
	for p := range strings.FieldsSeq(phones) {
		word := "xx" + strings.ToLower(p)
		fmt.Fprintf(&arcs, "TRANSITION 2 2 %g %s\n", phoneCost, word)
		fmt.Fprintf(&lines, "%s %s\n", word, p)
	}
	return automaton(3, arcs.String()), lines.String()
}

// sounds looks words up in the model's dictionary, whose lines are "word(n) P H".
func (s *Sphinx) sounds(words map[string]bool) (map[string][]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string][]string, len(words))
	missing := make(map[string]bool)
	for w := range words {
		sounds, known := s.known[w]
		switch {
		case known:
			out[w] = sounds
		case sphinxWord.MatchString(w):
			missing[w] = true
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	f, err := os.Open(filepath.Join(s.model, "cmudict-en-us.dict"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecognizerNotInstalled, err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, sound, ok := strings.Cut(lines.Text(), " ")
		word, _, _ := strings.Cut(name, "(")
		if ok && missing[word] {
			out[word] = append(out[word], strings.TrimSpace(sound))
		}
	}
	if len(s.known)+len(missing) > knownMost {
		clear(s.known)
	}
	for w := range missing {
		s.known[w] = out[w]
	}
	return out, nil
}
