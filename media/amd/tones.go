package amd

import "math"

// Limits of tone detection: durations in blocks of 20 ms, pitches in Hz, Goertzel bins of 50 Hz.
const (
	hertzPerBin = 8000.0 / blockLen
	firstBin    = 7 // 350 Hz
	lastBin     = 43
	leastEnergy = 200 * 200 * blockLen // -44 dB of full scale
	pure        = 0.74                 // minimum share of the block's energy in the tone
	apart       = 25.0                 // maximum deviation within one tone
	beepLeast   = 5                    // blocks: a beep of 120 ms contains five whole blocks
	beepMost    = 150                  // 3 s
	noteLeast   = 6                    // of a special information signal: 274 ms
	faxLeast    = 40                   // 0.8 s of the fax answer tone
	likelyAfter = 10                   // 0.2 s
	goneAfter   = 4                    // blocks without the tone that end a tone
	notes       = 3
)

type toneKind uint8

const (
	noTone toneKind = iota
	beepTone
	faxTone
	noticeTone
)

// note is a tone of one steady pitch.
type note struct {
	hertz  float32
	blocks int
}

// tones detects signal tones. row holds the notes of the current signal, which consists of up to three notes.
type tones struct {
	notes  [notes]note
	n      int
	misses int
	calls  int  // notes of 1100 Hz: the calling tone of a fax
	fax    bool // faxTone was reported
}

// bins holds the Goertzel coefficient 2·cos(2πk/blockLen) for each detected pitch of k times 50 Hz.
var bins = func() (c [lastBin + 1]float32) {
	for k := range c {
		c[k] = float32(2 * math.Cos(2*math.Pi*float64(k)/blockLen))
	}
	return c
}()

// sounding says whether a tone is in progress. The method sure also requires that the tone has lasted for beepLeast.
func (t *tones) sounding() bool { return t.n > 0 && t.notes[t.n-1].blocks > 1 }

func (t *tones) sure() bool { return t.n > 0 && t.notes[t.n-1].blocks >= beepLeast }

// isLikelyBeep reports whether the tone in progress is most likely a beep: neither that of a fax nor of a special information
// signal.
func (t *tones) isLikelyBeep() bool {
	if t.n != 1 || t.notes[0].blocks < likelyAfter {
		return false
	}
	hertz := t.notes[0].hertz
	return hertz >= 390 && hertz <= 2070 && !near(hertz, 947, 46) && !near(hertz, 1100, 50)
}

// length returns the duration of the signal so far, in blocks.
func (t *tones) length() int {
	all := t.misses
	for _, n := range t.notes[:t.n] {
		all += n.blocks
	}
	return all
}

// block processes 20 ms of audio and returns the kind of a tone that it recognizes. spoke says that speech preceded.
func (t *tones) block(pcm *[blockLen]float32, energy float32, spoke bool) toneKind {
	hertz := pitch(pcm, energy)
	if hertz == 0 {
		if t.n == 0 {
			return noTone
		}
		if t.misses++; t.misses < goneAfter {
			return noTone
		}
		kind := t.classifySignal(spoke)
		t.n, t.misses = 0, 0
		return kind
	}
	t.misses = 0
	for t.n > 0 {
		last := &t.notes[t.n-1]
		if near(hertz, last.hertz, apart) {
			last.hertz += (hertz - last.hertz) / float32(min(last.blocks+1, 8))
			last.blocks++
			return t.detectFaxTone(last)
		}
		if last.blocks >= beepLeast {
			break
		}
		t.n-- // a click, or the transition between two notes
	}
	if t.n == notes {
		copy(t.notes[:], t.notes[1:])
		t.n--
	}
	t.notes[t.n] = note{hertz: hertz, blocks: 1}
	t.n++
	return noTone
}

// detectFaxTone returns faxTone once the answer tone of a fax (2100 Hz) has lasted for faxLeast.
func (t *tones) detectFaxTone(n *note) toneKind {
	if t.fax || n.blocks < faxLeast || !near(n.hertz, 2100, 25) {
		return noTone
	}
	t.fax = true
	return faxTone
}

// classifySignal classifies a signal that has ended by the pitches and durations of its notes.
func (t *tones) classifySignal(spoke bool) toneKind {
	all := t.notes[:t.n]
	last := all[len(all)-1]
	if len(all) == notes && all[0].blocks >= noteLeast && all[1].blocks >= noteLeast && last.blocks >= noteLeast &&
		near(all[0].hertz, 950, 60) && near(all[1].hertz, 1400, 50) && near(last.hertz, 1777, 40) {
		return noticeTone
	}
	blocks := 0
	for _, n := range all {
		if n.blocks >= beepLeast {
			blocks += n.blocks
		}
	}
	switch {
	case blocks == 0 || blocks > beepMost || t.fax:
		return noTone
	case near(last.hertz, 1100, 25) && blocks >= 20 && blocks <= 30:
		if t.calls++; t.calls > 1 || !spoke {
			t.fax = true
			return faxTone
		}
	case near(last.hertz, 425, 12) && !spoke: // ringback or busy tone in much of the world
		return noTone
	case last.hertz < 390 || last.hertz > 2130:
		return noTone
	}
	return beepTone
}

func near(hertz, wanted, by float32) bool { return hertz >= wanted-by && hertz <= wanted+by }

// pitch returns the frequency of the block's audio in Hz, or 0 if the block is not a pure tone.
func pitch(pcm *[blockLen]float32, energy float32) float32 {
	if energy < leastEnergy {
		return 0
	}
	var power [lastBin + 1]float32
	best := firstBin
	for k := firstBin; k <= lastBin; k++ {
		if power[k] = goertzel(pcm, bins[k]); power[k] > power[best] {
			best = k
		}
	}
	if best == firstBin || best == lastBin || 2*(power[best-1]+power[best]+power[best+1]) < pure*blockLen*energy {
		return 0
	}
	// The powers of the strongest bin and of its stronger neighbor give the exact pitch between them.
	neighbor, toward := power[best+1], float32(1)
	if power[best-1] > neighbor {
		neighbor, toward = power[best-1], -1
	}
	mine, other := float32(math.Sqrt(float64(power[best]))), float32(math.Sqrt(float64(neighbor)))
	bin := float32(best) + toward*other/(mine+other)
	hertz := bin * hertzPerBin
	if 2*goertzel(pcm, float32(2*math.Cos(2*math.Pi*float64(hertz)/8000))) < pure*blockLen*energy {
		return 0
	}
	return hertz
}

// goertzel returns the power of the audio at one pitch. c is the Goertzel coefficient 2·cos of this pitch.
func goertzel(pcm *[blockLen]float32, c float32) float32 {
	x := *pcm // a copy on the stack, which the race detector does not instrument
	var s1, s2 float32
	for _, v := range x {
		s1, s2 = v+c*s1-s2, s1
	}
	return s1*s1 + s2*s2 - c*s1*s2
}
