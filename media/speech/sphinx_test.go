package speech_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech"
)

// hear synthesizes a text with a voice of espeak-ng and returns the result of its recognition.
func hear(t *testing.T, s *speech.Sphinx, voice, text string, phrases ...string) speech.RecognitionResult {
	t.Helper()
	return hearRequest(t, s, voice, text, speech.RecognitionRequest{Language: "en-US", Phrases: phrases})
}

func hearRequest(t *testing.T, s *speech.Sphinx, voice, text string, request speech.RecognitionRequest) speech.RecognitionResult {
	t.Helper()
	e, err := speech.NewEspeak(1, 10*time.Second)
	require.NoError(t, err)
	clip, err := e.Speak(t.Context(), speech.Request{Text: text, Voice: voice})
	require.NoError(t, err)
	quiet := bytes.Repeat([]byte{0xff}, 3200)
	return recognizeAudio(t, s, slices.Concat(quiet, clip, quiet), request)
}

// recognizeAudio returns the result of the recognition of a turn.
func recognizeAudio(t *testing.T, s *speech.Sphinx, mulaw []byte, request speech.RecognitionRequest) speech.RecognitionResult {
	t.Helper()
	told := make(chan speech.RecognitionResult, 1)
	turn := s.Open(request, func(h speech.RecognitionResult) { told <- h })
	turn.Write(mulaw)
	turn.End()
	select {
	case h := <-told:
		return h
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing is told")
		return speech.RecognitionResult{}
	}
}

func TestSpeechProgramsGetNoSecretsInEnvironment(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	programs := []string{"espeak-ng", "pocketsphinx_batch"}
	for _, program := range programs {
		installed, err := exec.LookPath(program)
		require.NoError(t, err)
		script := "#!/bin/sh\necho " + program + " runs >>" + seen + "\nenv >>" + seen + "\nexec " + installed + ` "$@"`
		require.NoError(t, os.WriteFile(filepath.Join(dir, program), []byte(script), 0o700))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "marker-of-a-secret")
	s, err := speech.NewSphinx(t.TempDir(), 1, time.Minute)
	require.NoError(t, err)
	require.NoError(t, hear(t, s, "en-us", "yes please.", "yes please", "no").Err)
	env, err := os.ReadFile(seen)
	require.NoError(t, err)
	for _, program := range programs {
		assert.Contains(t, string(env), program+" runs")
	}
	assert.NotContains(t, string(env), "marker-of-a-secret")
}

func TestPocketsphinxRecognizesExpectedPhrases(t *testing.T) {
	t.Parallel()
	s, err := speech.NewSphinx(t.TempDir(), 2, time.Minute)
	require.NoError(t, err)
	phrases := []string{"yes", "no", "yes please", "okay", "cancel", "speak to a person", "i want to speak to a person", "xyzzyq"}
	for text, want := range map[string]string{
		"yes please.": "yes please", "no.": "no", "I want to speak to a person.": "i want to speak to a person",
	} {
		for _, voice := range []string{"en-us", "en-us+f3"} {
			h := hear(t, s, voice, text, phrases...)
			require.NoError(t, h.Err)
			assert.Equal(t, want, h.Text, voice)
			assert.GreaterOrEqual(t, h.Confidence, 0.6, voice+": "+text)
			assert.True(t, h.Final)
		}
	}
	// In plain telephone audio, without the mirror image above 4 kHz, these phrases would get a low confidence.
	many := strings.Split("yes,yeah,yep,yes please,sure,correct,that's right,of course,i confirm,confirm,no,nope,no thanks,no thank you,not now,wrong,decline,person,human,operator,"+
		"representative,speak to a person,talk to a person,i want to speak to a person,real person,reschedule,another day,another time,change the appointment,stop calling me", ",")
	for _, c := range [][2]string{{"en-gb", "Yes please."}, {"en-us", "Yes, I confirm."}} {
		h := hear(t, s, c[0], c[1], many...)
		require.NoError(t, h.Err)
		assert.GreaterOrEqual(t, h.Confidence, 0.6, "%s: %s: %+v", c[0], c[1], h)
	}
	far := hear(t, s, "en-us", "where did you put my keys this morning", phrases...)
	assert.Less(t, far.Confidence, 0.35, "%+v: other words are not trusted", far)
	assert.Empty(t, hear(t, s, "en-us", "yes", "xyzzyq").Text, "a word without a sound cannot be heard")
	assert.True(t, s.SupportsLanguage("en-GB"))
	assert.False(t, s.SupportsLanguage("de-DE"))
}

func TestUrgentPhraseIsRecognizedInDoubt(t *testing.T) {
	t.Parallel()
	s, err := speech.NewSphinx(t.TempDir(), 2, time.Minute)
	require.NoError(t, err)
	urgent := []string{"stop", "unsubscribe", "take me off your list"}
	request := speech.RecognitionRequest{Language: "en-US", Phrases: append([]string{"yes", "no", "i cannot come", "not tomorrow", "hello", "hi", "who is this"}, urgent...), Urgent: urgent}
	for text, want := range map[string]string{"Stop.": "stop", "Take me off your list.": "take me off your list", "No.": "no", "Yes.": "yes", "Hello?": "hello"} {
		for _, voice := range []string{"en-us", "en-gb", "en-us+m3"} {
			h := hearRequest(t, s, voice, text, request)
			require.NoError(t, h.Err)
			assert.Equal(t, want, h.Text, "%s of %s: %.2f", text, voice, h.Confidence)
		}
	}
}

func TestHangingPocketsphinxIsKilledAndClosedTurnReportsNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pocketsphinx_batch"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s, err := speech.NewSphinx(t.TempDir(), 1, 100*time.Millisecond)
	require.NoError(t, err)
	h := hear(t, s, "en-us", "yes", "yes")
	require.ErrorContains(t, h.Err, "deadline")
	assert.True(t, h.Final)
	turn := s.Open(speech.RecognitionRequest{Phrases: []string{"yes"}}, func(speech.RecognitionResult) { t.Error("told") })
	turn.Write(make([]byte, 8000))
	turn.Close()
	turn.End()
	turn.Write(make([]byte, 8000))
}

func TestMissingPocketsphinxReturnsNotInstalledError(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := speech.NewSphinx("", 1, time.Second)
	require.ErrorIs(t, err, speech.ErrRecognizerNotInstalled)
}

// note is a stream that stores the audio written to it.
type note struct{ got []byte }

func (n *note) Write(mu []byte) { n.got = append(n.got, mu...) }
func (*note) End()              {}
func (*note) Close()            {}

func TestAudioTapReplaysEarlierAudio(t *testing.T) {
	t.Parallel()
	var e speech.AudioTap
	frame := make([]byte, 160)
	for i := range 250 { // 5 s
		for k := range frame {
			frame[k] = byte(i)
		}
		e.Frame(frame)
	}
	n := new(note)
	e.Begin(n, 30*time.Millisecond)
	e.Frame([]byte{1, 2})
	e.End()
	e.Frame([]byte{3})
	want := make([]byte, 0, 300)
	for range 80 {
		want = append(want, 248)
	}
	for range 160 {
		want = append(want, 249)
	}
	assert.Equal(t, append(want, 1, 2), n.got)
	all := new(note)
	e.Begin(all, time.Hour)
	assert.Len(t, all.got, 16000, "two seconds are kept")
}

func TestAudioTapServesTwoStreamsAndForgetsSensitiveAudio(t *testing.T) {
	t.Parallel()
	var e speech.AudioTap
	sound := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }
	first, aside := new(note), new(note)
	e.Frame(sound(1, 400))
	e.Begin(first, time.Second)
	e.BeginSecond(aside, 10*time.Millisecond)
	e.Frame(sound(2, 10))
	e.EndSecond()
	e.Frame(sound(3, 10))
	assert.Equal(t, slices.Concat(sound(1, 400), sound(2, 10), sound(3, 10)), first.got)
	assert.Equal(t, slices.Concat(sound(1, 80), sound(2, 10)), aside.got)
	e.End()
	e.Frame(sound(4, 800))
	e.Forget()
	after := new(note)
	e.Begin(after, time.Second)
	e.Frame(sound(4, 3519)) // the rest of a key that is held
	e.Frame([]byte{4, 5, 5})
	assert.Equal(t, slices.Concat(sound(0xFF, 3520), []byte{5, 5}), after.got)
}
