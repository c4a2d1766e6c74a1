package conversation

import (
	"cmp"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// Defaults of the turn-taking settings: the silence in milliseconds after which the caller's turn ends.
const (
	defaultEndOfTurn           = 450
	defaultEndOfCompleteTurn   = 250  // after a complete short answer
	defaultEndOfIncompleteTurn = 1500 // after the beginning of a sentence
)

// turnTaking returns the settings for turn taking at the current node of a pathway: those of the node, else those of the
// agent, else the defaults.
func turnTaking(script *domain.Script, s pathway.State) domain.TurnTaking {
	var t, node domain.TurnTaking
	if a := script.Turns; a != nil {
		t = *a
	}
	if n := s.TurnTaking(); n != nil {
		node = *n
	}
	t.InterruptionWords = cmp.Or(node.InterruptionWords, t.InterruptionWords, defaultInterruptionWords)
	t.EndOfTurnMs = cmp.Or(node.EndOfTurnMs, t.EndOfTurnMs, defaultEndOfTurn)
	t.EndOfCompleteTurnMs = min(cmp.Or(node.EndOfCompleteTurnMs, t.EndOfCompleteTurnMs, defaultEndOfCompleteTurn), t.EndOfTurnMs)
	t.EndOfIncompleteTurnMs = max(cmp.Or(node.EndOfIncompleteTurnMs, t.EndOfIncompleteTurnMs, defaultEndOfIncompleteTurn), t.EndOfTurnMs)
	return t
}

// turnSilence returns the silence after which a turn ends whose words so far are complete or not.
func turnSilence(settings domain.TurnTaking, words pathway.TurnCompleteness) time.Duration {
	silence := settings.EndOfTurnMs
	switch words {
	case pathway.Complete:
		silence = settings.EndOfCompleteTurnMs
	case pathway.Incomplete:
		silence = settings.EndOfIncompleteTurnMs
	case pathway.CompletenessUnknown:
	}
	return time.Duration(silence) * time.Millisecond
}

// endTurnInTime ends the turn of a caller who is silent, at once or when the silence has lasted long enough for the words
// so far. An engine that recognizes the end of a turn decides by itself.
func (c *Conversation) endTurnInTime(ctx actor.Context) {
	l := &c.listening
	t := &l.turn
	silence := defaultEndOfTurn * time.Millisecond
	if !t.keywordOnly {
		silence = turnSilence(turnTaking(&c.cfg.Script, c.state), c.state.Completeness(t.interim.Text, c.cfg.Script.RecognitionLanguage()))
	}
	rest := silence - (c.cfg.Player.Position() - t.ended)
	if rest > 0 && !t.interim.EndOfTurn {
		l.limitTurn(ctx, rest, false)
		return
	}
	l.endTurn(ctx)
}

// keepTurn keeps a turn open whose words were recognized: until answering machine detection knows that a person speaks, and
// if the words are only the beginning of a sentence, until the caller goes on or has been silent for long. It returns false
// if the turn is over.
func (c *Conversation) keepTurn(ctx actor.Context, h speech.RecognitionResult) bool {
	l := &c.listening
	t := &l.turn
	language := c.cfg.Script.RecognitionLanguage()
	all := t.withEarlierWords(h)
	if c.finished || h.Err != nil || all.Text == "" || all.Confidence < pathway.ConfirmConfidence || t.keywordOnly || t.duringRealtime ||
		c.agentPause.active || c.state.IsSecretInput() || dnc.FindOptOutKeyword(all.Text, c.cfg.OptOutKeywords) != "" || l.position()-t.began >= maxTurn {
		return false
	}
	rest := maxVerdictWait - l.position()
	if !c.awaitsVerdict() {
		words := c.state.Completeness(all.Text, language)
		rest = turnSilence(turnTaking(&c.cfg.Script, c.state), words) - (c.cfg.Player.Position() - t.ended)
		if words != pathway.Incomplete || !c.cfg.Recognizer.TranscribesFreeSpeech(language) || all.EndOfTurn || t.interim.EndOfTurn || rest <= 0 && !t.speaksAgain {
			return false
		}
	}
	t.earlier, t.interim, t.stream, t.recognizing = all, all, nil, false
	if t.speaksAgain {
		c.resumeTurn(ctx)
		return true
	}
	l.limitTurn(ctx, rest, false)
	return true
}

// awaitsVerdict reports whether answering machine detection has not yet decided who has answered. Until then, words may be
// those of a machine. It does not wait longer than maxVerdictWait from the beginning of the call.
func (c *Conversation) awaitsVerdict() bool {
	return c.cfg.detectsAnswerer() && !c.answer.isPerson && c.answer.lastReported == "" && c.listening.position() < maxVerdictWait
}

// settleTurnAfterVerdict ends a turn that was kept open until it was known who has answered. The words of a person count,
// those of a machine do not.
func (c *Conversation) settleTurnAfterVerdict(ctx actor.Context) {
	switch t := &c.listening.turn; {
	case !t.isKept() || c.listening.speaking || c.awaitsVerdict():
	case c.answer.hasMachine():
		c.dropTurn()
	default:
		c.listening.endTurn(ctx)
	}
}

// resumeTurn recognizes the words with which the caller continues a turn that was kept open.
func (c *Conversation) resumeTurn(ctx actor.Context) {
	phrases, _ := c.state.ExpectedPhrases()
	c.listening.resumeTurn(ctx, c.recognition(phrases))
	c.speculation.cancelUnused()
}

// withEarlierWords returns the result for the whole turn: the words before a pause, followed by those of h.
func (t *turn) withEarlierWords(h speech.RecognitionResult) speech.RecognitionResult {
	switch {
	case t.earlier.Text == "":
		return h
	case h.Text == "":
		h.Text, h.Confidence = t.earlier.Text, t.earlier.Confidence
		return h
	}
	h.Text = strings.TrimRight(t.earlier.Text, ".…,") + " " + h.Text
	h.Confidence = min(h.Confidence, t.earlier.Confidence)
	return h
}
