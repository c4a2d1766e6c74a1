package speech

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/media/g711"
)

// RecognitionRequest configures the recognition of one turn of the caller.
type RecognitionRequest struct {
	Engine   string   // name of a NamedRecognizer, or LocalRecognizer; "": the first in order
	Model    string   // model of the engine; "": its default
	Language string   // BCP 47 tag
	Phrases  []string // expected phrases; a recognizer with a grammar recognizes nothing else
	Urgent   []string // those of Phrases that are recognized also where others fit a little better
	Keywords []string // names and terms, with the spelling that the text shall have
}

// RecognitionResult is the text that a recognizer has recognized in a turn so far.
type RecognitionResult struct {
	Text       string          // "": nothing was recognized
	Confidence float64         // 0 to 1
	Final      bool            // the last result of the turn
	EndOfTurn  bool            // the engine has recognized from words and voice that the caller has finished
	Err        error           // why recognition failed; only with Final
	Failures   []EngineFailure // engines that failed before this result; only with Final
}

// Stream receives the audio of one turn of the caller.
type Stream interface {
	// Write copies 8 kHz mono µ-law audio of any length. It returns at once.
	Write(mu []byte)
	// End ends the turn. The final RecognitionResult follows.
	End()
	// Close cancels the recognition. After Close no further result is reported, except one that is being reported. Every
	// stream must end by End or Close.
	Close()
}

// Recognizer converts speech to text.
type Recognizer interface {
	// SupportsLanguage reports whether the recognizer understands a language (BCP 47 tag).
	SupportsLanguage(language string) bool
	// TranscribesFreeSpeech reports whether the recognizer transcribes any speech in a language. Otherwise it recognizes
	// expected phrases only.
	TranscribesFreeSpeech(language string) bool
	// Open starts a turn and returns at once. The recognizer calls told with each result, never concurrently and never
	// from within Open or a method of the stream. The last result is final.
	Open(w RecognitionRequest, told func(RecognitionResult)) Stream
}

// tapBytes is the size of the ring buffer of an AudioTap: 2 s of audio.
const tapBytes = 16000

// lateAudio is the number of samples for which delayed audio can still arrive after a moment: 440 ms. Paused recordings
// stay silent for 440 ms longer for the same reason.
const lateAudio = 3520

// AudioTap keeps the last two seconds of the caller's audio and copies new audio to streams. A turn then includes its
// first word, which the caller speaks before speech is detected.
type AudioTap struct {
	mu     sync.Mutex
	ring   [tapBytes]byte
	at, n  int
	stream Stream
	second Stream // second stream, at the same time
	others []Stream
	mute   int // bytes of audio that streams still get as silence
}

// Frame adds a frame of audio. It does not block, so that the media clock may call it.
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

// writeStreams writes audio to the streams and to the ring buffer. The caller holds the lock.
func (e *AudioTap) writeStreams(mu []byte) {
	for _, s := range [...]Stream{e.stream, e.second} {
		if s != nil {
			s.Write(mu)
		}
	}
	for _, s := range e.others {
		s.Write(mu)
	}
	for len(mu) > 0 {
		k := copy(e.ring[e.at:], mu)
		e.at, e.n = (e.at+k)%tapBytes, min(e.n+k, tapBytes)
		mu = mu[k:]
	}
}

// Begin starts copying audio to a stream. It first writes the stored audio of the time back, at most 2 s.
func (e *AudioTap) Begin(s Stream, back time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replay(s, back)
	e.stream = s
}

// End stops copying to the stream of Begin. A stream of BeginSecond continues.
func (e *AudioTap) End() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stream = nil
}

// BeginSecond starts copying audio to a second stream. It first writes the stored audio of the time back.
func (e *AudioTap) BeginSecond(s Stream, back time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replay(s, back)
	e.second = s
}

// EndSecond stops copying to the second stream.
func (e *AudioTap) EndSecond() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.second = nil
}

// Attach starts copying audio to a further stream until Detach. It first writes the stored audio of the time back.
func (e *AudioTap) Attach(s Stream, back time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replay(s, back)
	e.others = append(e.others, s)
}

// Detach stops copying to a stream of Attach.
func (e *AudioTap) Detach(s Stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.others = slices.DeleteFunc(e.others, func(other Stream) bool { return other == s })
}

// Forget discards the stored audio and replaces delayed audio that still arrives with silence. The owner calls it after
// sensitive input.
func (e *AudioTap) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n, e.mute = 0, lateAudio
}

// replay writes the stored audio of the last time back to a stream. The caller holds the lock.
func (e *AudioTap) replay(s Stream, back time.Duration) {
	n := min(int(back*8000/time.Second), e.n)
	from := (e.at - n + tapBytes) % tapBytes
	k := min(n, tapBytes-from)
	s.Write(e.ring[from : from+k])
	s.Write(e.ring[:n-k])
}

// linear converts µ-law to 16-bit samples at the same rate.
func linear(mu []byte) []int16 {
	out := make([]int16, len(mu))
	for i, b := range mu {
		out[i] = g711.MuToLinear(b)
	}
	return out
}
