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
	turnMost      = 20 * 8000 // samples of one turn; later audio is ignored
	phrasesMost   = 500
	phraseWords   = 12
	knownMost     = 20_000 // words whose pronunciation is cached
)

// ErrRecognizerNotInstalled says that the machine has no pocketsphinx or not its English model.
var ErrRecognizerNotInstalled = errors.New("speech: pocketsphinx is not installed")

// Grammar of the phone loop, which accepts any sequence of phones. The words of a turn are compared with it: the more
// the words score above the phone loop, the higher their confidence.
const (
	phones    = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
	phoneCost = 0.1
)

// evenFit is the confidence of words whose score equals that of the phone loop. For each point per frame above it,
// perPoint is added to the confidence. Of sentences that contain none of the phrases, most get less than 0.35.
const (
	evenFit  = 0.93
	perPoint = 0.104
)

// mirror is the level of the audio that the function wide adds above 4 kHz, relative to the audio below 4 kHz.
const mirror = 0.1

// sphinxWord matches the words that are allowed in a grammar.
var sphinxWord = regexp.MustCompile(`^[a-z][a-z'-]{0,31}$`)

// Sphinx recognizes expected English phrases with pocketsphinx. For each turn it runs the program with a grammar of the
// phrases, with one of the urgent phrases, and with the phone loop, whose score serves to compute the confidence.
type Sphinx struct {
	program, model, dir string
	timeout             time.Duration
	slots               chan struct{}

	mu    sync.Mutex
	known map[string][]string // pronunciations of words; empty: the word is not in the dictionary
}

// NewSphinx looks up pocketsphinx and its English model and returns ErrRecognizerNotInstalled without them. At most
// concurrency turns are recognized at a time, each for at most timeout. Temporary files are in dir, or in the system's
// temporary folder if dir is "". NewSphinx removes temporary files that a killed process has left.
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
	for _, path := range left { // files of a process that was killed
		if dir != "" {
			_ = os.RemoveAll(path)
		}
	}
	return &Sphinx{program: program, model: model, dir: dir, timeout: timeout, slots: make(chan struct{}, max(concurrency, 1)), known: make(map[string][]string)}, nil
}

// SupportsLanguage reports whether the language is English.
func (s *Sphinx) SupportsLanguage(language string) bool {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	return tag == "en"
}

// TranscribesFreeSpeech returns false, because Sphinx recognizes expected phrases only.
func (s *Sphinx) TranscribesFreeSpeech(string) bool { return false }

// Open starts a turn. The recognition starts when the turn ends.
func (s *Sphinx) Open(w RecognitionRequest, told func(RecognitionResult)) Stream {
	ctx, cancel := context.WithCancel(context.Background())
	return &sphinxTurn{of: s, phrases: w.Phrases, urgent: w.Urgent, told: told, ctx: ctx, cancel: cancel}
}

// sphinxTurn collects the audio of one turn until the recognition.
type sphinxTurn struct {
	of      *Sphinx
	phrases []string
	urgent  []string
	told    func(RecognitionResult)
	ctx     context.Context //nolint:containedctx // of the turn, which outlives Open
	cancel  context.CancelFunc
	mu      sync.Mutex
	mulaw   []byte
	ended   bool
}

// Write adds audio to the turn.
func (t *sphinxTurn) Write(mu []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.mulaw = append(t.mulaw, mu[:min(len(mu), turnMost-len(t.mulaw))]...)
	}
}

// End ends the turn and starts the recognition.
func (t *sphinxTurn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.ended = true
	go t.recognize(t.mulaw)
}

// Close cancels the recognition.
func (t *sphinxTurn) Close() {
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.mulaw = true, nil
}

func (t *sphinxTurn) recognize(mu []byte) {
	defer t.cancel()
	ctx, cancel := context.WithTimeout(t.ctx, t.of.timeout)
	defer cancel()
	h := RecognitionResult{Final: true}
	h.Text, h.Confidence, h.Err = t.of.recognize(ctx, mu, t.phrases, t.urgent)
	if t.ctx.Err() == nil {
		t.told(h)
	}
}

// recognize recognizes the audio of one turn. It runs pocketsphinx with the grammar of the phrases, with that of the
// urgent phrases and with the phone loop.
func (s *Sphinx) recognize(ctx context.Context, mu []byte, phrases, urgent []string) (text string, confidence float64, err error) {
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
	urgentGrammar, urgentWords, err := s.grammar(urgent)
	if err != nil {
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
		"urgent.fsg": []byte(urgentGrammar), "urgent.dict": []byte(urgentWords),
	} {
		if err = os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", 0, fmt.Errorf("speech: %w", err)
		}
	}
	var best, preferred, free decoded
	var failed [3]error
	var all sync.WaitGroup
	all.Go(func() { best, failed[0] = s.decode(ctx, dir, "words") })
	all.Go(func() { free, failed[1] = s.decode(ctx, dir, "loop") })
	if urgentGrammar != "" {
		all.Go(func() { preferred, failed[2] = s.decode(ctx, dir, "urgent") })
	}
	all.Wait()
	if err = errors.Join(failed[:]...); err != nil {
		return "", 0, err
	}
	if c := preferred.confidence(free); c >= urgentLeast && c >= best.confidence(free)-urgentMargin {
		return preferred.text, c, nil
	}
	return best.text, best.confidence(free), nil
}

// An urgent phrase is recognized if its confidence is at least urgentLeast, and at most urgentMargin below that of the
// best phrase.
const (
	urgentLeast  = 0.25
	urgentMargin = 0.2
)

// confidence compares the words with the phone loop. It is 0 without words.
func (d *decoded) confidence(free decoded) float64 {
	if d.text == "" || free.frames == 0 {
		return 0
	}
	fit := float64(d.score-free.score) / float64(max(d.frames, 1))
	return math.Round(100*min(max(evenFit+perPoint*fit, 0), 1)) / 100
}

// wide converts telephone audio to the sample rate of the model, which uses frequencies up to 6.8 kHz. Telephone audio
// ends at 4 kHz. wide adds a quiet mirror image of it above 4 kHz, without which sibilants are not recognized.
func wide(mu []byte) ([]int16, error) {
	low := linear(mu)
	sound, err := wav.Resample(low, 8000, sphinxRate)
	if err != nil {
		return nil, fmt.Errorf("speech: %w", err)
	}
	for i, v := range sound {
		image := -float64(v) // zeros between the samples create the image
		if i%2 == 0 && i/2 < len(low) {
			image += 2 * float64(low[i/2])
		}
		sound[i] = int16(min(max(float64(v)+mirror*image, -32768), 32767))
	}
	return sound, nil
}

// decoded is the result of one run of pocketsphinx.
type decoded struct {
	text          string
	score, frames int
}

func (s *Sphinx) decode(ctx context.Context, dir, name string) (d decoded, err error) {
	at := func(file string) string { return filepath.Join(dir, file) }
	cmd := process.Command(ctx, s.program, "-hmm", filepath.Join(s.model, "en-us"), "-dict", at(name+".dict"), "-fsg", at(name+".fsg"),
		"-compallsen", "yes", // scores of both grammars are relative to the same sounds
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

// segments parses the result line of pocketsphinx, "u S 0 T score A … L … {frame score score word}… frame".
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

// grammar returns a finite state grammar of the phrases and the dictionary of their words. It omits phrases with words
// that are not in the model's dictionary. fsg is empty if no phrase is left.
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

// entries writes the pronunciations of a word as lines of a pocketsphinx dictionary.
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

// phoneLoop returns a grammar that accepts any sequence of phones, and the dictionary of the phones.
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

// withoutFirstS returns the pronunciations that begin with S before P, T or K, without the S: telephone audio lacks the
// frequencies of an S, and at the beginning of speech nothing else is left of it. A stop behind an S sounds like B, D or G.
// The open vowel AA, which is short in such words, also sounds like AO.
func withoutFirstS(sounds []string) []string {
	var shorter []string
	for _, sound := range sounds {
		for _, c := range [][2]string{{"P ", "B "}, {"T ", "D "}, {"K ", "G "}} {
			stop, voiced := c[0], c[1]
			if rest, ok := strings.CutPrefix(sound, "S "+stop); ok {
				shorter = append(shorter, voiced+rest, stop+rest)
				if rounded := strings.Replace(rest, "AA", "AO", 1); rounded != rest {
					shorter = append(shorter, voiced+rounded)
				}
			}
		}
	}
	return shorter
}

// sounds returns the pronunciations of words from the model's dictionary, whose lines are "word(n) P H".
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
	for word, sounds := range out {
		if missing[word] {
			out[word] = append(sounds, withoutFirstS(sounds)...)
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
