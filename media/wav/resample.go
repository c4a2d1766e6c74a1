package wav

import (
	"fmt"
	"math"
)

// The rates that are resampled.
const (
	minRate = 4000
	maxRate = 96000
)

// The filter: a sinc under a Kaiser window, so many zero crossings to each side.
const (
	crossings = 24
	beta      = 8.0  // stop band at about -80 dB
	passband  = 0.94 // of the lower Nyquist frequency
)

// Resample changes the rate by a polyphase filter; the length changes in proportion.
func Resample(in []int16, from, to int) ([]int16, error) {
	if from < minRate || from > maxRate || to < minRate || to > maxRate {
		return nil, fmt.Errorf("%w: %d Hz to %d Hz", ErrFormat, from, to)
	}
	if from == to {
		return in, nil
	}
	g := gcd(from, to)
	up, down := to/g, from/g
	filter, half := phases(up, down)
	out := make([]int16, (len(in)*up+down-1)/down)
	for i := range out {
		pos := i * down
		centre, phase := pos/up, pos%up
		sum := float32(0)
		taps := filter[phase]
		first := centre - half + 1
		for k, tap := range taps[max(0, -first):] {
			at := max(first, 0) + k
			if at >= len(in) {
				break
			}
			sum += tap * float32(in[at])
		}
		out[i] = int16(min(max(math.Round(float64(sum)), -32768), 32767))
	}
	return out, nil
}

// phases makes one filter for each position between two input samples; half is its reach to each side.
func phases(up, down int) (filters [][]float32, half int) {
	scale := min(1, float64(up)/float64(down)) * passband
	half = int(math.Ceil(crossings / scale))
	filters = make([][]float32, up)
	for p := range filters {
		taps := make([]float32, 2*half)
		sum := 0.0
		raw := make([]float64, 2*half)
		for k := range raw {
			t := float64(k-half+1) - float64(p)/float64(up)
			raw[k] = sinc(t*scale) * kaiser(t/float64(half))
			sum += raw[k]
		}
		for k := range taps {
			taps[k] = float32(raw[k] / sum)
		}
		filters[p] = taps
	}
	return filters, half
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func kaiser(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel(beta*math.Sqrt(1-x*x)) / bessel(beta)
}

// bessel is the modified Bessel function of the first kind, order zero.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= x / (2 * k) * x / (2 * k)
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
