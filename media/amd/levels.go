package amd

import "math"

// The rules for speech, in blocks of 20 ms.
const (
	remembered  = 250 // 5 s
	shortest    = 3   // blocks in a row that are a sound of a voice: no click
	leastVoiced = 5   // blocks of voice that are a word
	greeting    = 130 // a person greets no longer
	pauseShort  = 44  // so long waits who has said a word
	pauseLong   = 58  // and who has said more, for machines breathe between their sentences
	oneWord     = 40  // what is no longer is a word or two
)

// Levels are in dB above quietest.
const (
	quietest = -66.0 // of full scale
	steps    = 66
	noiseCap = 40 // noise is no louder, -26 dB
	softest  = 14 // speech is no softer, -52 dB
	unvoiced = 255
)

// levels remembers how loud the last 5 s were. The threshold of speech lies between noise and voice as these 5 s show them,
// and holds for what came before as well.
type levels struct {
	ring  [remembered]uint8
	count [steps + 1]uint16
	n     int // blocks remembered
	next  int
	spoke bool // a word was heard
}

// add remembers a block.
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

// unvoice says that the last blocks were a tone, and no voice.
func (l *levels) unvoice(blocks int) {
	for k := 1; k <= min(blocks, l.n); k++ {
		i := (l.next - k + remembered) % remembered
		l.removeLevel(i)
		l.ring[i] = unvoiced
	}
}

// threshold is the level from which on a block is voice.
func (l *levels) threshold() uint8 {
	all := 0
	for _, c := range l.count {
		all += int(c)
	}
	noise, voice := l.share(all/10), l.share(all-1-all/33)
	noise = min(noise, noiseCap)
	return uint8(max(noise+min(max((voice-noise)/2, 5), 12), voice-24, softest)) //nolint:gosec // below steps
}

// share is the level below which so many blocks lie.
func (l *levels) share(blocks int) int {
	for level, c := range l.count {
		if blocks -= int(c); blocks < 0 {
			return level
		}
	}
	return steps
}

// at is the i-th block remembered, the oldest first.
func (l *levels) at(i int) uint8 {
	return l.ring[(l.next-l.n+i+remembered)%remembered]
}

// judge reads who speaks from all that is remembered; Unknown: nobody can tell yet.
func (l *levels) judge() Class {
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
			l.spoke = true
			return Voicemail
		case pause >= pauseLong, pause >= pauseShort && length <= oneWord:
			l.spoke = true
			return Human
		default:
			l.spoke = true
		}
	}
	return Unknown
}

// silent is for how many blocks nobody has spoken.
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
