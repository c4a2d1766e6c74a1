package amd

import (
	"math"

	"github.com/callboard/callboard/media/vad/silero"
)

// Durations that separate a person from a machine, in windows of 32 ms.
const (
	remembered    = 320 // 10 s
	shortest      = 2   // consecutive windows that are voice instead of a click
	leastVoiced   = 5   // windows of voice that are a word
	greeting      = 148 // 4.7 s: longest greeting of a person, such as a business
	pauseShort    = 28  // 0.9 s: how long a person is silent after a word
	pauseLong     = 36  // 1.15 s: how long a person is silent after several words; machines pause between sentences
	oneWord       = 28  // 0.9 s: maximum length of one or two words
	overAfter     = 62  // 2 s of silence end a greeting without a beep
	pauseOfPerson = 31  // 1 s of silence after the greeting of a supposed machine, before a person speaks again
	askAgain      = 47  // 1.5 s: maximum length of what a person then says
)

// Limits of speech. Levels are in dB of full scale.
const (
	speechProbability = 0.5   // from which a window is speech
	softest           = -52.0 // minimum level of speech
	quietest          = -100.0
	background        = 7.0 // speech that is further below the loudest is from the background: a television, for example
	loudWindows       = 2   // windows that may be louder than the level that counts as the loudest
	levelWindows      = 5   // windows on each side over which the level of speech is measured
)

// window is what is known of 32 ms of audio.
type window struct {
	level  float32 // dB of full scale
	speech bool    // the network hears speech and no tone sounds
}

// voice is the speech of the last 10 s. Which of it is in the foreground depends on the loudest speech, so that all windows
// are judged again whenever one is added.
type voice struct {
	ring    [remembered]window
	n       int // windows in ring
	next    int
	hasWord bool // a word was spoken
}

// add appends a window in place of the oldest one.
func (v *voice) add(samples *[silero.WindowLength]float32, probability float32) {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	w := window{level: quietest, speech: probability >= speechProbability}
	if sum > 0 {
		w.level = float32(10 * math.Log10(sum/silero.WindowLength))
	}
	v.ring[v.next] = w
	v.next, v.n = (v.next+1)%remembered, min(v.n+1, remembered)
}

// markTone marks the latest windows as a tone, which is no speech.
func (v *voice) markTone(windows int) {
	for k := range min(windows, v.n) {
		v.ring[(v.next-1-k+remembered)%remembered].speech = false
	}
}

// at returns the i-th window, the oldest first.
func (v *voice) at(i int) *window { return &v.ring[(v.next-v.n+i+remembered)%remembered] }

// isFull reports whether windows were replaced by later ones.
func (v *voice) isFull() bool { return v.n == remembered }

// level returns the highest level around the i-th window: words have soft sounds between loud ones.
func (v *voice) level(i int) float32 {
	highest := float32(quietest)
	for k := max(i-levelWindows, 0); k <= min(i+levelWindows, v.n-1); k++ {
		highest = max(highest, v.at(k).level)
	}
	return highest
}

// threshold returns the minimum level of speech in the foreground.
func (v *voice) threshold() float32 {
	var loudest [loudWindows + 1]float32 // in descending order
	for i := range loudest {
		loudest[i] = quietest
	}
	for i := range v.n {
		w := v.at(i)
		if !w.speech {
			continue
		}
		level := w.level
		for k := range loudest {
			if level > loudest[k] {
				level, loudest[k] = loudest[k], level
			}
		}
	}
	return max(loudest[loudWindows]-background, softest)
}

// utterance is a part of the speech without a long pause. Its fields are counted in windows.
type utterance struct {
	begin, end int // places in the ring
	voiced     int
	pause      int // silence after it
	before     int // silence before it
}

// utterances passes the utterances in the foreground to add until add returns false. A pause of at least
// pauseBetween separates two utterances.
func (v *voice) utterances(pauseBetween int, add func(u utterance) bool) {
	from := v.threshold()
	u := utterance{begin: -1}
	row := 0
	for i := range v.n {
		if w := v.at(i); !w.speech || v.level(i) < from {
			row = 0
			continue
		}
		if row++; row < shortest {
			continue
		}
		if pause := i + 1 - row - u.end; u.begin >= 0 && pause >= pauseBetween {
			u.pause = pause
			if u.voiced >= leastVoiced && !add(u) {
				return
			}
			u = utterance{begin: -1, before: pause}
		}
		if u.begin < 0 {
			u.begin = i + 1 - row
		}
		if row == shortest {
			u.voiced += shortest - 1
		}
		u.voiced++
		u.end = i + 1
	}
	if u.begin >= 0 && u.voiced >= leastVoiced {
		u.pause = v.n - u.end
		add(u)
	}
}

// classify returns Human or Voicemail by the length of the first utterance and the pause after it. Unknown: more audio is
// needed.
func (v *voice) classify() (c Class) {
	v.utterances(pauseLong, func(u utterance) bool {
		v.hasWord = true
		switch length := u.end - u.begin; {
		case length >= greeting:
			c = Voicemail
		case u.pause >= pauseLong, u.pause >= pauseShort && length <= oneWord:
			c = Human
		}
		return false
	})
	return c
}

// speaksAgain reports whether a supposed machine is a person: someone has been silent after the greeting, has said a
// few words and is silent again.
func (v *voice) speaksAgain() (person bool) {
	v.utterances(pauseOfPerson, func(u utterance) bool {
		person = u.before > 0 && u.end-u.begin <= askAgain && u.pause >= pauseOfPerson
		return true
	})
	return person
}

// silent returns the number of windows since the last speech in the foreground.
func (v *voice) silent() int {
	silence := v.n
	v.utterances(1, func(u utterance) bool {
		silence = u.pause
		return true
	})
	return silence
}
