package amd

import "math"

// Durations that separate speech from clicks and a person from a machine, in blocks of 20 ms.
const (
	remembered  = 250 // 5 s
	shortest    = 3   // consecutive blocks that are voice instead of a click
	leastVoiced = 5   // blocks of voice that are a word
	greeting    = 130 // maximum length of a person's greeting
	pauseShort  = 44  // how long a person is silent after a word
	pauseLong   = 58  // how long a person is silent after several words; machines pause between sentences
	oneWord     = 40  // maximum length of one or two words
)

// Audio levels in dB relative to quietest. The level unvoiced marks a block that contains a tone.
const (
	quietest = -66.0 // dB of full scale
	steps    = 66
	noiseCap = 40 // maximum noise level, -26 dB of full scale
	softest  = 14 // minimum speech level, -52 dB of full scale
	unvoiced = 255
)

// levels holds the levels of the blocks in the last 5 s. The threshold between noise and speech is computed from all of
// these blocks and is applied to all of them.
type levels struct {
	ring    [remembered]uint8
	count   [steps + 1]uint16
	n       int // blocks in the ring
	next    int
	hasWord bool // a word was spoken
}

// add converts the energy of a block to a level and stores it in place of the oldest level.
func (l *levels) add(energy float32) {
	level := uint8(0)
	if energy > 0 {
		db := 10*math.Log10(float64(energy)/(blockLen*32768*32768)) - quietest
		level = uint8(min(max(db, 0), steps))
	}
	if l.n == remembered {
		l.removeLevel(l.next)
	} else {
		l.n++
	}
	l.ring[l.next] = level
	l.count[level]++
	l.next = (l.next + 1) % remembered
}

func (l *levels) removeLevel(i int) {
	if v := l.ring[i]; v != unvoiced {
		l.count[v]--
	}
}

// unvoice marks the last blocks as a tone, so that they do not count as voice.
func (l *levels) unvoice(blocks int) {
	for k := 1; k <= min(blocks, l.n); k++ {
		i := (l.next - k + remembered) % remembered
		l.removeLevel(i)
		l.ring[i] = unvoiced
	}
}

// threshold returns the minimum level at which a block counts as speech.
func (l *levels) threshold() uint8 {
	all := 0
	for _, c := range l.count {
		all += int(c)
	}
	noise, voice := l.share(all/10), l.share(all-1-all/33)
	noise = min(noise, noiseCap)
	return uint8(max(noise+min(max((voice-noise)/2, 5), 12), voice-24, softest)) //nolint:gosec // below steps
}

// share returns the level that more than the given number of blocks do not exceed: a quantile of the levels.
func (l *levels) share(blocks int) int {
	for level, c := range l.count {
		if blocks -= int(c); blocks < 0 {
			return level
		}
	}
	return steps
}

// at returns the level of the i-th block in the ring, the oldest first.
func (l *levels) at(i int) uint8 {
	return l.ring[(l.next-l.n+i+remembered)%remembered]
}

// classify returns Human or Voicemail by the length of the speech and the pause after it. Unknown: more audio is needed.
func (l *levels) classify() Class {
	from := l.threshold()
	begin, end, voiced, row := -1, 0, 0, 0
	for i := range l.n {
		if v := l.at(i); v < from || v == unvoiced {
			row = 0
		} else if row++; row >= shortest {
			if begin < 0 {
				begin = i + 1 - shortest
			}
			if row == shortest {
				voiced += shortest - 1
			}
			voiced++
			end = i + 1
		}
		switch pause, length := i+1-end, end-begin; {
		case begin < 0:
		case voiced < leastVoiced && pause >= pauseShort:
			begin, voiced = -1, 0
		case voiced < leastVoiced:
		case length >= greeting:
			l.hasWord = true
			return Voicemail
		case pause >= pauseLong, pause >= pauseShort && length <= oneWord:
			l.hasWord = true
			return Human
		default:
			l.hasWord = true
		}
	}
	return Unknown
}

// silent returns the number of blocks since the last block of speech.
func (l *levels) silent() int {
	from := l.threshold()
	row := 0
	for i := l.n - 1; i >= 0; i-- {
		if v := l.at(i); v < from || v == unvoiced {
			row = 0
			continue
		}
		if row++; row >= shortest {
			return l.n - i - shortest
		}
	}
	return l.n
}
