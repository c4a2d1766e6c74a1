package speech

import (
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
)

// ErrRecognizerNotInstalled says that the machine has no pocketsphinx or not its English model.
var ErrRecognizerNotInstalled = errors.New("speech: pocketsphinx is not installed")

// mirror is the level of the audio that the function wide adds above 4 kHz, relative to the audio below 4 kHz.
const mirror = 0.1

// sphinxWord matches the words that are allowed in a grammar.
var sphinxWord = regexp.MustCompile(`^[a-z][a-z'-]{0,31}$`)

// Sphinx recognizes expected English phrases with pocketsphinx, alone or within a sentence. For each turn it runs the
// program with a phone loop, which accepts anything, with two grammars of the phrases, and with one of the urgent phrases.
// The more the words score above the phone loop, the higher their confidence.
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

// recognize recognizes the audio of one turn. It returns an empty text if it recognizes no phrase.
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
	d, err := s.decodeTurn(ctx, mu, phrases, urgent)
	if err != nil {
		return "", 0, err
	}
	text, confidence = d.chooseResult()
	return text, confidence, nil
}

// decodedTurn holds the results of one turn.
type decodedTurn struct {
	loop     decoded // of the phone loop
	alone    decoded // of the grammar that accepts one phrase and nothing else
	sentence decoded // of the grammar that accepts phones before and behind a phrase
	urgent   decoded // of the grammar that accepts one urgent phrase and nothing else
}

// decodeTurn runs pocketsphinx with the phone loop, which scores the sounds, and then with the other grammars, which reuse
// these scores: computing them takes most of the time. The result is empty without speech or without phrases.
func (s *Sphinx) decodeTurn(ctx context.Context, mu []byte, phrases, urgent []string) (d decodedTurn, err error) {
	expected, err := s.pronounce(phrases)
	if err != nil || len(expected.phrases) == 0 || len(mu) == 0 {
		return d, err
	}
	preferred, err := s.pronounce(urgent)
	if err != nil {
		return d, err
	}
	dir, err := os.MkdirTemp(s.dir, turnFiles)
	if err != nil {
		return d, fmt.Errorf("speech: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err = writeAudio(filepath.Join(dir, audioName+".raw"), mu); err != nil {
		return d, err
	}
	if d.loop, err = s.decode(ctx, dir, "loop", phoneLoop(), "-ctl", audioName, "-cepext", ".raw", "-adcin", "yes", "-senlogdir", dir, "-topn", "8"); err != nil || d.loop.frames <= 0 {
		return d, err
	}
	var failed [3]error
	var all sync.WaitGroup
	reuse := func(into *decoded, failed *error, name string, p *pronouncedPhrases, g grammar) {
		if len(p.phrases) == 0 {
			return
		}
		all.Go(func() {
			*into, *failed = s.decode(ctx, dir, name, g, "-ctl", scoresName, "-cepext", ".sen", "-senin", "yes", "-maxhmmpf", "1500")
			words := strings.Fields(into.text)
			into.phones, into.losesFirstS = p.phoneCount(words), p.losesFirstS(words)
		})
	}
	reuse(&d.alone, &failed[0], "alone", &expected, expected.phrasesOnly())
	reuse(&d.sentence, &failed[1], "sentence", &expected, expected.phrasesWithinSpeech())
	reuse(&d.urgent, &failed[2], "urgent", &preferred, preferred.phrasesOnly())
	all.Wait()
	return d, errors.Join(failed[:]...)
}

// A phrase is accepted if its confidence is at least acceptFrom. An urgent phrase is recognized if its confidence is at
// least urgentLeast, and at most urgentMargin below that of the best phrase, unless that is accepted and longer.
const (
	acceptFrom   = 0.6
	urgentLeast  = 0.4
	urgentMargin = 0.2
)

// chooseResult returns the text of the best result and its confidence. Among accepted results the one with more phones is best:
// the beginning of "yes please" is also recognized as "yeah".
func (d *decodedTurn) chooseResult() (text string, confidence float64) {
	best, inSentence := recognized{d.alone, d.alone.fitAlone(d.loop)}, recognized{d.sentence, d.sentence.fitInSentence(d.loop)}
	if accepted := best.fit >= acceptFrom && inSentence.fit >= acceptFrom; accepted && inSentence.phones > best.phones || !accepted && inSentence.fit > best.fit {
		best = inSentence
	}
	urgent := recognized{d.urgent, d.urgent.fitAlone(d.loop)}
	isNear := d.urgent.fit(d.loop, aloneBase, d.urgent.frames) >= best.fit-urgentMargin
	isLonger := best.fit >= acceptFrom && best.phones > urgent.phones
	if urgent.fit >= urgentLeast && isNear && !isLonger {
		best = urgent
	}
	return best.text, math.Round(100*min(max(best.fit, 0), 1)) / 100
}

// recognized is a result and its confidence before it is limited to the range from 0 to 1.
type recognized struct {
	decoded
	fit float64
}

// The confidence of words is the sum of a constant and of perPoint for each point per frame by which their score exceeds
// that of the phone loop. Within sentences, longer phrases get a larger constant, because other speech resembles them less.
// With the voices for tuning, 2 % of speech without any of the phrases reach acceptFrom.
const (
	perPoint      = 0.104
	aloneBase     = 0.93
	withoutSBase  = 0.73 // phrases of at most shortPhones phones of which the first S may be inaudible, such as "stop"
	beginningBase = 0.85 // phrases of at most veryShortPhones phones at the beginning of a sentence
	withinBase    = -0.1 // phrases within a sentence, plus withinPhone for each phone up to longPhones
	withinPhone   = 0.1
	longPhones    = 10
)

// fitAlone returns the confidence of a phrase without other words. The difference of the scores is spread over the whole turn.
func (d *decoded) fitAlone(loop decoded) float64 {
	if d.phones <= shortPhones && d.losesFirstS {
		return d.fit(loop, withoutSBase, d.frames)
	}
	return d.fit(loop, aloneBase, d.frames)
}

// fitInSentence returns the confidence of a phrase within a sentence. The phone loop accepts the rest of the sentence too, so
// that the difference of the scores comes from the frames of the phrase.
func (d *decoded) fitInSentence(loop decoded) float64 {
	if d.phones <= veryShortPhones {
		return d.fit(loop, beginningBase, d.wordFrames)
	}
	return d.fit(loop, withinBase+withinPhone*float64(min(d.phones, longPhones)), d.wordFrames)
}

// fit is 0 without words.
func (d *decoded) fit(loop decoded, constant float64, frames int) float64 {
	if d.text == "" {
		return 0
	}
	return constant + perPoint*float64(d.score-loop.score)/float64(max(frames, 1))
}

// writeAudio converts the audio of a turn and writes it to a file.
func writeAudio(path string, mu []byte) error {
	sound, err := wide(mu)
	if err != nil {
		return err
	}
	raw := make([]byte, 0, 2*len(sound))
	for _, v := range sound {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v)) //nolint:gosec // the bits of it
	}
	if err = os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("speech: %w", err)
	}
	return nil
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

// decoded is the result of one run of pocketsphinx. A frame is 10 ms.
type decoded struct {
	text          string
	score, frames int // of the whole turn
	wordFrames    int // from the first word to the end of the last
	phones        int // of the words
	losesFirstS   bool
}

// Names of the turn's files, without extension. The program names the file of scores by the number of the utterance.
const (
	audioName  = "turn"
	scoresName = "000000000"
)

// decode runs pocketsphinx with a grammar on the file of the folder that the option -ctl names.
func (s *Sphinx) decode(ctx context.Context, dir, name string, g grammar, input ...string) (d decoded, err error) {
	at := func(ext string) string { return filepath.Join(dir, name+ext) }
	input[1], err = at(".ctl"), writeTexts(map[string]string{at(".ctl"): input[1] + "\n", at(".fsg"): g.fsg, at(".dict"): g.dict})
	if err != nil {
		return d, err
	}
	cmd := process.Command(ctx, s.program, append(input, "-hmm", filepath.Join(s.model, "en-us"), "-dict", at(".dict"), "-fsg", at(".fsg"),
		"-compallsen", "yes", // scores of all grammars are relative to the same sounds
		"-cmn", "batch", "-vad_threshold", "3", "-dither", "yes", "-seed", "1", "-beam", "1e-70", "-wbeam", "1e-50", "-pbeam", "1e-70",
		"-cepdir", dir, "-hypseg", at(".seg"), "-logfn", os.DevNull)...)
	cmd.WaitDelay = time.Second
	note := limited{most: 1 << 10}
	cmd.Stderr = &note
	if err = cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return d, fmt.Errorf("speech: pocketsphinx: %w (%s)", err, strings.TrimSpace(note.String()))
	}
	b, err := os.ReadFile(at(".seg"))
	if err != nil {
		return d, fmt.Errorf("speech: pocketsphinx: %w", err)
	}
	return segments(string(b))
}

func writeTexts(texts map[string]string) error {
	for path, text := range texts {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("speech: %w", err)
		}
	}
	return nil
}

// segments parses the result line of pocketsphinx, "u S 0 T score A … L … {frame score score word}… frame". The words of
// phones do not count as words.
func segments(line string) (d decoded, err error) {
	f := strings.Fields(line)
	const head = 9
	if len(f) < head+1 || f[3] != "T" {
		return d, fmt.Errorf("speech: pocketsphinx answered %.80q", line)
	}
	var failed [2]error
	d.score, failed[0] = strconv.Atoi(f[4])
	d.frames, failed[1] = strconv.Atoi(f[len(f)-1])
	var words []string
	first := 0
	for i := head; i+4 < len(f); i += 4 {
		word, _, _ := strings.Cut(f[i+3], "(")
		if !sphinxWord.MatchString(word) || isPhoneWord(word) {
			continue
		}
		begin, err1 := strconv.Atoi(f[i])
		end, err2 := strconv.Atoi(f[i+4])
		failed[0] = errors.Join(failed[0], err1, err2)
		if len(words) == 0 {
			first = begin
		}
		d.wordFrames = end - first
		words = append(words, word)
	}
	if errors.Join(failed[:]...) != nil {
		return d, fmt.Errorf("speech: pocketsphinx answered %.80q", line)
	}
	d.text = strings.Join(words, " ")
	return d, nil
}
