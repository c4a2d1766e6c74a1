package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// listening holds the caller's voice activity and the caller's turn that is being recognized.
type listening struct {
	recognizer  speech.Recognizer // nil: no speech recognition
	audio       *speech.AudioTap  // the caller's audio; nil if recognizer is nil
	position    func() time.Duration
	speaking    bool          // the caller speaks, by voice activity detection
	spokeUntil  time.Duration // end of the last speech; 0: the caller never spoke
	endSilence  time.Duration // silence after which the last end of speech was reported
	failedTurns int           // turns in a row that were not recognized
	turn        turn
}

// turn is one turn of the caller, from the first sound to the recognized text. Times are positions on the media clock.
type turn struct {
	id             int
	open           bool                     // speech or its recognition is in progress
	recognizing    bool                     // the speech has ended and its recognition is in progress
	speaksAgain    bool                     // the caller speaks again during the recognition
	earlier        speech.RecognitionResult // the words before a pause after which the caller may go on; Text "": none
	keywordOnly    bool                     // the pathway expects no words: only an opt-out keyword counts
	duringRealtime bool                     // a realtime engine has the caller and reports no text
	duringPrompt   bool                     // the turn began before the end of a prompt
	interruptible  bool                     // words during the prompt may interrupt it
	greeting       bool                     // the turn began while people answer the telephone
	began, ended   time.Duration
	endNoticedAt   time.Time                // when the end of the turn was detected
	stream         speech.Stream            // nil: the turn is kept open during a pause
	interim        speech.RecognitionResult // interim result; Text "": none
	cancelTimer    func()
}

type (
	// turnRecognized carries the final recognition result of a turn.
	turnRecognized struct {
		id    int
		heard speech.RecognitionResult
	}
	// turnTimeout is the timer message that ends a turn, or, if late is set, ends the wait for its recognition result.
	turnTimeout struct {
		id   int
		late bool
	}
)

// pauseTimeout is the timer message that ends the pause of a prompt during the turn with this ID.
type pauseTimeout struct{ id int }

func (pauseTimeout) Control()   {}
func (turnRecognized) Control() {}
func (turnTimeout) Control()    {}

// hasRecognizer reports whether the caller's speech can be recognized.
func (l *listening) hasRecognizer() bool { return l.audio != nil && l.recognizer != nil }

// openTurn starts the recognition of a turn with the settings in kind.
func (l *listening) openTurn(ctx actor.Context, wanted speech.RecognitionRequest, kind turn) {
	id := l.turn.id + 1
	l.turn = kind
	l.turn.open, l.turn.id, l.turn.began = true, id, l.position()-speechOnset
	l.openStream(ctx, wanted)
	l.limitTurn(ctx, maxTurn, false)
}

// openStream starts the recognition of the caller's audio, beginning a little before the present.
func (l *listening) openStream(ctx actor.Context, wanted speech.RecognitionRequest) {
	id, root, self := l.turn.id, ctx.ActorSystem().Root, ctx.Self()
	l.turn.stream = l.recognizer.Open(wanted, func(h speech.RecognitionResult) {
		if h.Final {
			root.Send(self, turnRecognized{id, h})
		} else {
			root.Send(self, interimResult{id, h})
		}
	})
	if l.turn.duringRealtime {
		l.audio.BeginSecond(l.turn.stream, speechOnset+preRoll)
	} else {
		l.audio.Begin(l.turn.stream, speechOnset+preRoll)
	}
}

// isKept reports whether the turn is kept open during a pause, without recognition.
func (t *turn) isKept() bool { return t.open && t.stream == nil && !t.recognizing }

// resumeTurn starts the recognition of the rest of a turn that was kept open.
func (l *listening) resumeTurn(ctx actor.Context, wanted speech.RecognitionRequest) {
	t := &l.turn
	t.speaksAgain, t.ended = false, 0
	l.openStream(ctx, wanted)
	l.limitTurn(ctx, max(maxTurn-(l.position()-t.began), time.Millisecond), false)
}

// continueTurn records that the caller speaks again. It returns true if the silence was only a pause within the turn.
func (l *listening) continueTurn(ctx actor.Context) (pause bool) {
	t := &l.turn
	t.speaksAgain = t.recognizing
	if t.recognizing || t.cancelTimer == nil {
		return false
	}
	t.cancelTimer()
	t.ended = 0
	l.limitTurn(ctx, max(maxTurn-(l.position()-t.began), time.Millisecond), false)
	return true
}

// limitTurn replaces the timer of the turn. Each turn has only one timer.
func (l *listening) limitTurn(ctx actor.Context, d time.Duration, late bool) {
	if l.turn.cancelTimer != nil {
		l.turn.cancelTimer()
	}
	l.turn.cancelTimer = mailbox.SendAfter(ctx, d, turnTimeout{l.turn.id, late})
}

// endTurn ends the audio of the turn for the recognizer, which then sends turnRecognized.
func (l *listening) endTurn(ctx actor.Context) {
	if l.turn.ended == 0 {
		l.turn.ended = l.position()
	}
	l.turn.recognizing, l.turn.endNoticedAt = true, time.Now()
	if l.turn.stream == nil { // the words are known
		ctx.Send(ctx.Self(), turnRecognized{l.turn.id, speech.RecognitionResult{Final: true}})
		return
	}
	l.detachTurn()
	l.turn.stream.End()
	l.limitTurn(ctx, maxResultWait, true)
}

// dropTurn closes the open turn and discards its recognition result.
func (l *listening) dropTurn() {
	if l.turn.cancelTimer != nil {
		l.turn.cancelTimer()
	}
	l.detachTurn()
	l.turn.closeStream()
	l.turn = turn{id: l.turn.id + 1}
}

// closeStream cancels the recognition of the turn.
func (t *turn) closeStream() {
	if t.stream != nil {
		t.stream.Close()
	}
}

// isCurrent reports whether the turn with this ID is open.
func (l *listening) isCurrent(id int) bool { return id == l.turn.id && l.turn.open }

// closeTurn closes the open turn and returns it.
func (l *listening) closeTurn() turn {
	t := &l.turn
	if t.cancelTimer != nil {
		t.cancelTimer()
	}
	closed := *t
	t.open, t.recognizing, t.speaksAgain, t.cancelTimer, t.stream = false, false, false, nil, nil
	return closed
}

// keepTurnDuringRealtime lets the recognizer finish the open turn although a realtime engine takes over the caller's audio.
func (l *listening) keepTurnDuringRealtime(ctx actor.Context) {
	t := &l.turn
	switch {
	case t.recognizing || t.duringRealtime:
	case t.ended > 0: // the caller is silent
		l.endTurn(ctx)
	default:
		l.audio.End()
		l.audio.BeginSecond(t.stream, 0)
	}
	t.keywordOnly, t.duringRealtime = true, true
}

// detachTurn ends the audio of the turn for the recognizer. A realtime engine still gets the caller's audio.
func (l *listening) detachTurn() {
	if l.turn.duringRealtime {
		l.audio.EndSecond()
	} else {
		l.audio.End()
	}
}

// optOutConfidence is the recognition confidence from which the words of a caller opt out of calls while the agent listens
// for words: if in doubt, nobody is called who did not want to be.
const optOutConfidence = 0.25

// relevantWords returns the words of a recognition result that have an effect. While a realtime engine talks to the caller,
// that is only an opt-out keyword.
func (t *turn) relevantWords(h speech.RecognitionResult, optOut []string) string {
	switch {
	case h.Confidence >= optOutConfidence && dnc.FindOptOutKeyword(h.Text, optOut) != "" && !t.keywordOnly && !t.duringRealtime:
		return h.Text
	case h.Confidence < pathway.ConfirmConfidence, t.keywordOnly && h.Confidence < pathway.AcceptConfidence:
		return ""
	case t.duringRealtime:
		return dnc.FindOptOutKeyword(h.Text, optOut)
	}
	return h.Text
}
