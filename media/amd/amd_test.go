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

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/media/tone"
)

// figures count the correctly classified answers of a group, by the first and by the last verdict.
type figures struct {
	group             string
	all, first, last  int
	beeps, beepsHeard int
	beepsFalse        int
	took              []time.Duration // from the end of the last word to the last verdict
	mistakes          []string
}

func (f *figures) add(a *answer, j *result) {
	f.all++
	machine := a.truth.Machine()
	if j.first.Machine() == machine {
		f.first++
	}
	if j.last.Machine() == machine {
		f.last++
		f.took = append(f.took, j.decided-a.spoke)
	} else {
		f.mistakes = append(f.mistakes, fmt.Sprintf("%s: %s", a, j.last))
	}
	if a.beep == 0 {
		f.beepsFalse += len(j.beeps)
		return
	}
	f.beeps++
	if len(j.beeps) == 1 && j.beeps[0] > a.beep && j.beeps[0] <= a.beep+150*time.Millisecond {
		f.beepsHeard++
	}
}

// p95 returns the 95th percentile of the time from the end of the greeting to the decision. Many machines are recognized before
// that end.
func (f *figures) p95() time.Duration {
	if len(f.took) == 0 {
		return 0
	}
	slices.Sort(f.took)
	return f.took[len(f.took)*95/100]
}

// measure classifies answers and returns the figures of people, machines and each group.
func measure(t testing.TB, all []answer) (people, machines *figures, groups []*figures) {
	t.Helper()
	results := make([]result, len(all))
	var work sync.WaitGroup
	for part := range 4 {
		work.Go(func() {
			for i := part; i < len(all); i += 4 {
				results[i] = all[i].judge(t)
			}
		})
	}
	work.Wait()
	people, machines = &figures{group: "all people"}, &figures{group: "all machines"}
	for i := range all {
		if n := len(groups); n == 0 || groups[n-1].group != all[i].group {
			groups = append(groups, &figures{group: all[i].group})
		}
		groups[len(groups)-1].add(&all[i], &results[i])
		if all[i].truth.Machine() {
			machines.add(&all[i], &results[i])
		} else {
			people.add(&all[i], &results[i])
		}
	}
	return people, machines, groups
}

// A small part of the set of make dialogues, which measures the rates. Two mistakes of about twenty answers are allowed here.
func TestDetectorClassifiesPeopleAndMachines(t *testing.T) {
	t.Parallel()
	people, machines, _ := measure(t, smallPart().answers(t))
	assert.GreaterOrEqual(t, people.all+machines.all, 40)
	for _, f := range []*figures{people, machines} {
		assert.LessOrEqual(t, f.all-f.last, 2, "%s: %s", f.group, f.mistakes)
		assert.Less(t, f.p95(), 1500*time.Millisecond, f.group)
		assert.GreaterOrEqual(t, 10*f.beepsHeard, 8*f.beeps, "beeps are heard when they end")
		assert.LessOrEqual(t, f.beepsFalse, 1, "nothing else is one")
	}
}

func TestTuningAndReportHaveOtherVoicesAndWords(t *testing.T) {
	t.Parallel()
	a, b := tuning(), report()
	assert.GreaterOrEqual(t, len(b.voices), 8)
	for _, v := range a.voices {
		assert.NotContains(t, b.voices, v)
	}
	for _, text := range slices.Concat(a.texts.business, a.texts.voicemail) {
		assert.NotContains(t, slices.Concat(b.texts.business, b.texts.voicemail), text)
	}
}

func newDetector(t testing.TB) *amd.Detector {
	t.Helper()
	d, err := amd.NewDetector()
	require.NoError(t, err)
	return d
}

// detectEvents feeds audio to a detector in frames of the given number of samples and returns the reported events.
func detectEvents(t testing.TB, sound []byte, frame int) (out []amd.Event) {
	t.Helper()
	d := newDetector(t)
	for part := range slices.Chunk(sound, frame) {
		if e := d.Frame(part); e.Any() {
			out = append(out, e)
		}
	}
	return out
}

func TestSteadyToneOfAnyPitchIsBeepWhenItEnds(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	for hertz := 440.0; hertz <= 2060; hertz += 45 {
		for _, frame := range []int{80, 160, 240, 320} {
			events := detectEvents(t, slices.Concat(second, tone.Make(140*time.Millisecond, 0.2, hertz), second), frame)
			assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail, Beep: true}}, events, "%.0f Hz", hertz)
		}
	}
	assert.Empty(t, detectEvents(t, slices.Concat(second, tone.Make(60*time.Millisecond, 0.2, 1000), second), 160), "too short")
	assert.Empty(t, detectEvents(t, slices.Concat(second, tone.Keys("1590*#"), second), 160), "keys are no beeps")
	assert.Empty(t, detectEvents(t, slices.Concat(second, tone.Make(time.Second, 0.2, 425), second), 160), "nor is ringing")
}

func TestFaxAndInformationTonesAreClassified(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	last := func(parts ...[]byte) amd.Class {
		events := detectEvents(t, slices.Concat(parts...), 160)
		if len(events) == 0 {
			return amd.Unknown
		}
		return events[len(events)-1].Class
	}
	assert.Equal(t, amd.Fax, last(second, tone.Make(2600*time.Millisecond, 0.2, 2100)), "it answers")
	assert.Equal(t, amd.Fax, last(second, tone.Make(500*time.Millisecond, 0.2, 1100), second), "it calls")
	note := func(hertz float64) []byte { return tone.Make(330*time.Millisecond, 0.2, hertz) }
	assert.Equal(t, amd.Unavailable, last(second, note(913.8), note(1428.5), note(1776.7), second))
	assert.Equal(t, amd.Voicemail, last(second, note(1776.7), note(1428.5), note(913.8), second), "not the other way round")
}

func TestSilenceIsUnknownAfterFiveSecondsUntilBeep(t *testing.T) {
	t.Parallel()
	events := detectEvents(t, slices.Concat(tone.Silence(6*time.Second), tone.Beep(300*time.Millisecond), tone.Silence(time.Second)), 160)
	assert.Equal(t, []amd.Event{{Verdict: true}, {Verdict: true, Class: amd.Voicemail, Beep: true}}, events)
	late := detectEvents(t, slices.Concat(tone.Silence(31*time.Second), tone.Beep(300*time.Millisecond), tone.Silence(time.Second)), 160)
	assert.Equal(t, []amd.Event{{Verdict: true}}, late, "but not in the midst of a talk")
}

// spoken returns a text in a voice of espeak-ng as µ-law.
func spoken(t testing.TB, text string) []byte {
	t.Helper()
	said, err := testspeech.Say(testspeech.Voice{Engine: testspeech.Espeak, Name: "en-us+f2"}, text)
	require.NoError(t, err)
	return said.Mu()
}

const longGreeting = "You have reached the voice mail of Peter Jones in the office of Jones and Miller, please leave your name and number"

func TestContinuousSpeechIsVoicemailAndGreetingEndIsReported(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	quiet := slices.Concat(second, second, second)
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Human}}, detectEvents(t, slices.Concat(second, spoken(t, "Hello?"), quiet), 160))
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}, {Class: amd.Voicemail, Over: true}}, detectEvents(t, slices.Concat(second, spoken(t, longGreeting), quiet), 160))
	beeped := detectEvents(t, slices.Concat(second, spoken(t, longGreeting), second, tone.Beep(300*time.Millisecond), quiet), 160)
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}, {Class: amd.Voicemail, Beep: true}}, beeped, "it has ended by that")
}

func TestSupposedMachineThatSpeaksAgainAndWaitsIsPerson(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	answer := slices.Concat(second, spoken(t, longGreeting), second, tone.Silence(500*time.Millisecond), spoken(t, "Hello?"), second, second)
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}, {Verdict: true, Class: amd.Human}}, detectEvents(t, answer, 160))
}

func TestTelevisionBeforePersonIsNotTheGreeting(t *testing.T) {
	t.Parallel()
	television, err := testspeech.Television(12 * time.Second)
	require.NoError(t, err)
	quietTV := television[3*testspeech.Rate:].AtLevel(-38) // without the jingle
	person := testspeech.Overlay(quietTV, slices.Concat(testspeech.Silence(6*time.Second), testspeech.FromMu(spoken(t, "Hello?"))))
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}, {Verdict: true, Class: amd.Human}}, detectEvents(t, person.Mu(), 160), "corrected once the person speaks")
}

func TestLongBeepIsVoicemailBeforeItsEnd(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	heard := slices.Concat(second, spoken(t, "Hello?"), tone.Silence(400*time.Millisecond), tone.Make(500*time.Millisecond, 0.2, 1000))
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}}, detectEvents(t, heard, 160))
}

func TestWordsClassifyMachineByTranscript(t *testing.T) {
	t.Parallel()
	for _, h := range []texts{tuningTexts()} {
		for _, text := range slices.Concat(h.short, h.business) {
			assert.Contains(t, []amd.Class{amd.Unknown, amd.Human}, amd.ClassifyWords(text), text)
		}
		for _, text := range slices.Concat(h.screening, h.connecting) {
			assert.Equal(t, amd.CallScreening, amd.ClassifyWords(text), text)
		}
		for _, text := range h.connecting {
			assert.True(t, amd.IsConnecting(text), text)
		}
		for _, text := range slices.Concat(h.screening, h.short, h.business, h.voicemail, h.menu) {
			assert.False(t, amd.IsConnecting(text), text)
		}
		for _, text := range h.menu {
			assert.Equal(t, amd.IVR, amd.ClassifyWords(text), text)
		}
	}
	assert.Equal(t, amd.Voicemail, amd.ClassifyWords("Sorry, I CAN'T come to the phone"))
	assert.Equal(t, amd.Unavailable, amd.ClassifyWords("the number you have dialed, is not in service"))
}

func TestClassNamesMatchAPI(t *testing.T) {
	t.Parallel()
	var names []string
	for c := amd.Unknown; c <= amd.Unavailable; c++ {
		names = append(names, c.String())
	}
	assert.ElementsMatch(t, domain.AnsweredByValues(), names)
}

func TestDetectorAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts everybody's
	sound := slices.Concat(spoken(t, "Hello?"), tone.Beep(300*time.Millisecond), tone.Silence(time.Second))
	d := newDetector(t)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		for part := range slices.Chunk(sound, 160) {
			d.Frame(part)
		}
	}))
}

func BenchmarkFrame(b *testing.B) {
	sound := slices.Concat(spoken(b, longGreeting), tone.Beep(300*time.Millisecond), tone.Silence(time.Second))
	frames := slices.Collect(slices.Chunk(sound, 160))
	b.ReportAllocs()
	d := newDetector(b)
	n := 0
	for b.Loop() {
		if d.Done() {
			b.StopTimer()
			d = newDetector(b)
			b.StartTimer()
		}
		d.Frame(frames[n%len(frames)])
		n++
	}
}

// TestAnsweringMachineDetectionRates measures for make dialogues how many answers the detector classifies correctly.
func TestAnsweringMachineDetectionRates(t *testing.T) {
	set := os.Getenv("DIALOGUES")
	if set == "" {
		return
	}
	h := report()
	if set == "tuning" {
		h = tuning()
	}
	people, machines, groups := measure(t, h.answers(t))
	for _, f := range groups {
		t.Logf("answers: %s: %d of %d right, %d at once, p95 %.2f s", f.group, f.last, f.all, f.first, f.p95().Seconds())
	}
	for _, f := range []*figures{people, machines} {
		name := "answers of " + strings.TrimPrefix(f.group, "all ")
		testspeech.Measurement{Name: fmt.Sprintf("%s, classified right of %d", name, f.all), Value: testspeech.Share(f.last, f.all), Unit: "%", Target: 97, AtLeast: true}.Log(t)
		testspeech.Measurement{Name: name + ", decided after the end of the greeting, p95", Value: f.p95().Seconds(), Unit: "s", Target: 1.5}.Log(t)
		for _, mistake := range f.mistakes {
			t.Log("wrong:", mistake)
		}
	}
	testspeech.Measurement{Name: "beeps heard at their end", Value: testspeech.Share(machines.beepsHeard, machines.beeps), Unit: "%", Target: 90, AtLeast: true}.Log(t)
	testspeech.Measurement{Name: "sounds taken for a beep, of all answers", Value: testspeech.Share(people.beepsFalse+machines.beepsFalse, people.all+machines.all), Unit: "%", Target: 1}.Log(t)
}
