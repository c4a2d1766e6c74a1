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
	audio      *greetingAudio    // nil: not listening
	from       int               // end of the part that was recognized last
	began      int               // beginning of the speech in progress, or of the latest
	speaking   bool
	speech     int // number of the speech in progress, or of the latest
	personAt   time.Duration
	streams    []speech.Stream
}

type (
	// greetingPaused is the timer message that the speech with this number has paused for long enough to be recognized.
	greetingPaused struct{ speech int }
	// greetingRecognized carries the recognized words of a part of the greeting.
	greetingRecognized struct{ heard speech.RecognitionResult }
)

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (greetingPaused) Control()     {}
func (greetingRecognized) Control() {}

const (
	greetingPause   = 500 * time.Millisecond // silence that ends a part of the greeting
	shortGreeting   = 900 * time.Millisecond // shorter parts, such as "hello", have no typical words of machines
	greetingOverlap = 2 * time.Second        // audio of a part that is recognized again after a verdict within it
	afterPerson     = 3 * time.Second        // time after a person's verdict in which a part of the greeting may begin
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

// listenToGreeting starts the recognition of the words with which the call is answered.
func (c *Conversation) listenToGreeting() {
	w := &c.words
	if w.recognizer == nil || c.cfg.AudioTap == nil {
		return
	}
	c.answer.hasWords = true
	w.audio = new(greetingAudio)
	c.cfg.AudioTap.Attach(w.audio, 0)
}

// stopListeningToGreeting ends the recognition. Results in progress still count if keep is set.
func (c *Conversation) stopListeningToGreeting(keep bool) {
	w := &c.words
	if w.audio != nil {
		c.cfg.AudioTap.Detach(w.audio)
		w.audio = nil
	}
	if !keep {
		for _, s := range w.streams {
			s.Close()
		}
		w.streams = nil
	}
}

// greetingSpeech notes that the answerer begins or stops speaking.
func (c *Conversation) greetingSpeech(ctx actor.Context, began bool) {
	w := &c.words
	if w.audio == nil {
		return
	}
	if position := c.cfg.Player.Position(); position > machineWordsWindow || began && w.personAt > 0 && position > w.personAt+afterPerson {
		c.stopListeningToGreeting(true)
		c.answer.hasWords = false
		return
	}
	w.speaking = began
	if !began {
		c.startAnswerTimer(ctx, max(greetingPause-hangover, time.Millisecond), greetingPaused{w.speech})
		return
	}
	w.speech++
	if at := w.audio.len() - samples(speechOnset+preRoll); at-w.began > 0 {
		w.began = at
	}
}

// greetingPaused recognizes the part of the greeting before a pause.
func (c *Conversation) greetingPaused(ctx actor.Context, m greetingPaused) {
	w := &c.words
	if w.audio == nil || w.speaking || m.speech != w.speech || c.finished {
		return
	}
	if c.answer.isConnecting && w.audio.len()-max(w.began, w.from) < samples(shortGreeting+greetingPause+preRoll) {
		c.personConnected(ctx)
		return
	}
	c.recognizeGreeting(ctx)
}

// recognizeGreeting recognizes what was said since the last part of the greeting.
func (c *Conversation) recognizeGreeting(ctx actor.Context) {
	w := &c.words
	if w.audio == nil {
		return
	}
	from, to := max(w.began, w.from), w.audio.len()
	w.from = to
	if to-from < samples(shortGreeting+preRoll) {
		c.endAnswerHold(ctx)
		return
	}
	if w.speaking {
		w.from -= samples(greetingOverlap)
	}
	c.answer.pending++
	root, self := ctx.ActorSystem().Root, ctx.Self()
	s := w.recognizer.Open(speech.RecognitionRequest{Language: c.cfg.Script.RecognitionLanguage(), Phrases: amd.Phrases()}, func(h speech.RecognitionResult) {
		if h.Final {
			root.Send(self, greetingRecognized{h})
		}
	})
	s.Write(w.audio.part(from, to))
	s.End()
	w.streams = append(w.streams, s)
}

// greetingRecognized decides by the words of a part of the greeting.
func (c *Conversation) greetingRecognized(ctx actor.Context, m greetingRecognized) {
	c.answer.pending--
	if c.finished {
		return
	}
	text := m.heard.Text
	if m.heard.Err != nil || m.heard.Confidence < pathway.AcceptConfidence {
		text = ""
	}
	if c.answer.isConnecting && text == "" {
		c.personConnected(ctx)
		return
	}
	c.classifyWords(ctx, text)
}

// personConnected starts or continues the pathway, because a person speaks after the announcement that the call is being
// connected.
func (c *Conversation) personConnected(ctx actor.Context) {
	c.answer.byWords = amd.Human
	c.answerDecided(ctx, amd.Human, c.answer.onPerson(), true)
}

// classifyWords decides by the words of the answerer.
func (c *Conversation) classifyWords(ctx actor.Context, text string) {
	by := amd.ClassifyWords(text)
	do, ok := c.answer.onWords(by, amd.IsConnecting(text), c.answerSituation())
	if by == amd.Unknown {
		by = c.answer.heldClass
	}
	c.answerDecided(ctx, by, do, ok)
	if c.answer.byWords.Machine() {
		c.stopListeningToGreeting(true)
	}
}

// checkMachineWords detects an answering machine by typical words of a turn in the first seconds of the call.
func (c *Conversation) checkMachineWords(ctx actor.Context, text string) {
	if c.detectsAnswerer() && c.cfg.Player.Position() <= machineWordsWindow && amd.ClassifyWords(text) != amd.Unknown {
		c.classifyWords(ctx, text)
	}
}
