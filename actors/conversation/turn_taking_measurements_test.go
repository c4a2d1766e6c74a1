package conversation_test

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

	"github.com/callboard/callboard/media/testspeech"
)

// The tests of this file measure how an agent takes turns with callers. With DIALOGUES, as in make dialogues, they measure
// all voices and situations; otherwise a small part.

// measuredVoices returns the voices of the callers.
func measuredVoices() []testspeech.Voice {
	switch os.Getenv("DIALOGUES") {
	case "":
		return []testspeech.Voice{{Engine: testspeech.Espeak, Name: "en-us+f4"}}
	case "tuning":
		return testspeech.TuningVoices()
	}
	return testspeech.ReportVoices()
}

// measuresAll reports whether all voices and situations are measured.
func measuresAll() bool { return os.Getenv("DIALOGUES") != "" }

// noiseBehindCaller is a noise with a level in dB of full scale.
type noiseBehindCaller struct {
	name  string
	level float64
	words string // recognized if the caller is silent
}

const televisionWords = "the government has agreed on a new budget for schools and hospitals the opposition calls it too little and too late"

func (n noiseBehindCaller) sound(t *testing.T) testspeech.Sound {
	t.Helper()
	for _, kind := range testspeech.Noises() {
		if kind.Name == n.name {
			s, err := kind.Make(40 * time.Second)
			require.NoError(t, err)
			return s.AtLevel(n.level)
		}
	}
	return nil
}

// perVoice runs a call for each of the measured voices.
func perVoice(t *testing.T, name string, f func(t *testing.T, v testspeech.Voice)) {
	t.Helper()
	for _, v := range measuredVoices() {
		t.Run(name+", "+v.String(), func(t *testing.T) { f(t, v) })
	}
}

// firstOrAll returns the first n values, or all of them if all situations are measured.
func firstOrAll[T any](all []T, n int) []T {
	if measuresAll() {
		return all
	}
	return all[:n]
}

// silentInMinuteOfStory returns how long the caller did not hear the story in the minute from its first word on.
func (c *simulatedCall) silentInMinuteOfStory() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	begin := slices.IndexFunc(c.heard, func(h heardFrame) bool { return h.story })
	if begin < 0 {
		return time.Minute
	}
	heard := 0
	for _, h := range c.heard[begin:min(begin+int(time.Minute/callFrame), len(c.heard))] {
		if h.story {
			heard++
		}
	}
	return time.Minute - time.Duration(heard)*callFrame
}

func TestNoiseBehindCallerDoesNotSilenceAgent(t *testing.T) { //nolint:tparallel // it counts the results of its calls
	t.Parallel()
	for _, n := range firstOrAll([]noiseBehindCaller{{"television", -36, televisionWords}, {"babble", -40, ""}, {"white", -30, ""}, {"music", -26, ""}}, 1) {
		var known, unknown time.Duration
		perVoice(t, n.name, func(t *testing.T, v testspeech.Voice) {
			runSimulatedCall(t, talkingScript(), func(c *simulatedCall) {
				c.answer = func(int) string { return storyText }
				time.Sleep(2 * time.Second)
				c.say(v, "Please tell me a story.")
				time.Sleep(2 * time.Second)
				c.setNoise(n.sound(t), n.words)
				time.Sleep(62 * time.Second)
				silent := c.silentInMinuteOfStory()
				t.Logf("silenced for %s", silent)
				known = max(known, silent)
			})
		})
		name := fmt.Sprintf("agent silenced by %s of %.0f dB", n.name, n.level)
		testspeech.Measurement{Name: name, Value: known.Seconds(), Unit: "s/min", Target: 0.5}.Log(t)
		if !measuresAll() {
			continue
		}
		t.Run(n.name+", before the caller speaks", func(t *testing.T) {
			script := talkingScript()
			script.Pathway.Nodes[0].Prompt = storyText
			runSimulatedCall(t, script, func(c *simulatedCall) {
				c.answer = func(int) string { return storyText }
				c.setNoise(n.sound(t), n.words)
				time.Sleep(61 * time.Second)
				unknown = c.silentInMinuteOfStory()
			})
		})
		testspeech.Measurement{Name: name + ", caller not heard yet", Value: unknown.Seconds(), Unit: "s/min", Target: 0.5}.Log(t)
	}
}

func TestSoundsWithoutCallersSpeechBeginNoTurn(t *testing.T) { //nolint:tparallel // it counts the results of its calls
	t.Parallel()
	type noise struct {
		noiseBehindCaller
		most float64 // false turns per minute
	}
	for _, c := range firstOrAll([]noise{
		{noiseBehindCaller{"keyboard", callerLevel, ""}, 0},
		{noiseBehindCaller{"cough", callerLevel, ""}, 0},
		{noiseBehindCaller{"music", callerLevel - 10, ""}, 0},
		{noiseBehindCaller{"babble", callerLevel - 10, ""}, 1},
	}, 1) {
		turns, minutes := 0, 0
		perVoice(t, c.name, func(t *testing.T, v testspeech.Voice) {
			runSimulatedCall(t, talkingScript(), func(s *simulatedCall) {
				time.Sleep(2 * time.Second)
				s.say(v, "Hello, I have a question about my last order.")
				time.Sleep(8 * time.Second) // the agent has answered
				before := s.turnsBegun()
				s.setNoise(c.sound(t), c.words)
				time.Sleep(time.Minute)
				turns += s.turnsBegun() - before
				minutes++
			})
		})
		name := fmt.Sprintf("false turns, %s %.0f dB below the caller", c.name, callerLevel-c.level)
		testspeech.Measurement{Name: name, Value: float64(turns) / float64(minutes), Unit: "per minute", Target: c.most}.Log(t)
	}
}

// finishedSentences are what callers say in one go.
func finishedSentences() []string {
	return []string{
		"Where is my order?", "I want to book an appointment for tomorrow.", "No, thank you.", "Yes, please.", "Can I speak to someone, please?",
		"My name is Peter Miller.", "Do you have anything on Friday?", "I think that is all.", "It costs forty dollars.", "That sounds good.",
	}
}

func TestTurnsEndSoonAfterCallersStopSpeaking(t *testing.T) { //nolint:tparallel // it counts the results of its calls
	t.Parallel()
	noises := firstOrAll([]noiseBehindCaller{{"no noise", 0, ""}, {"television", callerLevel - 20, televisionWords}, {"white", callerLevel - 20, ""}, {"babble", callerLevel - 20, ""}, {"music", callerLevel - 20, ""}}, 1)
	delays := map[string][]float64{}
	cut, missed, all := 0, 0, 0
	for _, n := range noises {
		perVoice(t, n.name, func(t *testing.T, v testspeech.Voice) {
			runSimulatedCall(t, talkingScript(), func(c *simulatedCall) {
				c.setNoise(n.sound(t), n.words)
				time.Sleep(3 * time.Second)
				for _, text := range firstOrAll(finishedSentences(), 3) {
					begin, end := c.say(v, text)
					time.Sleep(time.Until(end) + 5*time.Second) // the answer takes a second
					all++
					switch at := c.firstRequestAfter(begin); {
					case at.IsZero():
						t.Logf("not answered: %q of %s in %s", text, v, n.name)
						missed++
					case at.Before(end):
						t.Logf("cut off: %q of %s in %s", text, v, n.name)
						cut++
					default:
						delays[n.name] = append(delays[n.name], (at.Sub(end) - transmission).Seconds())
					}
				}
			})
		})
	}
	clean := delays[noises[0].name]
	if measuresAll() { // three sentences have no median worth a comparison
		testspeech.Measurement{Name: "end of turn after the last sound, p50", Value: testspeech.Percentile(clean, 50), Unit: "s", Target: 0.6}.Log(t)
	}
	testspeech.Measurement{Name: "end of turn after the last sound, p95", Value: testspeech.Percentile(clean, 95), Unit: "s", Target: 1.2}.Log(t)
	for _, n := range noises[1:] {
		for _, p := range []float64{50, 95} {
			name := fmt.Sprintf("end of turn, p%.0f: more with %s 20 dB below the caller", p, n.name)
			testspeech.Measurement{Name: name, Value: testspeech.Percentile(delays[n.name], p) - testspeech.Percentile(clean, p), Unit: "s", Target: 0.3}.Log(t)
		}
	}
	testspeech.Measurement{Name: "finished sentences that are not answered", Value: testspeech.Share(missed, all), Unit: "%", Target: 1}.Log(t)
	testspeech.Measurement{Name: "sentences without a pause that are cut off", Value: testspeech.Share(cut, all), Unit: "%", Target: 1}.Log(t)
}

// pausedSentences are sentences with a pause after the first part.
func pausedSentences() [][2]string {
	return [][2]string{
		{"I would like to", "book an appointment."},
		{"Can you tell me if", "my order has arrived?"},
		{"My number is five five five", "oh one four two."},
		{"I'm calling about the", "invoice from last week."},
		{"We need a table for", "four people."},
		{"I want to change my", "delivery address."},
		{"Is it possible to", "come on Friday?"},
		{"It was on Monday or", "maybe on Tuesday."},
		{"Could you please", "send me an email?"},
		{"I live in the house with", "the green door."},
	}
}

func TestPausesWithinSentencesDoNotEndTurns(t *testing.T) { //nolint:tparallel // it counts the results of its calls
	t.Parallel()
	if !measuresAll() {
		return
	}
	const pause = 700 * time.Millisecond
	cut, all := 0, 0
	perVoice(t, "pauses", func(t *testing.T, v testspeech.Voice) {
		runSimulatedCall(t, talkingScript(), func(c *simulatedCall) {
			time.Sleep(3 * time.Second)
			for _, s := range firstOrAll(pausedSentences(), 3) {
				begin, _ := c.say(v, s[0])
				c.pause(pause)
				_, end := c.say(v, s[1])
				time.Sleep(time.Until(end) + 5*time.Second)
				all++
				if at := c.firstRequestAfter(begin); at.Before(end) && !at.IsZero() {
					t.Logf("cut off: %q … %q of %s", s[0], s[1], v)
					cut++
				}
			}
		})
	})
	testspeech.Measurement{Name: "speakers cut off in a pause of 0.7 s within a sentence", Value: testspeech.Share(cut, all), Unit: "%", Target: 2}.Log(t)
}

func TestStopWordsSilenceAgentAtOnce(t *testing.T) { //nolint:tparallel // it counts the results of its calls
	t.Parallel()
	const within = 500 * time.Millisecond
	obeyed, all := 0, 0
	var took []float64
	perVoice(t, "stop words", func(t *testing.T, v testspeech.Voice) {
		for _, word := range firstOrAll([]string{"Stop.", "Excuse me.", "Wait.", "No.", "Hello?"}, 2) {
			runSimulatedCall(t, talkingScript(), func(c *simulatedCall) {
				c.answer = func(n int) string { return []string{storyText, "Yes?"}[min(n-1, 1)] }
				time.Sleep(2 * time.Second)
				c.say(v, "Please tell me a story.")
				time.Sleep(6 * time.Second)
				before := c.turnsBegun()
				begin, end := c.say(v, word)
				time.Sleep(5 * time.Second)
				all++
				last := c.storyLastHeardAfter(begin)
				require.False(t, last.IsZero(), "the story was told")
				silence := last.Sub(begin) - 2*transmission
				took = append(took, silence.Seconds())
				if silence <= within {
					obeyed++
				} else {
					t.Logf("not obeyed: %q of %s, which lasts %s: silent after %s, %d turns begun", word, v, end.Sub(begin), silence, c.turnsBegun()-before)
				}
			})
		}
	})
	testspeech.Measurement{Name: "stop words over the agent that silence it within 0.5 s", Value: testspeech.Share(obeyed, all), Unit: "%", Target: 100, AtLeast: true}.Log(t)
	if measuresAll() {
		t.Logf("stop words: silent after %.2f s (p50), %.2f s (p95)", testspeech.Percentile(took, 50), testspeech.Percentile(took, 95))
	}
}

// turnsBegun returns the number of turns of the caller that the agent has begun to listen to.
func (c *simulatedCall) turnsBegun() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.turns)
}

// firstRequestAfter returns the time of the first model request after a time, or the zero time.
func (c *simulatedCall) firstRequestAfter(from time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.requests {
		if at.After(from) {
			return at
		}
	}
	return time.Time{}
}

// storyLastHeardAfter returns when the caller last heard the story after a time, or the zero time.
func (c *simulatedCall) storyLastHeardAfter(from time.Time) (last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.heard {
		if h.story && h.at.After(from) {
			last = h.at
		}
	}
	return last
}

// Figures of other tests depend on this delay.
func TestSimulatedCallTransmitsAudioWithKnownDelay(t *testing.T) {
	t.Parallel()
	runSimulatedCall(t, talkingScript(), func(c *simulatedCall) {
		var mu sync.Mutex
		var loud []time.Time
		c.agent.SetListener(func(mu8 []byte) {
			c.tap.Frame(mu8)
			if testspeech.FromMu(mu8).Level() > testspeech.NoLevel {
				mu.Lock()
				defer mu.Unlock()
				loud = append(loud, time.Now())
			}
		})
		time.Sleep(3 * time.Second)
		begin, end := c.say(measuredVoices()[0], "Hello.")
		time.Sleep(3 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.NotEmpty(t, loud)
		assert.InDelta(t, transmission.Seconds(), loud[0].Sub(begin).Seconds(), 0.045)
		assert.InDelta(t, transmission.Seconds(), loud[len(loud)-1].Sub(end).Seconds(), 0.045)
		require.Len(t, c.requests, 1)
		assert.Equal(t, "Hello.", strings.TrimSpace(c.wordsBetween(begin, time.Now(), func(w spokenWord) time.Time { return w.end })))
	})
}
