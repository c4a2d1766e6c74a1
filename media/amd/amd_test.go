package amd_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/tone"
)

// Indexes of the two halves of the answer set: answers for tuning the detector, and answers for the test.
const (
	tuned  = 0
	judged = 1
)

// tally counts the correctly classified answers of a half, by the first and by the final verdict.
type tally struct {
	people, peopleFirst, peopleLast       int
	machines, machinesFirst, machinesLast int
	beeps, beepsHeard, beepsFalse         int
	latest                                time.Duration
	first, last                           confusion
}

func count(all []answer) (t tally) {
	for _, a := range all {
		v := judge(a.sound)
		t.first.add(a.kind, v.first)
		t.last.add(a.kind, v.last)
		t.latest = max(t.latest, v.took)
		one := func(right bool, into *int) {
			if right {
				*into++
			}
		}
		switch a.kind {
		case "person":
			t.people++
			one(!v.first.Machine(), &t.peopleFirst)
			one(!v.last.Machine(), &t.peopleLast)
		case "mailbox", "no beep":
			t.machines++
			one(v.first.Machine(), &t.machinesFirst)
			one(v.last.Machine(), &t.machinesLast)
		}
		if a.kind != "mailbox" {
			t.beepsFalse += len(v.beeps)
			continue
		}
		t.beeps++
		end := time.Duration(a.ends) * time.Second / rate
		one(len(v.beeps) == 1 && v.beeps[0] > end && v.beeps[0] <= end+150*time.Millisecond, &t.beepsHeard)
	}
	return t
}

func TestDetectorClassifiesNineOfTenHeldOutAnswers(t *testing.T) {
	t.Parallel()
	got := count(answers(t, judged))
	table := fmt.Sprintf("the first verdicts:\n%v\nin the end:\n%v", &got.first, &got.last)
	assert.GreaterOrEqual(t, 10*got.peopleFirst, 9*got.people, table)
	assert.GreaterOrEqual(t, 10*got.peopleLast, 9*got.people, table)
	assert.GreaterOrEqual(t, 10*got.machinesFirst, 9*got.machines, table)
	assert.GreaterOrEqual(t, 10*got.machinesLast, 9*got.machines, table)
	assert.LessOrEqual(t, got.latest, 5*time.Second, "each verdict is there in time")
	assert.GreaterOrEqual(t, 10*got.beepsHeard, 9*got.beeps, "beeps are heard when they end")
	assert.LessOrEqual(t, got.beepsFalse, 1, "and nothing else is one")
}

func TestTuningAndHeldOutSetsAreLargeAndDisjoint(t *testing.T) {
	t.Parallel()
	assert.GreaterOrEqual(t, len(answers(t, tuned))+len(answers(t, judged)), 300)
	a, b := tuning(), heldOut()
	for _, v := range a.voices {
		assert.NotContains(t, b.voices, v)
	}
	assert.NotEqual(t, a.seed, b.seed)
}

// detectEvents feeds audio to a detector in frames of the given number of samples and returns the reported events.
func detectEvents(sound []byte, frame int) (out []amd.Event) {
	var d amd.Detector
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
			events := detectEvents(slices.Concat(second, tone.Make(140*time.Millisecond, 0.2, hertz), second), frame)
			assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail, Beep: true}}, events, "%.0f Hz", hertz)
		}
	}
	assert.Empty(t, detectEvents(slices.Concat(second, tone.Make(60*time.Millisecond, 0.2, 1000), second), 160), "too short")
	assert.Empty(t, detectEvents(slices.Concat(second, tone.Keys("1590*#"), second), 160), "keys are no beeps")
	assert.Empty(t, detectEvents(slices.Concat(second, tone.Make(time.Second, 0.2, 425), second), 160), "nor is ringing")
}

func TestFaxAndInformationTonesAreClassified(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	last := func(parts ...[]byte) amd.Class {
		events := detectEvents(slices.Concat(parts...), 160)
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
	events := detectEvents(slices.Concat(tone.Silence(6*time.Second), tone.Beep(300*time.Millisecond), tone.Silence(time.Second)), 160)
	assert.Equal(t, []amd.Event{{Verdict: true}, {Verdict: true, Class: amd.Voicemail, Beep: true}}, events)
	late := detectEvents(slices.Concat(tone.Silence(31*time.Second), tone.Beep(300*time.Millisecond), tone.Silence(time.Second)), 160)
	assert.Equal(t, []amd.Event{{Verdict: true}}, late, "but not in the midst of a talk")
}

// hums returns audio like a person speaking a number of syllables.
func hums(syllables int) (out []byte) {
	for range syllables {
		out = append(out, tone.Make(170*time.Millisecond, 0.2, 180, 360, 540)...)
		out = append(out, tone.Silence(50*time.Millisecond)...)
	}
	return out
}

func TestContinuousSpeechIsVoicemailAndGreetingEndIsReported(t *testing.T) {
	t.Parallel()
	second := tone.Silence(time.Second)
	quiet := slices.Concat(second, second, second)
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Human}}, detectEvents(slices.Concat(second, hums(3), quiet), 160))
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}, {Class: amd.Voicemail, Over: true}}, detectEvents(slices.Concat(second, hums(18), quiet), 160))
	beeped := detectEvents(slices.Concat(second, hums(18), second, tone.Beep(300*time.Millisecond), quiet), 160)
	assert.Equal(t, []amd.Event{{Verdict: true, Class: amd.Voicemail}, {Class: amd.Voicemail, Beep: true}}, beeped, "it has ended by that")
}

func TestWordsClassifyMachineByTranscript(t *testing.T) {
	t.Parallel()
	for _, h := range []half{tuning(), heldOut()} {
		for _, text := range h.people {
			assert.Equal(t, amd.Unknown, amd.ClassifyWords(text), text)
		}
		for _, text := range h.screens {
			assert.Equal(t, amd.CallScreening, amd.ClassifyWords(text), text)
		}
		for _, text := range h.menus {
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
	sound := slices.Concat(hums(18), tone.Beep(300*time.Millisecond), tone.Silence(time.Second))
	var d amd.Detector
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		for part := range slices.Chunk(sound, 160) {
			d.Frame(part)
		}
	}))
}

func BenchmarkFrame(b *testing.B) {
	sound := slices.Concat(hums(18), tone.Beep(300*time.Millisecond), tone.Silence(time.Second))
	frames := slices.Collect(slices.Chunk(sound, 160))
	b.ReportAllocs()
	var d amd.Detector
	n := 0
	for b.Loop() {
		if d.Done() {
			d = amd.Detector{}
		}
		d.Frame(frames[n%len(frames)])
		n++
	}
}

// BenchmarkAnswers prints how the detector classifies the whole answer set, as a confusion matrix for `make amd`.
func BenchmarkAnswers(b *testing.B) {
	for part, name := range []string{"the voices and noise for tuning", "others, which are judged"} {
		got := count(answers(b, part))
		fmt.Printf("\n%s, the first verdict (within %v):\n%v\n\nin the end:\n%v\n\n", name, got.latest, &got.first, &got.last)
		fmt.Printf("people %d of %d, then %d; machines %d of %d, then %d; beeps %d of %d, false %d\n", got.peopleFirst, got.people, got.peopleLast,
			got.machinesFirst, got.machines, got.machinesLast, got.beepsHeard, got.beeps, got.beepsFalse)
	}
}
