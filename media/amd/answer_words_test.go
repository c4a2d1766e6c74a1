package amd_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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

// BenchmarkAnswerWords prints for make amd how often pocketsphinx tells by typical words what has answered.
func BenchmarkAnswerWords(b *testing.B) {
	recognizer, err := speech.NewSphinx(b.TempDir(), 2, time.Minute)
	require.NoError(b, err, "make tools installs pocketsphinx")
	h := report()
	groups := []struct {
		name  string
		class amd.Class
		texts []string
	}{
		{"short", amd.Human, h.texts.short},
		{"business", amd.Human, h.texts.business},
		{"voicemail", amd.Voicemail, h.texts.voicemail},
		{"call screening", amd.CallScreening, h.texts.screening},
		{"being connected", amd.CallScreening, h.texts.connecting},
		{"menu", amd.IVR, h.texts.menu},
	}
	fmt.Printf("\nwords, by pocketsphinx, in other voices and words than for tuning\n%-22s %8s %10s %10s %10s\n", "group", "answers", "right", "undecided", "wrong")
	for _, g := range groups {
		var mu sync.Mutex
		var work sync.WaitGroup
		var right, undecided, wrong int
		limit := make(chan struct{}, 2)
		var mistakes []string
		for i := 0; i < len(h.voices); i += 2 {
			for _, text := range g.texts {
				work.Go(func() {
					limit <- struct{}{}
					defer func() { <-limit }()
					class, heard, err := recognizeGreeting(recognizer, h.voices[i], text)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err != nil:
						b.Error(err)
					case class == g.class:
						right++
					case class == amd.Unknown:
						undecided++
					default:
						wrong++
						mistakes = append(mistakes, fmt.Sprintf("wrong: %s, %s: %q: %s", g.name, h.voices[i], text, heard))
					}
				})
			}
		}
		work.Wait()
		fmt.Printf("%-22s %8d %10d %10d %10d\n", g.name, right+undecided+wrong, right, undecided, wrong)
		for _, m := range mistakes {
			fmt.Println(m)
		}
	}
}
