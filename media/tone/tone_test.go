package tone_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
)

// power returns the share of a signal's power that lies at one frequency.
func power(mu []byte, hertz float64) float64 {
	var re, im, all float64
	for i, b := range mu {
		v := float64(g711.MuToLinear(b))
		re += v * math.Cos(2*math.Pi*hertz*float64(i)/8000)
		im += v * math.Sin(2*math.Pi*hertz*float64(i)/8000)
		all += v * v
	}
	return 2 * (re*re + im*im) / float64(len(mu)) / (all + 1)
}

func TestToneHasItsFrequencies(t *testing.T) {
	assert.Greater(t, power(tone.Beep(time.Second), 1000), 0.97)
	five := tone.Keys("5")[:800]
	assert.Greater(t, power(five, 770)+power(five, 1336), 0.9)
	assert.Less(t, power(five, 697)+power(five, 1209), 0.1)
	assert.Len(t, tone.Keys("1w2"), 2*1600+4000)
	assert.Empty(t, tone.Keys("xyz"))
}

func TestToneLengthIsExactAndBounded(t *testing.T) {
	assert.Len(t, tone.Ringback(13*time.Second), 13*8000)
	assert.Empty(t, tone.Silence(-time.Second))
	assert.Len(t, tone.Silence(1000*time.Hour), 600*8000)
	assert.Equal(t, byte(g711.MuSilence), tone.Ringback(6 * time.Second)[5*8000])
}
