package speech

import (
	"bytes"
	"sync"
	"time"

	"github.com/callboard/callboard/media/g711"
)

// RecognitionRequest tells a recognizer what it will hear.
type RecognitionRequest struct {
	Engine   string   // the name of a Listener, or LocalRecognizer; "": the first of the order
	Model    string   // of that engine; "": its default
	Language string   // as BCP 47 writes it
	Phrases  []string // that are likely to be said; a recognizer by grammar understands nothing else
	Keywords []string // names and terms that may be said, to be spelled like this
}

// RecognitionResult is what was understood of a stream so far.
type RecognitionResult struct {
	Text       string          // "": nothing was understood
	Confidence float64         // 0 to 1
	Final      bool            // nothing follows
	Err        error           // why nothing could be understood; Final then
	Failures   []EngineFailure // engines that failed before this was understood; with Final
}

// Stream is what one says in a turn.
type Stream interface {
	// Write takes 8 kHz mono µ-law of any length, which it copies. It never waits.
	Write(mu []byte)
	// End says that the turn is over: the final Heard follows.
	End()
	// Close gives up: nothing is told afterwards, but for what is being told.
	// Without it a stream must be ended.
	Close()
}

// Recognizer turns sound into words.
type Recognizer interface {
	// SupportsLanguage says whether it understands a language.
	SupportsLanguage(language string) bool
	// TranscribesFreeSpeech says whether it understands whatever is said in it, not only phrases that are expected.
	TranscribesFreeSpeech(language string) bool
	// Open begins a turn and returns at once. told is called with what was
	// understood, never twice at once, never from within Open or a method of
	// the stream, and with one final Heard at the end.
	Open(w RecognitionRequest, told func(RecognitionResult)) Stream
}

// earKeeps is how much sound an Ear remembers, 2 s.
const earKeeps = 16000

// lingers is how much sound may still come of what was over already, 440 ms: as a recording's gap is longer.
const lingers = 3520

// AudioTap keeps the last two seconds of what the far end says, so that a turn can
// begin with its first word, which was said before it was noticed.
type AudioTap struct {
	mu     sync.Mutex
	ring   [earKeeps]byte
	at, n  int
	stream Stream
	aside  Stream // hears besides
	mute   int    // so much sound is still heard as silence
}

// Frame takes sound; it does not wait, so that it can be called from the media clock.
func (e *AudioTap) Frame(mu []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := min(e.mute, len(mu)); n > 0 {
		e.mute -= n
		e.writeStreams(bytes.Repeat([]byte{g711.MuSilence}, n))
		mu = mu[n:]
	}
	if len(mu) > 0 {
		e.writeStreams(mu)
	}
}

// writeStreams gives sound to who hears it, and keeps it. The lock is held.
func (e *AudioTap) writeStreams(mu []byte) {
	for _, s := range [...]Stream{e.stream, e.aside} {
		if s != nil {
			s.Write(mu)
		}
	}
	for len(mu) > 0 {
		k := copy(e.ring[e.at:], mu)
		e.at, e.n = (e.at+k)%earKeeps, min(e.n+k, earKeeps)
		mu = mu[k:]
	}
}

// Begin lets a stream hear from so long ago on.
func (e *AudioTap) Begin(s Stream, back time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remember(s, back)
	e.stream = s
}

// End lets no stream hear any more, but for one besides.
func (e *AudioTap) End() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stream = nil
}

// BeginSecond lets a stream hear besides the one that hears already.
func (e *AudioTap) BeginSecond(s Stream, back time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remember(s, back)
	e.aside = s
}

// EndSecond ends that.
func (e *AudioTap) EndSecond() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.aside = nil
}

// Forget forgets what was said so far, and hears nothing of what still comes of
// it: it was secret.
func (e *AudioTap) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n, e.mute = 0, lingers
}

// remember has a stream hear what was said so long ago. The lock is held.
func (e *AudioTap) remember(s Stream, back time.Duration) {
	n := min(int(back*8000/time.Second), e.n)
	from := (e.at - n + earKeeps) % earKeeps
	k := min(n, earKeeps-from)
	s.Write(e.ring[from : from+k])
	s.Write(e.ring[:n-k])
}

// linear is the sound that a recognizer for 16 kHz takes, at half its rate.
func linear(mu []byte) []int16 {
	out := make([]int16, len(mu))
	for i, b := range mu {
		out[i] = g711.MuToLinear(b)
	}
	return out
}
