package amd_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/testspeech"
)

// recognizeGreeting returns the class that pocketsphinx finds in a text, sentence by sentence, as a conversation does.
func recognizeGreeting(recognizer speech.Recognizer, voice testspeech.Voice, text string) (amd.Class, string, error) {
	heard := ""
	for sentence := range strings.SplitSeq(text, ". ") {
		said, err := testspeech.Say(voice, sentence)
		if err != nil {
			return amd.Unknown, "", err
		}
		if said.Duration() < 1200*time.Millisecond {
			continue
		}
		result := make(chan speech.RecognitionResult, 1)
		s := recognizer.Open(speech.RecognitionRequest{Language: "en-US", Phrases: amd.Phrases()}, func(r speech.RecognitionResult) { result <- r })
		s.Write(append(append(testspeech.Silence(300*time.Millisecond), said...), testspeech.Silence(500*time.Millisecond)...).Mu())
		s.End()
		r := <-result
		if r.Err != nil {
			return amd.Unknown, "", r.Err
		}
		heard += fmt.Sprintf("%q %.2f ", r.Text, r.Confidence)
		if class := amd.ClassifyWords(r.Text); class != amd.Unknown && r.Confidence >= 0.6 {
			return class, heard, nil
		}
	}
	return amd.Unknown, heard, nil
}

// TestMachinesAreRecognizedByWords measures for make dialogues how often pocketsphinx tells by typical words what has answered.
func TestMachinesAreRecognizedByWords(t *testing.T) {
	set := os.Getenv("DIALOGUES")
	if set == "" {
		return
	}
	recognizer, err := speech.NewSphinx(t.TempDir(), 2, time.Minute)
	require.NoError(t, err, "make tools installs pocketsphinx")
	h := report()
	if set == "tuning" {
		h = tuning()
	}
	for _, g := range []struct {
		name  string
		class amd.Class
		texts []string
	}{
		{"people", amd.Human, slices.Concat(h.texts.short, h.texts.business)},
		{"voicemail", amd.Voicemail, h.texts.voicemail},
		{"call screening", amd.CallScreening, slices.Concat(h.texts.screening, h.texts.connecting)},
		{"menus", amd.IVR, h.texts.menu},
	} {
		var mu sync.Mutex
		var work sync.WaitGroup
		var all, right, wrong, byTranscript int
		limit := make(chan struct{}, 2)
		for _, text := range g.texts {
			if amd.ClassifyWords(text) == g.class {
				byTranscript++
			}
			for i := 0; i < len(h.voices); i += 2 {
				work.Go(func() {
					limit <- struct{}{}
					defer func() { <-limit }()
					class, heard, err := recognizeGreeting(recognizer, h.voices[i], text)
					mu.Lock()
					defer mu.Unlock()
					assert.NoError(t, err) //nolint:testifylint // require must not be called from this goroutine
					all++
					switch {
					case class == g.class:
						right++
					case class != amd.Unknown:
						wrong++
						t.Logf("wrong: %s, %s: %q: %s", g.name, h.voices[i], text, heard)
					}
				})
			}
		}
		work.Wait()
		if g.class == amd.Human {
			testspeech.Measurement{Name: fmt.Sprintf("greetings of people taken for machines by words, of %d", all), Value: testspeech.Share(wrong, all), Unit: "%", Target: 3}.Log(t)
			continue
		}
		t.Logf("dialogues: %s by words: %d of %d texts classified right from a correct transcript; by pocketsphinx %d of %d right, %d wrong", g.name, byTranscript, len(g.texts), right, all, wrong)
	}
}
