package conversation

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/speech"
)

// greetingWords recognizes the words of the greeting with which the call was answered, part by part: each part ends with a
// pause, or with a verdict of voicemail. It listens in the first machineWordsWindow of the call, until words have decided or
// a person's greeting has ended. Places are numbers of samples.
type greetingWords struct {
	recognizer speech.Recognizer // nil: words are not recognized
	tap        *speech.AudioTap
	audio      *greetingAudio // nil: not listening
	from       int            // end of the part that was recognized last
	began      int            // beginning of the speech in progress, or of the latest
	speaking   bool
	speech     int // number of the speech in progress, or of the latest
	personAt   time.Duration
	streams    []speech.Stream
}

type (
	// greetingPaused is the timer message that the speech with this number has paused for long enough to be recognized.
	greetingPaused struct{ speech int }
	// greetingRecognized carries the recognized words of a part of the greeting. "": none.
	greetingRecognized struct{ text string }
)

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (greetingPaused) Control()     {}
func (greetingRecognized) Control() {}

const (
	greetingPause   = 750 * time.Millisecond  // silence that ends a part of the greeting
	silenceAtEnd    = 500 * time.Millisecond  // silence at the end of such a part
	shortGreeting   = 1200 * time.Millisecond // shorter parts, such as "hello", have no typical words of machines
	greetingOverlap = 2 * time.Second         // audio of a part that is recognized again after a verdict within it
	afterPerson     = 3 * time.Second         // time after a person's verdict in which a part of the greeting may begin
)

// greetingAudio stores the audio of the first machineWordsWindow. It implements speech.Stream.
type greetingAudio struct {
	mu    sync.Mutex
	mulaw []byte
}

// Write stores audio.
func (g *greetingAudio) Write(mu []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mulaw = append(g.mulaw, mu[:min(len(mu), samples(machineWordsWindow)-len(g.mulaw))]...)
}

// End does nothing.
func (*greetingAudio) End() {}

// Close does nothing.
func (*greetingAudio) Close() {}

// len returns the number of samples.
func (g *greetingAudio) len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.mulaw)
}

// part returns the samples from a place to another.
func (g *greetingAudio) part(from, to int) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mulaw[max(from, 0):max(min(to, len(g.mulaw)), from, 0)]
}

// samples returns the number of samples of a time.
func samples(d time.Duration) int { return int(d * 8000 / time.Second) }

// listen starts the recognition of the words with which a call is answered. It returns false if nothing recognizes them.
func (w *greetingWords) listen() bool {
	if w.recognizer == nil || w.tap == nil {
		return false
	}
	w.audio = new(greetingAudio)
	w.tap.Attach(w.audio, 0)
	return true
}

// stop ends the recognition. Results in progress still count if keep is set.
func (w *greetingWords) stop(keep bool) {
	if w.audio != nil {
		w.tap.Detach(w.audio)
		w.audio = nil
	}
	if !keep {
		for _, s := range w.streams {
			s.Close()
		}
		w.streams = nil
	}
}

// onSpeech notes at a position on the media clock that the answerer begins to speak, or has been silent for some time. After
// a longer pause the timer message greetingPaused follows. It returns false once the greeting is over.
func (w *greetingWords) onSpeech(ctx actor.Context, timers *timerSet, began bool, silence, position time.Duration) bool {
	if w.audio == nil {
		return false
	}
	if position > machineWordsWindow || began && w.personAt > 0 && position > w.personAt+afterPerson {
		w.stop(true)
		return false
	}
	w.speaking = began
	if !began {
		timers.start(ctx, greetingPause-silence, greetingPaused{w.speech})
		return true
	}
	w.speech++
	w.began = max(w.audio.len()-samples(speechOnset+preRoll), w.began)
	return true
}

// isShort reports whether what was said since the last part is too short for typical words of machines. pause is the
// length of the silence after it.
func (w *greetingWords) isShort(pause time.Duration) bool {
	return w.audio.len()-max(w.began, w.from) < samples(shortGreeting+preRoll+pause)
}

// recognize recognizes what was said since the last part of the greeting. It returns false if that is too short. Otherwise
// the message greetingRecognized follows.
func (w *greetingWords) recognize(ctx actor.Context, language string, pause time.Duration) bool {
	if w.audio == nil {
		return false
	}
	short := w.isShort(pause)
	from, to := max(w.began, w.from), w.audio.len()
	w.from = to
	if short {
		return false
	}
	if w.speaking {
		w.from -= samples(greetingOverlap)
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	s := w.recognizer.Open(speech.RecognitionRequest{Language: language, Phrases: amd.Phrases()}, func(h speech.RecognitionResult) {
		if h.Final {
			root.Send(self, greetingRecognized{wordsOf(h)})
		}
	})
	s.Write(w.audio.part(from, to))
	s.End()
	w.streams = append(w.streams, s)
	return true
}

// wordsOf returns the words of a recognition result that are certain enough to decide.
func wordsOf(h speech.RecognitionResult) string {
	if h.Err != nil || h.Confidence < pathway.AcceptConfidence {
		return ""
	}
	return h.Text
}

// recognizeGreeting recognizes the part of the greeting that has ended, with a pause after it. After the announcement that the
// call is being connected, a short part is a person.
func (c *Conversation) recognizeGreeting(ctx actor.Context, pause time.Duration) {
	switch {
	case c.finished || c.words.audio == nil:
	case c.answer.isConnecting && c.words.isShort(pause):
		c.classifyWords(ctx, "")
	case c.words.recognize(ctx, c.cfg.Script.RecognitionLanguage(), pause):
		c.answer.pending++
	}
}

// classifyWords decides by the words of the answerer. After the announcement that the call is being connected, words that are not
// typical of a machine are those of a person.
func (c *Conversation) classifyWords(ctx actor.Context, text string) {
	by := amd.ClassifyWords(text)
	if by == amd.Unknown && c.answer.isConnecting {
		by = amd.Human
	}
	do, ok := c.answer.onWords(by, amd.IsConnecting(text), decisionInputsOf(c))
	if by == amd.Unknown {
		by = c.answer.heldClass
	}
	c.answerDecided(ctx, by, do, ok)
	if c.answer.byWords.Machine() {
		c.words.stop(true)
	}
}

// checkMachineWords detects an answering machine by typical words of a turn in the first seconds of the call.
func (c *Conversation) checkMachineWords(ctx actor.Context, text string) {
	if c.cfg.detectsAnswerer() && c.cfg.Player.Position() <= machineWordsWindow && amd.ClassifyWords(text) != amd.Unknown {
		c.classifyWords(ctx, text)
	}
}
