package main_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/media/vad/silero"
)

// BenchmarkSpeechDetection measures the CPU time of neural speech detection for one second of a call.
func BenchmarkSpeechDetection(b *testing.B) {
	benchResults.addRowOnFailure(b)
	what, most := "CPU per second of a call in which words are listened for: neural speech detection with AVX2", 4*time.Millisecond
	if !silero.Accelerated() {
		what, most = "CPU per second of a call in which words are listened for: neural speech detection without AVX2", 20*time.Millisecond
	}
	noise, err := testspeech.Babble(20 * time.Second)
	require.NoError(b, err)
	d, err := vad.NewNeural()
	require.NoError(b, err)
	frames := slices.Collect(slices.Chunk(noise.Mu(), 160))
	const times = 5
	began := ownCPUTime(b)
	for range times {
		for _, frame := range frames {
			d.Frame(frame)
		}
	}
	cost := (ownCPUTime(b) - began) / times / 20
	benchResults.add(what, fmt.Sprintf("≤ %d ms", most.Milliseconds()), fmt.Sprintf("%.2f ms", float64(cost.Microseconds())/1000), cost <= most, nil)
}
