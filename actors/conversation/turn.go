package conversation

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// Times of a turn of the caller. SpeechBegan comes 200 ms after the first sound, SpeechEnded after 500 ms of silence.
const (
	noticed   = 200 * time.Millisecond
	hangover  = 500 * time.Millisecond
	before    = 300 * time.Millisecond // soft first sounds that were not detected as speech
	insists   = 500 * time.Millisecond // speech of this length over a prompt interrupts it
	someWords = 2                      // so do as many words. Default of TurnTaking.InterruptionWords.
	cough     = 400 * time.Millisecond // shorter sounds without words are no answer
	turnLimit = 15 * time.Second       // of a turn, pauses included
	lateLimit = 8 * time.Second        // for a recognizer's result
)

// unheardMost is after how many failed turns in a row an agent counts as unable to hear.
const unheardMost = 2

var errLate = errors.New("conversation: the recognizer did not answer in time")

// turnTaking returns the agent's settings.
func (c *Conversation) turnTaking() domain.TurnTaking {
	if t := c.cfg.Script.Turns; t != nil {
		return *t
	}
	return domain.TurnTaking{}
}

// beginTurn opens a turn: the caller has begun to speak.
func (c *Conversation) beginTurn(ctx actor.Context) {
	l := &c.listening
	if !l.hasRecognizer() || c.realtime.open && !c.realtime.talk.AudioOnly || c.finished || c.absence.on || !c.answer.pathwayBegun || c.state.Over() || !c.understandsLanguage() {
		return
	}
	if l.turn.open {
		if l.continueTurn(ctx) {
			c.speculation.cancelGuess()
		}
		return
	}
	phrases, hears := c.state.Expects()
	if !hears && (c.state.Secret() || !ListensForOptOut(c.cfg.Recognizer, c.cfg.Script.Hearing(), c.cfg.OptOutKeywords)) {
		return
	}
	c.playback.paused = false
	l.openTurn(ctx, c.recognition(append(phrases, dnc.Sayable(c.cfg.OptOutKeywords)...)), turn{keywordOnly: !hears, duringRealtime: c.realtime.round != 0}, c.isSpeculative())
	if !hears {
		return
	}
	if c.input.isRunning() && !c.playback.isPlaying() && c.input.limit > 0 {
		c.input.stop()
	}
	if c.isInterruptible() {
		c.playback.pause()
	}
}

// recognition is what the recognizer has to expect.
func (c *Conversation) recognition(phrases []string) speech.RecognitionRequest {
	w := speech.RecognitionRequest{Language: c.cfg.Script.Hearing(), Phrases: phrases}
	if s := c.cfg.Script.STT; s != nil {
		w.Engine, w.Model, w.Keywords = s.Engine, s.Model, s.Keywords
	}
	return w
}

// speechEnded ends the turn, at once or after the silence that the agent waits for.
func (c *Conversation) speechEnded(ctx actor.Context) {
	l := &c.listening
	l.turn.resumed = false
	if !l.turn.open || l.turn.over {
		return
	}
	l.turn.ended = c.cfg.Player.Mark() - hangover
	c.speculate(ctx)
	if more := time.Duration(c.turnTaking().EndOfTurnMs)*time.Millisecond - hangover; more > 0 && !l.turn.keywordOnly {
		l.limitTurn(ctx, more, false)
		return
	}
	l.endTurn(ctx)
}

// turnTimeout ends a turn that has lasted long enough, or one whose result is late.
func (c *Conversation) turnTimeout(ctx actor.Context, m turnTimeout) {
	t := &c.listening.turn
	switch {
	case m.id != t.id || !t.open || m.late != t.over:
	case m.late:
		t.stream.Close()
		c.turnRecognized(ctx, turnRecognized{m.id, speech.RecognitionResult{Final: true, Err: errLate}})
	default:
		c.listening.endTurn(ctx)
	}
}

// dropTurn forgets what is being said: a key came, or somebody else has the caller.
func (c *Conversation) dropTurn() {
	if c.listening.turn.open {
		c.speculation.drop()
		c.listening.dropTurn()
	}
}

// mayOptOut says whether a turn is under way in which an opt-out keyword counts.
func (c *Conversation) mayOptOut() bool {
	t := &c.listening.turn
	return t.open && !c.optedOut && len(dnc.Sayable(c.cfg.OptOutKeywords)) > 0 && (t.duringRealtime || !c.state.Secret())
}

// leaveTurnToKeywords lets a turn go on while a realtime engine takes the caller over: only an opt-out keyword counts in it.
func (c *Conversation) leaveTurnToKeywords(ctx actor.Context) {
	if !c.mayOptOut() {
		c.dropTurn()
		return
	}
	c.speculation.drop()
	c.listening.moveTurnBehindRealtime(ctx)
}

// turnRecognized acts on the words of a turn.
func (c *Conversation) turnRecognized(ctx actor.Context, m turnRecognized) {
	t, ok := c.listening.closeTurn(m.id)
	if !ok {
		return
	}
	h := m.heard
	if c.finished {
		c.recordWords(ctx, t, &h)
		if !c.awaitsLastWords() {
			c.sendFinished(ctx)
		}
		return
	}
	for _, f := range h.Failures {
		c.reportEngineFailure(ctx, engineFailed{"stt", f})
	}
	if h.Err != nil {
		c.cfg.Log.Error("what was said could not be understood", slog.Any("error", h.Err))
		ctx.Send(ctx.Parent(), Fault{Stage: "stt", Code: "recognition_failed", Message: "what the caller said could not be understood", Recovered: true})
		if c.listening.unheard++; c.listening.unheard >= unheardMost && !t.keywordOnly && !c.absence.on && !c.unable && c.state.NeedsWords() {
			c.endUnable(ctx)
			return
		}
	} else {
		c.listening.unheard = 0
	}
	c.recordWords(ctx, t, &h)
	if !t.keywordOnly && !c.absence.on && c.isAnswer(h, t.ended-t.began) && !c.state.Over() {
		if h.Text == "" {
			c.transcript.addWords(h, t.began, t.ended, c.isSecretTurn(t))
		}
		c.latency.beginByWords(t.ended, c.cfg.Player.Mark(), t.overAt)
		c.advance(ctx, pathway.Spoken{Text: h.Text, Confidence: h.Confidence})
	}
	c.endSpeculation()
	c.continueAfterTurn(ctx)
	if t.resumed {
		c.beginTurn(ctx)
	}
}

// recordWords leaves in h the words that count, writes them down and looks for a keyword in them.
func (c *Conversation) recordWords(ctx actor.Context, t turn, h *speech.RecognitionResult) {
	h.Text = t.relevantWords(*h, c.cfg.OptOutKeywords)
	if h.Text == "" {
		return
	}
	secret := c.isSecretTurn(t)
	c.transcript.addWords(*h, t.began, t.ended, secret)
	switch {
	case secret:
	case t.duringRealtime: // the words are a keyword
		c.optOut(ctx, bySpeech, h.Text)
	default:
		c.checkWords(ctx, h.Text)
	}
}

// isSecretTurn says whether the words of a turn must not be kept.
func (c *Conversation) isSecretTurn(t turn) bool {
	return c.state.Secret() && !t.duringRealtime // that was said before
}

// isAnswer says whether words answer the agent, or interrupt it. An acknowledgement does not, nor does noise.
func (c *Conversation) isAnswer(h speech.RecognitionResult, lasted time.Duration) bool {
	switch {
	case c.state.Understands(h.Text):
		return true
	case h.Err != nil:
		return false
	case c.playback.isPlaying() || c.playback.busy:
		wanted := c.turnTaking().InterruptionWords
		if wanted <= 0 {
			wanted = someWords
		}
		return h.Text != "" && !pathway.Acknowledges(h.Text) && (lasted >= insists || len(strings.Fields(h.Text)) >= wanted)
	case h.Text == "":
		return lasted >= cough
	}
	return true
}

// continueAfterTurn goes on where a turn has changed nothing: with the prompt that was paused, or with the wait for input.
func (c *Conversation) continueAfterTurn(ctx actor.Context) {
	if c.listening.turn.open {
		return
	}
	switch p := &c.playback; {
	case p.paused && p.isPlaying():
		p.resume()
	case !c.input.isRunning() && c.input.limit > 0 && p.isIdle() && !c.absence.on && !c.finished && !c.state.Over():
		c.input.start(ctx, c.input.limit)
	}
}
