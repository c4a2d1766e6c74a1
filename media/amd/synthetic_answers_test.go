package amd_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/wav"
)

// This file generates the set of answers for the test, by random numbers with a fixed seed. The two halves of the set
// have different voices, words and noise. One half is for tuning the detector, the other for the test.

const rate = 8000

// answer is one synthetic recording of an answered call.
type answer struct {
	kind  string // person, mailbox, no beep, screening, menu, fax, announcement or nobody
	truth amd.Class
	words string
	sound []byte // µ-law, as a session passes it to the detector
	ends  int    // sample at which the greeting, or its beep, ends
}

// half holds the voices, sentences and noise generators of one half of the answer set.
type half struct {
	seed    uint64
	voices  []string
	people  []string
	mailbox []string
	bare    []string // greetings of machines without a beep
	screens []string
	menus   []string
	noises  []func(r *rand.Rand, out []float64)
}

func tuning() half {
	return half{
		seed: 1, voices: []string{"en-us", "en-us+f2", "en-gb", "en-us+m3", "en-gb+f4", "en-us+m5"},
		people: []string{
			"Hello?", "Hi.", "Yes?", "Hello, this is Maria.", "Hello, who is this?", "Smith residence.", "Yeah, hello?",
			"This is David speaking.", "Good morning, Acme Plumbing, this is Sarah.", "Hey, what's up?", "Hello? Who is calling please?", "Speaking.",
		},
		mailbox: []string{
			"Hi, you've reached Anna. I can't come to the phone right now. Please leave a message after the tone.",
			"Hello. This is the voice mail of Peter Jones. Leave your name and number, and I will call you back.",
			"You have reached five five five, zero one four two. No one is available to take your call. At the tone, please record your message.",
			"Hey, it's Mike. You know what to do.",
			"We can't take your call right now. Please leave your message after the beep.",
			"Your call has been forwarded to an automatic voice message system. The person you are calling is not available.",
		},
		bare: []string{
			"The customer you are calling is not available at this time. Please try your call again later.",
			"Thank you for calling. Our office is closed. Our hours are nine to five, Monday to Friday.",
		},
		screens: []string{"The person you are calling is using a screening service, and will get a copy of this conversation. Go ahead and say your name, and why you are calling."},
		menus:   []string{"Thank you for calling Northern Bank. For sales, press one. For support, press two. To hear these options again, press nine."},
		noises:  []func(*rand.Rand, []float64){white, pink, brown},
	}
}

func heldOut() half {
	return half{
		seed: 2, voices: []string{"en-us+f3", "en-gb-scotland", "en-gb-x-rp+m2", "en-us+m7", "en-029+f1", "en-us+f5"},
		people: []string{
			"Hello?", "Hello there.", "Yes, hello.", "Hi, Susan here.", "Hello, who's calling?", "Miller household.", "Yeah?",
			"John Carter.", "Riverside Dental, good afternoon, how can I help?", "Hello, can I help you?", "Hi, how are you?", "Hello, this is the Johnson family.",
		},
		mailbox: []string{
			"Hello, you have reached the Wilsons. We are not at home right now. Leave a message, and we will get back to you.",
			"This is Karen. Sorry I missed you. Please leave me a message, and have a great day.",
			"The person at extension three one two is on the phone. Please leave your message after the tone. When done, hang up.",
			"Hi, this is Tom's phone. Leave a message.",
			"Welcome to the mailbox of doctor Brown. If this is an emergency, hang up and call the hospital. Otherwise speak after the beep.",
			"I am unable to take your call at the moment. Please try again later, or record your message at the tone.",
		},
		bare: []string{
			"The mobile phone you have called may be switched off, or out of reach. Please call again later.",
			"All of our agents are busy. Please hold the line, your call will be answered in the order in which it was received.",
		},
		screens: []string{"Hi. Before I try to connect you, please state your name and the reason for your call. I will see if this person is available."},
		menus:   []string{"Welcome to City Hospital. If you know your party's extension, dial it now. For appointments, press one. For billing, press two."},
		noises:  []func(*rand.Rand, []float64){hum, traffic, crackle},
	}
}

// white generates white noise. The generators below differ in their spectrum: pink and brown noise have less treble,
// and hum is the 50 Hz hum of mains power.
//
//go:norace
func white(r *rand.Rand, out []float64) {
	for i := range out {
		out[i] = r.NormFloat64()
	}
}

//go:norace
func pink(r *rand.Rand, out []float64) {
	var a, b float64
	for i := range out {
		w := r.NormFloat64()
		a, b = 0.97*a+0.25*w, 0.7*b+0.5*w
		out[i] = a + b
	}
}

//go:norace
func brown(r *rand.Rand, out []float64) {
	v := 0.0
	for i := range out {
		v = 0.96*v + r.NormFloat64()
		out[i] = v
	}
}

//go:norace
func hum(r *rand.Rand, out []float64) {
	at := r.Float64()
	for i := range out {
		x := 2 * math.Pi * (float64(i)/rate*50 + at)
		out[i] = math.Sin(x) + 0.5*math.Sin(3*x) + 0.3*math.Sin(7*x) + 0.5*r.NormFloat64()
	}
}

// noise generates 10 s of each kind of noise. Each answer uses a random position in this audio.
//
//go:norace
func (h *half) noise() (all [][]float64) {
	r := rand.New(rand.NewPCG(h.seed, 1000))
	for _, make10s := range h.noises {
		out, sum := make([]float64, 10*rate), 0.0
		make10s(r, out)
		for _, v := range out {
			sum += v * v
		}
		gain := 1 / math.Sqrt(sum/float64(len(out)))
		for i := range out {
			out[i] *= gain
		}
		all = append(all, out)
	}
	return all
}

// traffic generates noise that swells and fades like traffic. The function crackle generates the clicks of a bad line.
//
//go:norace
func traffic(r *rand.Rand, out []float64) {
	v, at, every := 0.0, r.Float64(), 1+2*r.Float64()
	for i := range out {
		v = 0.9*v + r.NormFloat64()
		out[i] = v * (1 + 0.5*math.Sin(2*math.Pi*(float64(i)/rate/every+at)))
	}
}

//go:norace
func crackle(r *rand.Rand, out []float64) {
	for i := range out {
		out[i] = 0.4 * r.NormFloat64()
		if r.IntN(rate/6) == 0 {
			out[i] += 12 * r.NormFloat64()
		}
	}
}

// voices caches the synthesized speech by voice and sentence.
type voices struct {
	mu   sync.Mutex
	said map[string][]float64
}

// set generates both halves of the answer set at the first call and caches them for all tests.
var set = sync.OnceValues(func() ([2][]answer, error) { //nolint:gochecknoglobals // it takes seconds
	v := &voices{said: make(map[string][]float64)}
	var out [2][]answer
	var failed [2]error
	var work sync.WaitGroup
	for i, h := range []half{tuning(), heldOut()} {
		work.Go(func() { out[i], failed[i] = v.answers(h) })
	}
	work.Wait()
	return out, errors.Join(failed[:]...)
})

func answers(t testing.TB, part int) []answer {
	t.Helper()
	both, err := set()
	require.NoError(t, err)
	return both[part]
}

func (v *voices) say(text, voice string) ([]float64, error) {
	key := voice + "|" + text
	v.mu.Lock()
	said, ok := v.said[key]
	v.mu.Unlock()
	if ok {
		return said, nil
	}
	b, err := exec.Command("espeak-ng", "--stdout", "-s", "165", "-v", voice, text).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	spoken, err := wav.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	said = narrow(spoken.Samples)
	v.mu.Lock()
	v.said[key] = said
	v.mu.Unlock()
	return said, nil
}

// taps is the number of coefficients that the resampling filter of narrow has on each side of an output sample.
const taps = 24

// filters returns the 160 filters for resampling. An output sample at 8 kHz can have 160 positions between two input
// samples at 22.05 kHz.
var filters = sync.OnceValue(func() *[160][2 * taps]float64 { //nolint:gochecknoglobals // made once
	var out [160][2 * taps]float64
	for phase := range out {
		for k := range out[phase] {
			off := float64(phase)/160 + taps - 1 - float64(k)
			x := off / narrowing * 0.95
			w := (0.5 + 0.5*math.Cos(math.Pi*off/(taps+1))) / narrowing
			if x != 0 {
				w *= math.Sin(math.Pi*x) / (math.Pi * x)
			}
			out[phase][k] = w
		}
	}
	return &out
})

const narrowing = 22050.0 / rate

// narrow resamples speech from 22.05 kHz to 8 kHz, trims silence and normalizes the level.
//
//go:norace
func narrow(in []int16) []float64 {
	f := filters()
	out := make([]float64, len(in)*160/441)
	first, last, sum := -1, 0, 0.0
	for i := range out {
		at := i * 441 / 160
		v := 0.0
		if from := at - taps + 1; from >= 0 && from+2*taps <= len(in) {
			for k, w := range &f[i*441%160] {
				v += w * float64(in[from+k])
			}
		}
		out[i] = v / 32768
		if math.Abs(out[i]) > 0.005 {
			if first < 0 {
				first = i
			}
			last = i
		}
		sum += out[i] * out[i]
	}
	out = out[max(first, 0) : last+1]
	gain := 0.1 / math.Sqrt(sum/float64(len(out)))
	for i := range out {
		out[i] *= gain
	}
	return out
}

// callBuilder generates the audio of one answer. sound is the audio without noise.
type callBuilder struct {
	r     *rand.Rand
	h     half
	voice string
	noise [][]float64
	sound []float64
}

func (c *callBuilder) silence(from, to float64) {
	c.sound = append(c.sound, make([]float64, int((from+(to-from)*c.r.Float64())*rate))...)
}

//go:norace
func (c *callBuilder) tone(hertz, seconds float64) {
	level := 0.1 + 0.2*c.r.Float64()
	for i := range int(seconds * rate) {
		c.sound = append(c.sound, level*math.Sin(2*math.Pi*hertz*float64(i)/rate))
	}
}

// answers generates the 160 answers of a half: 60 people, 50 voicemails with a beep, 20 without a beep, and a few of
// each other kind.
func (v *voices) answers(h half) ([]answer, error) {
	var out []answer
	noise := h.noise()
	for i := range 160 {
		r := rand.New(rand.NewPCG(h.seed, uint64(i)))
		c := &callBuilder{r: r, h: h, noise: noise, voice: h.voices[(i/12)%2+2*(i%3)]}
		a, err := v.answer(c, i)
		if err != nil {
			return nil, err
		}
		a.sound = c.mixed()
		out = append(out, a)
	}
	return out, nil
}

func (v *voices) answer(c *callBuilder, i int) (a answer, err error) {
	say := func(all []string) {
		a.words = all[i%len(all)]
		for k, sentence := range strings.SplitAfter(a.words, ". ") {
			said, failed := v.say(strings.TrimSpace(sentence), c.voice)
			err = errors.Join(err, failed)
			if k > 0 {
				c.silence(0.15, 0.9)
			}
			c.sound = append(c.sound, said...)
		}
	}
	switch {
	case i < 60:
		a.kind, a.truth = "person", amd.Human
		c.silence(0.1, 1.5)
		say(c.h.people)
		if i%4 == 0 {
			c.silence(1.5, 2.5)
			say([]string{"Hello?"})
		}
		c.silence(3, 5)
	case i < 110:
		a.kind, a.truth = "mailbox", amd.Voicemail
		c.silence(0.1, 1.8)
		say(c.h.mailbox)
		c.silence(0.2, 1.5)
		c.tone([]float64{425, 440, 620, 800, 850, 1000, 1004, 1400, 1650, 2000}[i%10], []float64{0.15, 0.25, 0.4, 0.6, 1}[i/10%5])
		a.ends = len(c.sound)
		c.silence(3, 4)
	case i < 130:
		a.kind, a.truth = "no beep", amd.Voicemail
		c.silence(0.1, 1.8)
		say(c.h.bare)
		a.ends = len(c.sound)
		c.silence(3, 5)
	case i < 137:
		a.kind, a.truth = "screening", amd.CallScreening
		c.silence(0.1, 1)
		say(c.h.screens)
		c.silence(4, 5)
	case i < 144:
		a.kind, a.truth = "menu", amd.IVR
		c.silence(0.1, 1)
		say(c.h.menus)
		c.silence(3, 4)
	case i < 150:
		a.kind, a.truth = "fax", amd.Fax
		c.silence(0.2, 2)
		if i%2 == 0 {
			c.tone(2100, 3)
			c.silence(2, 2)
			break
		}
		for range 2 {
			c.tone(1100, 0.5)
			c.silence(3, 3)
		}
	case i < 155:
		a.kind, a.truth = "announcement", amd.Unavailable
		c.silence(0.2, 1)
		length := []float64{0.274, 0.38}[i%2]
		c.tone([]float64{913.8, 985.2}[i%2], length)
		c.tone([]float64{1370.6, 1428.5}[i/2%2], length)
		c.tone(1776.7, length)
		c.silence(0.1, 0.4)
		say([]string{"The number you have dialed is not in service. Please check the number and dial again."})
		c.silence(1, 2)
	default:
		a.kind, a.truth = "nobody", amd.Unknown
		c.silence(7, 9)
	}
	return a, err
}

// mixed adds line noise to the audio and encodes it as the media session would pass it to the detector.
//
//go:norace
func (c *callBuilder) mixed() []byte {
	r := c.r
	level := math.Pow(10, -(2+12*r.Float64())/20) * 1.6 // speech at -16 to -28 dB
	below := []float64{60, 30, 20, 15, 10}[r.IntN(5)]   // dB below speech
	noise, from := c.noise[r.IntN(len(c.noise))], r.IntN(rate)
	gain := 0.1 * math.Pow(10, -below/20)
	alaw := r.IntN(2) == 0
	out := make([]byte, len(c.sound))
	for i := range out {
		v := int16(32767 * min(max(level*(c.sound[i]+gain*noise[(from+i)%len(noise)]), -1), 1))
		if alaw {
			v = g711.AToLinear(g711.LinearToA(v))
		}
		out[i] = g711.LinearToMu(v)
	}
	return out
}

// result holds the verdicts, beeps and times that the detector reports for an answer.
type result struct {
	first amd.Class     // within 5 s
	took  time.Duration // time until the first verdict
	last  amd.Class
	beeps []time.Duration
	over  time.Duration
}

//go:norace
func judge(sound []byte) (j result) {
	var d amd.Detector
	told := false
	for i := 0; i+160 <= len(sound); i += 160 {
		e := d.Frame(sound[i : i+160])
		at := time.Duration(i+160) * time.Second / rate
		if e.Verdict && !told {
			j.first, j.took, told = e.Class, at, true
		}
		if e.Beep {
			j.beeps = append(j.beeps, at)
		}
		if e.Over {
			j.over = at
		}
		j.last = e.Class
	}
	return j
}

// confusion counts, for each kind of answer, how often the detector returned each class.
type confusion struct {
	kinds  []string
	counts map[string]map[string]int
}

func (c *confusion) add(kind string, as amd.Class) {
	if c.counts == nil {
		c.counts = make(map[string]map[string]int)
	}
	if c.counts[kind] == nil {
		c.kinds = append(c.kinds, kind)
		c.counts[kind] = make(map[string]int)
	}
	c.counts[kind][as.String()]++
}

func (c *confusion) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s", "")
	for as := amd.Unknown; as <= amd.Unavailable; as++ {
		fmt.Fprintf(&b, "%15s", as)
	}
	for _, k := range c.kinds {
		fmt.Fprintf(&b, "\n%-14s", k)
		for as := amd.Unknown; as <= amd.Unavailable; as++ {
			fmt.Fprintf(&b, "%15d", c.counts[k][as.String()])
		}
	}
	return b.String()
}
