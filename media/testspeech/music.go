package testspeech

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrScore says that a note cannot be read.
var ErrScore = errors.New("testspeech: unreadable note")

// Instrument says how notes sound.
type Instrument struct {
	Harmonics       []float64 // amplitudes of the fundamental and its multiples
	Attack, Release float64   // seconds from silence to full volume, and back at the end of a note
	Decay           float64   // seconds after which a note has 1/e of its volume; 0: it keeps it
	Vibrato         float64   // greatest deviation of the pitch, in parts
	Drums           bool      // the notes are k (bass drum), s (snare drum) and h (hi-hat)
}

// Piano returns an instrument whose notes fade.
func Piano() Instrument {
	return Instrument{Harmonics: []float64{1, 0.6, 0.4, 0.25, 0.15, 0.1}, Attack: 0.005, Release: 0.05, Decay: 0.5}
}

// Strings returns an instrument whose notes begin softly, with vibrato.
func Strings() Instrument {
	return Instrument{Harmonics: []float64{1, 0.7, 0.55, 0.4, 0.3, 0.25, 0.2, 0.15}, Attack: 0.12, Release: 0.15, Vibrato: 0.006}
}

// Flute returns an instrument with few harmonics.
func Flute() Instrument {
	return Instrument{Harmonics: []float64{1, 0.25, 0.08}, Attack: 0.05, Release: 0.08, Vibrato: 0.004}
}

// Bass returns a plucked low instrument.
func Bass() Instrument {
	return Instrument{Harmonics: []float64{1, 0.8, 0.5, 0.3, 0.2}, Attack: 0.01, Release: 0.05, Decay: 0.4}
}

// Drums returns a drum kit.
func Drums() Instrument { return Instrument{Drums: true} }

// Part is what one instrument plays. Notes are separated by spaces and have the form pitch:beats. A pitch is a letter from
// c to b, with # one semitone higher, and an octave, where a4 is 440 Hz. Several pitches joined by + sound together. The
// pitch - is a rest.
type Part struct {
	Instrument Instrument
	Volume     float64
	Notes      string
}

// Score is a piece of music. Its parts begin together, and each is repeated until the end of the longest.
type Score struct {
	BeatsPerMinute float64
	Parts          []Part
}

// Scores returns three short pieces: a song with drums, chords of strings with a flute, and a quick dance.
func Scores() []Score {
	return []Score{
		{104, []Part{
			{Piano(), 0.5, "c4+e4+g4:2 a3+c4+e4:2 f3+a3+c4:2 g3+b3+d4:2"},
			{Bass(), 0.8, "c2:1 c3:1 a1:1 a2:1 f1:1 f2:1 g1:1 g2:1"},
			{Flute(), 0.5, "g4:1 a4:.5 g4:.5 e4:1.5 -:.5 f4:.5 e4:.5 d4:1 b3:1 d4:1 e4:1 c5:1 b4:.5 a4:.5 e4:1 f4:1 a4:1 g4:2"},
			{Drums(), 0.6, "k:.5 h:.5 s:.5 h:.5"},
		}},
		{72, []Part{
			{Strings(), 0.5, "d3+f3+a3:4 g3+a#3+d4:4 c3+e3+g3:4 f3+a3+c4:4"},
			{Bass(), 0.4, "d2:2 a2:2 g2:2 d2:2 c2:2 g2:2 f2:2 c2:2"},
			{Flute(), 0.6, "a4:1.5 f4:.5 d5:2 d5:1 c5:.5 a#4:.5 a4:1 g4:1 e4:1 g4:1 c5:1.5 a#4:.5 a4:3 -:1"},
		}},
		{152, []Part{
			{Strings(), 0.4, "g3+b3+d4:4 c4+e4+g4:4 d4+f#4+a4:4 g3+b3+d4:4"},
			{Piano(), 0.7, "g4:.5 a4:.5 b4:.5 d5:.5 g5:1 d5:1 e5:.5 d5:.5 c5:.5 e5:.5 g5:1 e5:1 f#5:.5 e5:.5 d5:.5 f#5:.5 a5:1 f#5:1 g5:.5 d5:.5 b4:.5 d5:.5 g4:2"},
			{Bass(), 0.7, "g1:1 d2:1 g2:1 d2:1 c2:1 g2:1 e2:1 g2:1 d2:1 a2:1 f#2:1 a2:1 g1:1 b1:1 d2:1 g1:1"},
			{Drums(), 0.7, "k:1 h:.5 h:.5 s:1 h:1"},
		}},
	}
}

// concert plays Scores one after the other.
var concert = sync.OnceValues(func() (all Sound, err error) {
	for _, s := range Scores() {
		piece, err := s.Play()
		if err != nil {
			return nil, err
		}
		all = append(all, piece.AtLevel(StandardLevel)...)
	}
	return all, nil
})

// Music returns the Scores, one after the other, repeatedly, at StandardLevel.
func Music(d time.Duration) (Sound, error) {
	all, err := concert()
	return all.Repeat(d).AtLevel(StandardLevel), err
}

// note is one note of a part. Times are in samples.
type note struct {
	hertz  float64
	drum   string
	at     int
	length int
}

// Play renders a score. Its highest peak is half of full scale.
func (s Score) Play() (Sound, error) {
	var out Sound
	parts := make([][]note, len(s.Parts))
	lengths := make([]int, len(s.Parts))
	longest := 0
	for i, p := range s.Parts {
		var err error
		if parts[i], lengths[i], err = p.read(60 * Rate / s.BeatsPerMinute); err != nil {
			return nil, err
		}
		longest = max(longest, lengths[i])
	}
	out = make(Sound, longest)
	for i, p := range s.Parts {
		for from := 0; lengths[i] > 0 && from < longest; from += lengths[i] {
			for k, n := range parts[i] {
				n.at += from
				p.add(out, n, uint64(k))
			}
		}
	}
	if peak := out.Peak(); peak > 0 {
		for i := range out {
			out[i] *= 0.5 / peak
		}
	}
	return out, nil
}

// read returns the notes of a part and its length. beat is the length of a beat in samples.
func (p Part) read(beat float64) (notes []note, length int, err error) {
	at := 0.0
	for written := range strings.FieldsSeq(p.Notes) {
		pitches, value, _ := strings.Cut(written, ":")
		beats, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %q has no length", ErrScore, written)
		}
		for pitch := range strings.SplitSeq(pitches, "+") {
			n := note{at: int(at), length: int(at+beats*beat) - int(at)}
			if p.Instrument.Drums {
				n.drum = pitch
			} else if n.hertz, err = frequency(pitch); err != nil {
				return nil, 0, err
			}
			if pitch != "-" {
				notes = append(notes, n)
			}
		}
		at += beats * beat
	}
	return notes, int(at), nil
}

// frequency returns the frequency of a pitch such as f#3 in Hz, in equal temperament. That of a rest is 0.
func frequency(pitch string) (float64, error) {
	if pitch == "-" {
		return 0, nil
	}
	if len(pitch) < 2 {
		return 0, fmt.Errorf("%w: pitch %q", ErrScore, pitch)
	}
	semitone, known := map[byte]int{'c': -9, 'd': -7, 'e': -5, 'f': -4, 'g': -2, 'a': 0, 'b': 2}[pitch[0]]
	octave, sharp := strings.CutPrefix(pitch[1:], "#")
	if sharp {
		semitone++
	}
	number, err := strconv.Atoi(octave)
	if err != nil || !known {
		return 0, fmt.Errorf("%w: pitch %q", ErrScore, pitch)
	}
	return 440 * math.Pow(2, float64(number-4)+float64(semitone)/12), nil
}

// add adds the sound of a note. Harmonics above 3400 Hz are left out, as on a telephone line.
//
//go:norace
func (p Part) add(out Sound, n note, seed uint64) {
	if n.drum != "" {
		addDrum(out, n, p.Volume, seed)
		return
	}
	i := p.Instrument
	for k := range min(n.length, len(out)-n.at) {
		t := float64(k) / Rate
		volume := p.Volume * min(1, t/i.Attack, float64(n.length-k)/Rate/i.Release)
		if i.Decay > 0 {
			volume *= math.Exp(-t / i.Decay)
		}
		// The phase is the integral of the frequency, which vibrato of 5 Hz changes.
		phase := 2*math.Pi*n.hertz*t - n.hertz*i.Vibrato/5*(math.Cos(2*math.Pi*5*t)-1)
		v := 0.0
		for h, amplitude := range i.Harmonics {
			if n.hertz*float64(h+1) < 3400 {
				v += amplitude * math.Sin(float64(h+1)*phase)
			}
		}
		out[n.at+k] += volume * v
	}
}

// addDrum adds a stroke: a falling tone for the bass drum, noise for the others.
//
//go:norace
func addDrum(out Sound, n note, volume float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	decay := map[string]float64{"k": 0.08, "s": 0.06, "h": 0.02}[n.drum]
	last := 0.0
	for k := range min(n.length, len(out)-n.at, Rate/2) {
		t := float64(k) / Rate
		noise := r.NormFloat64()
		v := 0.0
		switch n.drum {
		case "k":
			v = 2 * math.Sin(2*math.Pi*(55*t+3*(1-math.Exp(-t/0.03))))
		case "s":
			v = 0.6*noise + 0.8*math.Sin(2*math.Pi*190*t)
		case "h":
			v = 0.5 * (noise - last) // without low frequencies
		}
		last = noise
		out[n.at+k] += volume * v * math.Exp(-t/decay)
	}
}
