package testspeech

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// Noise is a kind of background noise.
type Noise struct {
	Name string
	Make func(time.Duration) (Sound, error)
}

// Noises returns all kinds of noise.
func Noises() []Noise {
	return []Noise{{"white", White}, {"pink", Pink}, {"babble", Babble}, {"music", Music}, {"television", Television}, {"keyboard", Keyboard}, {"cough", Cough}}
}

// White returns noise with the same power at all frequencies, at StandardLevel.
//
//go:norace
func White(d time.Duration) (Sound, error) {
	r := rand.New(rand.NewPCG(1, 1))
	out := make(Sound, Samples(d))
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out.AtLevel(StandardLevel), nil
}

// Pink returns noise whose power falls by 3 dB per octave, at StandardLevel. It is the sum of white noises, each held for
// twice as many samples as the one before (Voss's method).
//
//go:norace
func Pink(d time.Duration) (Sound, error) {
	r := rand.New(rand.NewPCG(1, 2))
	var rows [12]float64
	out := make(Sound, Samples(d))
	for i := range out {
		for k := range rows {
			if i%(1<<k) == 0 {
				rows[k] = r.NormFloat64()
			}
			out[i] += rows[k]
		}
	}
	return out.AtLevel(StandardLevel), nil
}

// babbleTexts returns what the voices of Babble say, one text for each.
func babbleTexts() []string {
	return []string{
		"The train was late again this morning. We stood in the rain for half an hour, and nobody told us anything. In the end we took a taxi.",
		"My sister has a new dog. It eats everything that it finds on the floor. Last week it was a pair of gloves and half of the newspaper.",
		"They want to open another bakery on the corner. There are three already. I think a small cinema would be much nicer for everyone.",
		"We went to the mountains in August. The food was good and the rooms were clean, but the children found it dull without the sea.",
		"He paints his garden fence every spring. Green one year, white the next. The neighbors make bets about the color.",
		"The soup needs more salt and a little lemon. Let it cook for ten more minutes, then add the herbs and take it from the stove.",
		"Our team lost the first game and won the second. If they go on like this they may reach the final round in October.",
		"The library closes at six on Fridays. I still have four books at home that should have gone back in the spring.",
	}
}

// Babble returns eight voices that speak at once, at StandardLevel.
func Babble(d time.Duration) (Sound, error) {
	layers := make([]Sound, len(BackgroundVoices()))
	for i, text := range babbleTexts() {
		for sentence := range strings.SplitAfterSeq(text, ". ") {
			said, err := Say(BackgroundVoices()[i], sentence)
			if err != nil {
				return nil, err
			}
			layers[i] = append(append(layers[i], said...), Silence(200*time.Millisecond)...)
			if layers[i].Duration() > d {
				break
			}
		}
		layers[i] = layers[i].Repeat(d)
	}
	return Overlay(layers...).AtLevel(StandardLevel), nil
}

// televisionTexts returns what the presenters of Television say in turns.
func televisionTexts() []string {
	return []string{
		"Good evening, and welcome to the news at eight. Here are the headlines.",
		"The government has agreed on a new budget for schools and hospitals. The opposition calls it too little and too late.",
		"In sports, the home side won by two goals in front of forty thousand people.",
		"Thank you. And now to the weather. There will be some rain in the north, and a strong wind along the coast.",
		"Tomorrow starts with fog in the valleys. Later the sun comes out, and it will be warm for the season.",
		"After the break: the island where nobody locks the door. Stay with us!",
	}
}

// Television returns a news program: four presenters in turns, with a jingle before and music under their voices, applause,
// and short pauses, at StandardLevel.
//
//go:norace
func Television(d time.Duration) (Sound, error) {
	jingle, err := Scores()[2].Play()
	if err != nil {
		return nil, err
	}
	program := jingle[:3*Rate].AtLevel(StandardLevel - 3)
	for i, text := range televisionTexts() {
		if program.Duration() > d {
			break
		}
		said, err := Say(BackgroundVoices()[i%4], text)
		if err != nil {
			return nil, err
		}
		program = append(append(program, said...), Silence(time.Duration(200+150*(i%3))*time.Millisecond)...)
		if i == 2 {
			program = append(program, applause(2*time.Second)...)
		}
	}
	music, err := Music(program.Duration())
	if err != nil {
		return nil, err
	}
	return Overlay(program, music.AtLevel(StandardLevel-18)).Repeat(d).AtLevel(StandardLevel), nil
}

// applause returns the sound of some hundred claps per second, which swells and fades.
//
//go:norace
func applause(d time.Duration) Sound {
	r := rand.New(rand.NewPCG(1, 3))
	out := make(Sound, Samples(d))
	for range int(d.Seconds() * 300) {
		volume := r.Float64()
		for k, at := 0, r.IntN(len(out)); k < 80 && at+k < len(out); k++ {
			out[at+k] += volume * r.NormFloat64() * math.Exp(-float64(k)/20)
		}
	}
	for i := range out {
		out[i] *= math.Sin(math.Pi * float64(i) / float64(len(out)))
	}
	return out.AtLevel(StandardLevel - 3)
}

// Keyboard returns the typing of words at about five keys per second, at StandardLevel. Each key makes a click when it is
// pressed and a softer one when it is released.
//
//go:norace
func Keyboard(d time.Duration) (Sound, error) {
	r := rand.New(rand.NewPCG(1, 4))
	out := make(Sound, Samples(d))
	click := func(at int, volume float64) {
		hertz := 1800 + 1400*r.Float64()
		for k := 0; k < Rate/50 && at+k < len(out); k++ {
			t := float64(k) / Rate
			out[at+k] += volume * math.Exp(-t/0.003) * (math.Sin(2*math.Pi*hertz*t) + 0.7*r.NormFloat64())
		}
	}
	for at := Rate / 20; at < len(out); at += Rate/10 + r.IntN(Rate/6) {
		volume := 0.6 + 0.4*r.Float64()
		click(at, volume)
		click(at+Rate/16+r.IntN(Rate/40), 0.4*volume)
		if r.IntN(6) == 0 { // the end of a word
			at += Rate/5 + r.IntN(Rate/2)
		}
	}
	return out.AtLevel(StandardLevel), nil
}

// Cough returns a cough of two strokes every four seconds, at StandardLevel. A stroke is a burst of noise, followed by
// noise through the wide resonances of an open throat that fades, and the last stroke ends with some voice.
//
//go:norace
func Cough(d time.Duration) (Sound, error) {
	r := rand.New(rand.NewPCG(1, 5))
	out := make(Sound, Samples(d))
	for start := Rate / 2; start < len(out); start += 4 * Rate {
		for stroke := range 2 {
			var throat [3]resonance
			throat[0].tune(650+150*r.Float64(), 300)
			throat[1].tune(1500+400*r.Float64(), 600)
			throat[2].tune(2500+300*r.Float64(), 800)
			at, hertz := start+stroke*Rate*4/10, 180+80*r.Float64()
			for k := 0; k < Rate*35/100 && at+k < len(out); k++ {
				t := float64(k) / Rate
				source := r.NormFloat64() * min(1, t/0.005) * (math.Exp(-t/0.03) + 0.35*math.Exp(-t/0.12))
				if stroke == 1 && t > 0.15 && int(t*hertz) != int((t-1.0/Rate)*hertz) { // a pulse of the voice
					source += 4 * math.Exp(-(t-0.15)/0.08)
				}
				out[at+k] += throat[0].filter(source) + 0.6*throat[1].filter(source) + 0.5*throat[2].filter(source)
			}
		}
	}
	return out.AtLevel(StandardLevel), nil
}

// resonance is a filter of second order.
type resonance struct{ a, b, gain, y1, y2 float64 }

// tune sets frequency and bandwidth in Hz.
func (f *resonance) tune(hertz, bandwidth float64) {
	radius := math.Exp(-math.Pi * bandwidth / Rate)
	*f = resonance{a: 2 * radius * math.Cos(2*math.Pi*hertz/Rate), b: -radius * radius, gain: 1 - radius}
}

//go:norace
func (f *resonance) filter(x float64) float64 {
	y := f.gain*x + f.a*f.y1 + f.b*f.y2
	f.y2, f.y1 = f.y1, y
	return y
}
