package conversation

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/wordlists"
	"github.com/callboard/callboard/media/speech"
)

// Time limits of a caller's turn. The event SpeechBegan arrives at most 200 ms after the first sound.
const (
	speechOnset              = 200 * time.Millisecond
	preRoll                  = 300 * time.Millisecond  // soft sounds before the detected start of speech
	interruptAfter           = 500 * time.Millisecond  // speech of this length interrupts a prompt
	defaultInterruptionWords = 2                       // as does this number of words; default of TurnTaking.InterruptionWords
	maxNoisePause            = 1500 * time.Millisecond // longest pause of a prompt for a short sound, and longest wait for the words of a longer one
	earlyAnswer              = 700 * time.Millisecond  // before the end of a question, words count as its answer
	minSpeech                = 400 * time.Millisecond  // shorter speech without words is no answer
	maxTurn                  = 15 * time.Second        // longest turn, including pauses
	maxResultWait            = 8 * time.Second         // longest wait for the recognizer's result
)

// maxFailedTurns is the number of consecutive turns without recognition after which the agent counts as unable to hear.
const maxFailedTurns = 2

var errRecognizerTimeout = errors.New("conversation: the recognizer did not respond in time")

// beginTurn starts the recognition of a turn when the caller begins to speak.
func (c *Conversation) beginTurn(ctx actor.Context) {
	l := &c.listening
	if !l.hasRecognizer() || c.realtime.open && !c.realtime.connection.AudioOnly || c.finished || c.agentPause.active || !c.answer.pathwayBegun || c.state.Over() || !c.understandsLanguage() {
		return
	}
	if l.turn.open {
		switch {
		case l.turn.isKept():
			c.resumeTurn(ctx)
		case l.continueTurn(ctx):
			c.speculation.cancelUnused()
		}
		return
	}
	phrases, hears := c.state.ExpectedPhrases()
	if !hears && (c.state.IsSecretInput() || !ListensForOptOut(c.cfg.Recognizer, c.cfg.Script.RecognitionLanguage(), c.cfg.OptOutKeywords)) {
		return
	}
	c.playback.paused = false
	kind := turn{
		keywordOnly: !hears, duringRealtime: c.realtime.round != 0, duringPrompt: c.playback.isPlaying() || c.playback.busy,
		interruptible: !c.playback.isPlaying() || c.isInterruptible(), greeting: c.playback.isOpening(),
	}
	if language := c.cfg.Script.RecognitionLanguage(); hears && kind.greeting && !c.cfg.Recognizer.TranscribesFreeSpeech(language) {
		phrases = append(phrases, wordlists.GreetingPhrases(language)...)
	}
	l.openTurn(ctx, c.recognition(phrases), kind)
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

// pauseTimedOut continues a prompt that was paused for a sound of the caller which has ended, although its words are not
// known yet. The words may still interrupt the prompt.
func (c *Conversation) pauseTimedOut(m pauseTimeout) {
	t := &c.listening.turn
	if m.id == t.id && t.open && !c.listening.speaking && t.interim.Text == "" && c.playback.paused && c.playback.isPlaying() {
		c.playback.resume()
	}
}

// recognition returns the options for the recognition of a turn in which the caller may say one of the phrases.
// Phrases that opt out of calls are always listened for.
func (c *Conversation) recognition(phrases []string) speech.RecognitionRequest {
	urgent := dnc.SpokenKeywords(c.cfg.OptOutKeywords)
	w := speech.RecognitionRequest{Language: c.cfg.Script.RecognitionLanguage(), Phrases: append(phrases, urgent...), Urgent: urgent}
	if s := c.cfg.Script.STT; s != nil {
		w.Engine, w.Model, w.Keywords = s.Engine, s.Model, s.Keywords
	}
	return w
}

// speechEnded ends the turn when the caller has been silent, at once or after a longer silence.
func (c *Conversation) speechEnded(ctx actor.Context, silence time.Duration) {
	l := &c.listening
	l.turn.speaksAgain = false
	if !l.turn.open || l.turn.recognizing || l.turn.isKept() {
		return
	}
	l.turn.ended = c.cfg.Player.Position() - silence
	if c.playback.paused {
		limit := maxNoisePause
		if l.turn.ended-l.turn.began < interruptAfter {
			limit -= c.cfg.Player.Position() - c.playback.pausedAt
		}
		mailbox.SendAfter(ctx, max(limit, time.Millisecond), pauseTimeout{l.turn.id})
	}
	c.speculate(ctx)
	c.endTurnInTime(ctx)
}

// turnTimeout ends a turn that has lasted too long, or a turn whose recognition result does not arrive in time.
func (c *Conversation) turnTimeout(ctx actor.Context, m turnTimeout) {
	t := &c.listening.turn
	switch {
	case m.id != t.id || !t.open || m.late != t.recognizing:
	case m.late:
		t.closeStream()
		c.turnRecognized(ctx, turnRecognized{m.id, speech.RecognitionResult{Final: true, Err: errRecognizerTimeout}})
	default:
		c.listening.endTurn(ctx)
	}
}

// dropTurn discards the current turn, because the caller pressed a key or the agent is paused.
func (c *Conversation) dropTurn() {
	if c.listening.turn.open {
		c.speculation.drop()
		c.listening.dropTurn()
	}
}

// isOptOutTurn reports whether a turn is in progress in which the caller may say an opt-out keyword.
func (c *Conversation) isOptOutTurn() bool {
	t := &c.listening.turn
	return t.open && !c.optedOut && len(dnc.SpokenKeywords(c.cfg.OptOutKeywords)) > 0 && (t.duringRealtime || !c.state.IsSecretInput())
}

// keepTurnForKeywords lets the recognizer finish a turn although a realtime engine takes over the caller. In this turn only
// an opt-out keyword has an effect.
func (c *Conversation) keepTurnForKeywords(ctx actor.Context) {
	if !c.isOptOutTurn() {
		c.dropTurn()
		return
	}
	c.speculation.drop()
	c.listening.keepTurnDuringRealtime(ctx)
}

// turnRecognized handles the recognized words of a turn.
func (c *Conversation) turnRecognized(ctx actor.Context, m turnRecognized) {
	if !c.listening.isCurrent(m.id) {
		return
	}
	for _, f := range m.heard.Failures {
		c.reportEngineFailure(ctx, engineFailed{"stt", f})
	}
	if c.keepTurn(ctx, m.heard) {
		return
	}
	t := c.listening.closeTurn()
	h := t.withEarlierWords(m.heard)
	if c.finished {
		c.recordWords(ctx, t, &h)
		if !c.awaitsLastWords() {
			c.sendFinished(ctx)
		}
		return
	}
	if h.Err != nil {
		c.cfg.Log.Error("speech recognition failed", slog.Any("error", h.Err))
		ctx.Send(ctx.Parent(), Fault{Stage: "stt", Code: "recognition_failed", Message: "the caller's speech could not be recognized", Recovered: true})
		if c.listening.failedTurns++; c.listening.failedTurns >= maxFailedTurns && !t.keywordOnly && !c.agentPause.active && !c.agentUnable && c.state.NeedsSpeech() {
			c.endUnable(ctx)
			return
		}
	} else {
		c.listening.failedTurns = 0
	}
	if h.Text != "" {
		h.Err = nil // the words before a pause were recognized
	}
	if h.Err == nil && (h.Text == "" || h.Confidence < pathway.ConfirmConfidence) {
		c.cfg.Player.RejectSpeech()
	}
	c.recordWords(ctx, t, &h)
	if !t.keywordOnly && !c.agentPause.active && !c.isTooEarly(&t, h) && c.isAnswer(h, t.ended-t.began) && !c.state.Over() {
		if h.Text == "" {
			c.transcript.addWords(h, t.began, t.ended, c.isSecretTurn(t))
		}
		c.latency.beginByWords(t.ended, c.cfg.Player.Position(), t.endNoticedAt)
		c.advance(ctx, pathway.Utterance{Text: h.Text, Confidence: h.Confidence})
	}
	c.endSpeculation()
	if c.goodbyeSpoken && !t.speaksAgain {
		c.endAfterGoodbye(ctx)
		return
	}
	c.continueAfterTurn(ctx)
	if t.speaksAgain {
		c.beginTurn(ctx)
	}
}

// recordWords reduces h to the words that have an effect, adds them to the transcript and checks them for keywords.
func (c *Conversation) recordWords(ctx actor.Context, t turn, h *speech.RecognitionResult) {
	h.Text = t.relevantWords(*h, c.cfg.OptOutKeywords)
	if h.Text == "" {
		return
	}
	secret := c.isSecretTurn(t)
	c.transcript.addWords(*h, t.began, t.ended, secret)
	switch {
	case secret:
	case t.duringRealtime: // only a keyword counts during realtime
		c.optOut(ctx, bySpeech, h.Text)
	default:
		c.checkWords(ctx, h.Text)
	}
}

// isSecretTurn reports whether the words of a turn are a secret, such as a PIN, which must not be stored.
func (c *Conversation) isSecretTurn(t turn) bool {
	return c.state.IsSecretInput() && !t.duringRealtime // the turn was spoken before the secret input
}

// isTooEarly reports whether the words of a turn were spoken before the question that they could answer: greetings while
// the telephone is answered, words during a question that must not be interrupted, and uncertain words during any
// question.
func (c *Conversation) isTooEarly(t *turn, h speech.RecognitionResult) bool {
	if h.Text == "" || !t.duringPrompt {
		return false
	}
	if t.greeting && wordlists.WithoutGreetings(h.Text, c.cfg.Script.RecognitionLanguage()) == "" {
		return true
	}
	end := c.playback.endedAt
	if !c.state.IsQuestion() || !c.playback.isPlaying() && (t.began >= end-earlyAnswer || t.ended-end > end-t.began) {
		return false // most was spoken after the question
	}
	return !t.interruptible || h.Confidence < pathway.AcceptConfidence
}

// isAnswer reports whether the words answer or interrupt the agent. Noise and acknowledgements such as
// "uh-huh" do not.
func (c *Conversation) isAnswer(h speech.RecognitionResult, lasted time.Duration) bool {
	switch {
	case c.state.Understands(h.Text):
		return true
	case h.Err != nil:
		return false
	case c.playback.isPlaying() || c.playback.busy:
		language := c.cfg.Script.RecognitionLanguage()
		if wordlists.IsInterruption(h.Text, language) {
			return true
		}
		return h.Text != "" && !wordlists.IsAcknowledgement(h.Text, language) && (lasted >= interruptAfter || len(strings.Fields(h.Text)) >= turnTaking(&c.cfg.Script, c.state).InterruptionWords)
	case h.Text == "":
		return lasted >= minSpeech
	}
	return true
}

// continueAfterTurn continues the paused prompt or the wait for input after a turn that had no effect.
func (c *Conversation) continueAfterTurn(ctx actor.Context) {
	if c.listening.turn.open {
		return
	}
	switch p := &c.playback; {
	case p.paused && p.isPlaying():
		p.resume()
	case !c.input.isRunning() && c.input.limit > 0 && p.isIdle() && !c.agentPause.active && !c.finished && !c.state.Over():
		c.input.start(ctx, c.input.limit)
	}
}
