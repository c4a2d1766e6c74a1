package call_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/media/wav"
)

// confirmationPathway returns a pathway that asks for the confirmation of an appointment in long sentences.
func confirmationPathway() domain.Pathway {
	p := domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Input: "both", Prompt: "I am calling about your appointment with the doctor tomorrow morning, will you be there?", Retries: 3, TimeoutSeconds: 6},
			{ID: "comes", Type: domain.NodeEnd, Prompt: "Thank you very much, please bring the letter from the hospital.", Outcome: domain.OutcomeConfirmed},
			{ID: "stays", Type: domain.NodeEnd, Prompt: "All right, the doctor will know that you are not coming.", Outcome: domain.OutcomeDeclined},
		},
	}
	for to, name := range map[string]string{"comes": "yes", "stays": "no"} {
		p.Edges = append(p.Edges, domain.Edge{From: "ask", To: to, When: domain.When{Type: domain.EdgeIntent, Intent: name}})
	}
	return p
}

// voiceOfAgent is a synthesizer with a voice that recognizers understand well.
type voiceOfAgent struct{}

func (voiceOfAgent) Speak(_ context.Context, r speech.Request) (media.Clip, error) {
	said, err := testspeech.Say(testspeech.TuningVoices()[0], r.Text)
	return said.Mu(), err
}

// playedClip is a clip of the agent with its text.
type playedClip struct {
	text string
	clip media.Clip
}

// recordDialogue makes a call and returns its recording, and the clips that the agent played.
func recordDialogue(t *testing.T, d dialogue, noise testspeech.Sound, recognizer speech.Recognizer) (recorded *wav.Sound, played []playedClip) {
	t.Helper()
	m, far := newSpeakingPeer(t, d)
	if noise != nil {
		m.noiseClip = noise.Mu()
	}
	words := &textSpeaker{Synthesizer: voiceOfAgent{}}
	var mu sync.Mutex
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(far), speaker: words, recognizer: recognizer, onPlay: func(clip media.Clip) {
		text, _ := words.texts.Load(&clip[0])
		m.setPrompt(text.(string))
		mu.Lock()
		defer mu.Unlock()
		played = append(played, playedClip{text.(string), clip})
	}})
	id := h.startCall(h.prepareCall(numberPrefix+"7777", confirmationPathway()))
	h.waitUntil(4*patience, "the dialogue is over", func() bool { return len(h.endsOf(id)) > 0 })
	c := h.waitUntilFinished(id)
	t.Logf("outcome %+v: %q", c.Outcome, transcriptLines(h.endsOf(id)[0]))
	recorded, err := wav.Decode(h.blobs.get(recording.BlobName(id)))
	require.NoError(t, err)
	require.Equal(t, 2, recorded.Channels)
	mu.Lock()
	defer mu.Unlock()
	return recorded, slices.Clone(played)
}

func TestRecordingsOfDialoguesAreComplete(t *testing.T) { //nolint:tparallel // parallel to its own calls only, which it counts
	t.Parallel()
	if os.Getenv("DIALOGUES") == "" {
		return // three calls in real time
	}
	sphinx, err := speech.NewSphinx(t.TempDir(), 2, patience)
	require.NoError(t, err)
	television, err := testspeech.Television(40 * time.Second)
	require.NoError(t, err)
	caller := testspeech.ReportVoices()[0]
	t.Run("all", func(t *testing.T) {
		for _, c := range []struct {
			dialogue
			noise testspeech.Sound
		}{
			{dialogue{kind: "clean", voice: caller, lines: []string{"Yes please.", "Yes."}, goal: goalConfirmed}, nil},
			{dialogue{kind: "television behind the caller", voice: caller, lines: []string{"Yes please.", "Yes."}, goal: goalConfirmed}, television.AtLevel(testspeech.StandardLevel - 20)},
			{dialogue{kind: "interruption", voice: caller, lines: []string{"No thank you.", "No."}, goal: goalDeclined, interrupts: true}, nil},
		} {
			t.Run(c.kind, func(t *testing.T) {
				t.Parallel()
				recorded, played := recordDialogue(t, c.dialogue, c.noise, sphinx)
				if dir := os.Getenv("NOISES"); dir != "" {
					require.NoError(t, os.WriteFile(filepath.Join(dir, "recording-"+strings.ReplaceAll(c.kind, " ", "-")+".wav"), wav.EncodePCM(2, recorded.Samples), 0o600))
				}
				measureRecording(t, "recording, "+c.kind+": ", recorded, played, c.interrupts)
			})
		}
	})
}

// measureRecording prints the figures of a recording.
func measureRecording(t *testing.T, name string, recorded *wav.Sound, played []playedClip, interrupted bool) {
	t.Helper()
	caller, agent := soundOf(recorded.Channel(0)), soundOf(recorded.Channel(1))
	t.Logf("%slevels of the caller %.1f dB, of the agent %.1f dB", name, caller.Level(), agent.Level())
	require.NotEmpty(t, played)
	gap, level := time.Duration(0), 0.0
	incomplete := 0
	var said, heard, original []string
	places := make([]int, len(played), len(played)+1)
	for i, p := range played {
		from := 0
		if i > 0 { // at least half a second after the one before, which may be the same
			from = places[i-1] + testspeech.Rate/2
		}
		places[i] = from + findClip(agent[min(from, len(agent)):], testspeech.FromMu(p.clip))
	}
	places = append(places, len(agent))
	for i, p := range played {
		clip, at := testspeech.FromMu(p.clip), places[i]
		part := agent[at:min(at+len(clip), places[i+1])] // the next clip may have interrupted this one
		part = part[:lastSound(clip, part)]
		whole := len(part) > lastSound(clip, clip)-testspeech.Samples(50*time.Millisecond)
		t.Logf("%s%q at %s, %s of %s", name, p.text, agent[:at].Duration(), part.Duration(), clip.Duration())
		gap = max(gap, longestGap(clip, part))
		level = max(level, math.Abs(part.Level()-clip[:len(part)].Level()))
		if whole {
			said = append(said, wordsOf(p.text)...)
			heard = append(heard, freelyRecognized(t, part)...)
			original = append(original, freelyRecognized(t, clip)...)
		} else {
			incomplete++
		}
	}
	errorsIn := func(words []string) float64 { return testspeech.Share(editDistance(said, words), len(said)) }
	t.Logf("%ssaid %q, recognized %q", name, strings.Join(said, " "), strings.Join(heard, " "))
	clipped := 0
	for _, v := range recorded.Samples {
		if v >= fullScaleMu || v <= -fullScaleMu {
			clipped++
		}
	}
	testspeech.Measurement{Name: name + "clipped samples", Value: testspeech.Share(clipped, len(recorded.Samples)), Unit: "%", Target: 0}.Log(t)
	testspeech.Measurement{Name: name + "highest peak", Value: 20 * math.Log10(max(caller.Peak(), agent.Peak())), Unit: "dB", Target: -0.5}.Log(t)
	testspeech.Measurement{Name: name + "level of the agent", Value: agent.Level(), Unit: "dB", Target: -30, AtLeast: true}.Log(t)
	testspeech.Measurement{Name: name + "change of the level of a sentence", Value: level, Unit: "dB", Target: 0.5}.Log(t)
	testspeech.Measurement{Name: name + "longest gap within a sentence", Value: float64(gap.Milliseconds()), Unit: "ms", Target: 40}.Log(t)
	testspeech.Measurement{Name: name + "words wrong for a second recognizer; target: synthesized speech + 5", Value: errorsIn(heard), Unit: "%", Target: errorsIn(original) + 5}.Log(t)
	if !interrupted {
		testspeech.Measurement{Name: name + "sentences cut short", Value: testspeech.Share(incomplete, len(played)), Unit: "%", Target: 0}.Log(t)
	}
}

// fullScaleMu is the largest sample of µ-law.
const fullScaleMu = 32124

func soundOf(pcm []int16) testspeech.Sound {
	out := make(testspeech.Sound, len(pcm))
	for i, v := range pcm {
		out[i] = float64(v) / 32768
	}
	return out
}

// findClip returns where a clip begins in a channel.
func findClip(channel, clip testspeech.Sound) (at int) {
	probe := clip[:min(len(clip), testspeech.Rate)]
	best := 0.0
	for i := range max(len(channel)-len(probe), 0) {
		sum := 0.0
		for k := 0; k < len(probe); k += 3 {
			sum += channel[i+k] * probe[k]
		}
		if sum > best {
			best, at = sum, i
		}
	}
	return at
}

// lastSound returns the number of samples of a recorded part of a clip up to its last sound that is also in the clip.
func lastSound(clip, part testspeech.Sound) int {
	const window = 80 // 10 ms
	for end := len(part) / window * window; end > 0; end -= window {
		if clip[end-window:end].Level() > -50 && part[end-window:end].Level() > -60 {
			return end
		}
	}
	return 0
}

// longestGap returns the longest time in which a recording is silent although the clip is not.
func longestGap(clip, recorded testspeech.Sound) (longest time.Duration) {
	const window = 80 // 10 ms
	run := 0
	for i := 0; i+window <= len(recorded); i += window {
		if recorded[i:i+window].Level() < -60 && clip[i:i+window].Level() > -50 {
			run++
		} else {
			run = 0
		}
		longest = max(longest, time.Duration(run)*10*time.Millisecond)
	}
	return longest
}

var wordPattern = regexp.MustCompile(`[a-z']+`)

func wordsOf(text string) []string { return wordPattern.FindAllString(strings.ToLower(text), -1) }

// freelyRecognized returns the words that pocketsphinx recognizes with its model of general English.
func freelyRecognized(t *testing.T, s testspeech.Sound) []string {
	t.Helper()
	const model = "/usr/share/pocketsphinx/model/en-us/"
	dir := t.TempDir()
	low := s.PCM()
	high, err := wav.Resample(low, 8000, 16000)
	require.NoError(t, err)
	var raw bytes.Buffer
	for i, v := range high { // with a quiet mirror image above 4 kHz, which sibilants need
		image := -float64(v)
		if i%2 == 0 && i/2 < len(low) {
			image += 2 * float64(low[i/2])
		}
		_ = binary.Write(&raw, binary.LittleEndian, int16(min(max(float64(v)+0.1*image, -32768), 32767)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "said.raw"), raw.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list"), []byte("said\n"), 0o600))
	out, err := exec.CommandContext(t.Context(), "pocketsphinx_batch", "-hmm", model+"en-us", "-lm", model+"en-us.lm.bin", "-dict", model+"cmudict-en-us.dict",
		"-adcin", "yes", "-cepdir", dir, "-cepext", ".raw", "-ctl", filepath.Join(dir, "list"), "-hyp", filepath.Join(dir, "words"), "-logfn", os.DevNull).CombinedOutput()
	require.NoError(t, err, string(out))
	words, err := os.ReadFile(filepath.Join(dir, "words"))
	require.NoError(t, err)
	text, _, _ := strings.Cut(string(words), "(")
	return wordsOf(text)
}

// editDistance returns the number of words that are wrong, missing or too many.
func editDistance(want, got []string) int {
	row := make([]int, len(got)+1)
	for k := range row {
		row[k] = k
	}
	for i, w := range want {
		diagonal := row[0]
		row[0] = i + 1
		for k, g := range got {
			cost := diagonal
			if w != g {
				cost++
			}
			diagonal = row[k+1]
			row[k+1] = min(cost, row[k]+1, diagonal+1)
		}
	}
	return row[len(got)]
}
