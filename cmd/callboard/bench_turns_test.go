package main_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/engines/enginetest"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/vad"
)

// answered is what a recording tells of the first turn: how long our sound went
// on after speech had begun, and how long after the turn was over the answer
// began.
type answered struct{ barge, overhead time.Duration }

// turnOf measures it. The far end's sound goes through the same detector of
// speech as in the call, so that its 500 ms of silence are no part of it.
func turnOf(b *testing.B, path string) (a answered, ok bool) {
	b.Helper()
	const frame = rate / 50
	heard, said := samples(b, path, 1), samples(b, path, 2)
	at := func(i int) time.Duration { return time.Duration(i) * 20 * time.Millisecond }
	quiet := func(i int) bool {
		return slices.Max(said[i*frame:(i+1)*frame]) < 100
	}
	var d vad.Detector
	pcm := make([]int16, frame)
	began, ended, stopped := -1, -1, -1
	for i := 0; (i+1)*frame <= min(len(heard), len(said)); i++ {
		for k := range pcm {
			pcm[k] = int16(heard[i*frame+k])
		}
		switch d.Frame(g711.EncodeMu(pcm)) {
		case vad.Began:
			if began < 0 {
				began = i - 9 // it was told of 200 ms later
			}
		case vad.Ended:
			if began >= 0 && ended < 0 {
				ended = i
			}
		case vad.None:
		}
		switch {
		case began >= 0 && stopped < 0 && quiet(i):
			stopped = i
		case ended >= 0 && !quiet(i):
			a.overhead = at(i - ended)
			a.barge = at(stopped - began)
			return a, stopped > began
		}
	}
	return a, false
}

func percentile(all []time.Duration, p int) time.Duration {
	slices.Sort(all)
	return all[(len(all)*p+99)/100-1]
}

// BenchmarkTurns lets built-in phones interrupt our agents, whose engines
// answer at once: what is left is what the service itself adds.
func BenchmarkTurns(b *testing.B) {
	for _, c := range []struct {
		name   string
		atOnce int
		agent  object
		goal   bool
	}{
		{"alone", 1, object{"voice": object{"engine": "well"}, "stt": object{"engine": "well"}}, true},
		{"200 conversations at once", 200, object{"voice": object{"engine": "well"}, "stt": object{"engine": "well"}}, true},
		{"20 conversations with espeak-ng and pocketsphinx", 20, object{"voice": object{"engine": "espeak-ng"}, "stt": object{"engine": "pocketsphinx"}}, false},
	} {
		b.Run(c.name, func(b *testing.B) { turns(b, c.name, c.atOnce, c.agent, c.goal) })
	}
}

func turns(b *testing.B, name string, atOnce int, settings object, goal bool) {
	b.Helper()
	well := enginetest.New(b)
	s := measured(b, "CALLBOARD_ENGINES_FILE="+enginesFile(b, well, well))
	s.key = s.testKey()
	agent := s.asker(settings)
	calls := max(atOnce, 10)
	w := startWatch(b, s.pid())
	ids := make([]string, calls)
	if atOnce == 1 {
		for i := range ids {
			ids[i] = s.outbound("+15005550007", agent, object{"from": "+15005550100"})
			s.ended(ids[i], time.Minute)
		}
	} else {
		var work sync.WaitGroup
		for i := range ids {
			work.Go(func() { ids[i] = s.outbound("+15005550007", agent, object{"from": "+15005550100"}) })
		}
		work.Wait()
		for _, id := range ids {
			s.ended(id, 2*time.Minute)
		}
	}
	u := w.stop()
	var barge, overhead []time.Duration
	seconds := 0.0
	for _, id := range ids {
		seconds += s.api("GET", "/v1/calls/"+id, nil)["duration_seconds"].(float64)
		if a, ok := turnOf(b, s.recording(id)); ok {
			barge, overhead = append(barge, a.barge), append(overhead, a.overhead)
		}
	}
	require.NotEmpty(b, overhead, "no turn was measured")
	figure := fmt.Sprintf("p50 %d ms, p95 %d ms, of %d", percentile(overhead, 50).Milliseconds(), percentile(overhead, 95).Milliseconds(), len(overhead))
	board.add("From the end of a turn to the first sound of the answer, on the wire, "+name, map[bool]string{true: "p50 ≤ 50 ms, p95 ≤ 100 ms", false: "–"}[goal], figure,
		!goal || percentile(overhead, 50) <= 50*time.Millisecond && percentile(overhead, 95) <= 100*time.Millisecond, &u)
	board.add("From the first sound of an interruption to our silence, "+name, "p95 ≤ 300 ms",
		fmt.Sprintf("p50 %d ms, p95 %d ms", percentile(barge, 50).Milliseconds(), percentile(barge, 95).Milliseconds()), percentile(barge, 95) <= 300*time.Millisecond, nil)
	board.add("CPU of a conversation, with the phone at its far end, "+name, "–", fmt.Sprintf("%.1f ms per second", u.cpu.Seconds()*1000/max(seconds, 1)), true, nil)
}
