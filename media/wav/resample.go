package wav

import (
	"fmt"
	"math"
)

// Minimum and maximum of supported sample rates in Hz.
const (
	minRate = 4000
	maxRate = 96000
)

// Parameters of the resampling filter, a Kaiser-windowed sinc. crossings is its number of zero crossings on each side.
const (
	crossings = 24
	beta      = 8.0  // stop band at about -80 dB
	passband  = 0.94 // fraction of the lower Nyquist frequency
)

// Resample converts audio from one sample rate to another, both in Hz, by a polyphase filter. The number of samples
// changes in proportion.
func Resample(in []int16, from, to int) ([]int16, error) {
	if from < minRate || from > maxRate || to < minRate || to > maxRate {
		return nil, fmt.Errorf("%w: %d Hz to %d Hz", ErrFormat, from, to)
	}
	if from == to {
		return in, nil
	}
	r, err := NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return append(r.Write(in), r.Flush()...), nil
}

// Resampler converts a stream of audio to another sample rate. Until Flush its output is incomplete by the length of its
// filter, a few milliseconds.
type Resampler struct {
	up, down int
	filter   [][]float32
	half     int
	kept     []int16 // the newest input samples
	first    int     // index of kept[0]
	got      int     // input samples so far
	made     int     // output samples so far
}

// NewResampler returns a resampler from one sample rate to another, both in Hz.
func NewResampler(from, to int) (*Resampler, error) {
	if from < minRate || from > maxRate || to < minRate || to > maxRate {
		return nil, fmt.Errorf("%w: %d Hz to %d Hz", ErrFormat, from, to)
	}
	g := gcd(from, to)
	r := &Resampler{up: to / g, down: from / g}
	if from != to {
		r.filter, r.half = phases(r.up, r.down)
	}
	return r, nil
}

// Write adds input samples and returns the output samples that are ready.
func (r *Resampler) Write(in []int16) []int16 {
	if r.filter == nil {
		return in
	}
	r.kept = append(r.kept, in...)
	r.got += len(in)
	out := r.make(func(centre int) bool { return centre+r.half < r.got })
	if old := r.made*r.down/r.up - r.half + 1 - r.first; old > len(r.kept)/2 && old <= len(r.kept) {
		r.kept = append(r.kept[:0], r.kept[old:]...)
		r.first += old
	}
	return out
}

// Flush returns the remaining output samples. The ratio of all output to all input is then the ratio of the rates.
func (r *Resampler) Flush() []int16 {
	if r.filter == nil {
		return nil
	}
	total := (r.got*r.up + r.down - 1) / r.down
	return r.make(func(int) bool { return r.made < total })
}

// make produces output samples while may returns true for the input position of the next one.
func (r *Resampler) make(may func(centre int) bool) []int16 {
	var out []int16
	for {
		pos := r.made * r.down
		centre, phase := pos/r.up, pos%r.up
		if !may(centre) {
			return out
		}
		sum := float32(0)
		from := centre - r.half + 1
		for k, tap := range r.filter[phase][max(0, -from):] {
			at := max(from, 0) + k - r.first
			if at >= len(r.kept) {
				break
			}
			sum += tap * float32(r.kept[at])
		}
		out = append(out, int16(min(max(math.Round(float64(sum)), -32768), 32767)))
		r.made++
	}
}

// phases computes a filter for each position that an output sample can have between two input samples. half is the
// number of coefficients on each side.
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
