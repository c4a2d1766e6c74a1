package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// listening is what is known of the caller's speech: whether the caller speaks now, and the turn that the recognizer hears.
type listening struct {
	recognizer speech.Recognizer // nil: words are not recognized
	audio      *speech.AudioTap  // the caller's audio; nil as recognizer
	position   func() time.Duration
	speaking   bool          // the caller, by voice activity
	spokeUntil time.Duration // 0: the caller never spoke
	unheard    int           // turns in a row that were not recognized
	turn       turn
}

// turn is one turn of the caller. Times are positions on the media clock.
type turn struct {
	id             int
	open           bool // speech is under way, or being recognized
	over           bool // it is being recognized
	resumed        bool // and the caller speaks meanwhile
	keywordOnly    bool // the pathway asks for no words: only an opt-out keyword counts
	duringRealtime bool // and a realtime engine has the caller that reports no words
	began, ended   time.Duration
	overAt         time.Time // when its end was noticed
	stream         speech.Stream
	interim        speech.RecognitionResult // words so far; Text "": none
	cancelTimer    func()
}

type (
	// turnRecognized is the final result of a turn.
	turnRecognized struct {
		id    int
		heard speech.RecognitionResult
	}
	// turnTimeout ends a turn, or the wait for its result if late.
	turnTimeout struct {
		id   int
		late bool
	}
)

func (turnRecognized) Control() {}
func (turnTimeout) Control()    {}

// hasRecognizer says whether words of the caller can be recognized.
func (l *listening) hasRecognizer() bool { return l.audio != nil && l.recognizer != nil }

// openTurn begins a turn of the given kind. interims: interim results are sent to the actor as well.
func (l *listening) openTurn(ctx actor.Context, wanted speech.RecognitionRequest, kind turn, interims bool) {
	id, root, self := l.turn.id+1, ctx.ActorSystem().Root, ctx.Self()
	l.turn = kind
	l.turn.open, l.turn.id, l.turn.began = true, id, l.position()-noticed
	l.turn.stream = l.recognizer.Open(wanted, func(h speech.RecognitionResult) {
		if h.Final {
			root.Send(self, turnRecognized{id, h})
		} else if interims {
			root.Send(self, interimResult{id, h})
		}
	})
	if kind.duringRealtime {
		l.audio.BeginSecond(l.turn.stream, noticed+before)
	} else {
		l.audio.Begin(l.turn.stream, noticed+before)
	}
	l.limitTurn(ctx, turnLimit, false)
}

// continueTurn notes that the caller speaks again; true: the silence was a pause within the turn.
func (l *listening) continueTurn(ctx actor.Context) (pause bool) {
	t := &l.turn
	t.resumed = t.over
	if t.over || t.cancelTimer == nil {
		return false
	}
	t.cancelTimer()
	t.ended = 0
	l.limitTurn(ctx, max(turnLimit-(l.position()-t.began), time.Millisecond), false)
	return true
}

// limitTurn sets the turn's one timer.
func (l *listening) limitTurn(ctx actor.Context, d time.Duration, late bool) {
	if l.turn.cancelTimer != nil {
		l.turn.cancelTimer()
	}
	l.turn.cancelTimer = mailbox.SendAfter(ctx, d, turnTimeout{l.turn.id, late})
}

// endTurn has the turn recognized: turnRecognized follows.
func (l *listening) endTurn(ctx actor.Context) {
	if l.turn.ended == 0 {
		l.turn.ended = l.position()
	}
	l.turn.over, l.turn.overAt = true, time.Now()
	l.detachTurn()
	l.turn.stream.End()
	l.limitTurn(ctx, lateLimit, true)
}

// dropTurn closes the turn that is open without a result.
func (l *listening) dropTurn() {
	if l.turn.cancelTimer != nil {
		l.turn.cancelTimer()
	}
	l.detachTurn()
	l.turn.stream.Close()
	l.turn = turn{id: l.turn.id + 1}
}

// closeTurn takes the turn of a result; false: the result is stale.
func (l *listening) closeTurn(id int) (turn, bool) {
	t := &l.turn
	if id != t.id || !t.open {
		return turn{}, false
	}
	if t.cancelTimer != nil {
		t.cancelTimer()
	}
	closed := *t
	t.open, t.over, t.resumed, t.cancelTimer, t.stream = false, false, false, nil, nil
	return closed, true
}

// moveTurnBehindRealtime lets the turn hear beside the realtime engine that takes the caller over.
func (l *listening) moveTurnBehindRealtime(ctx actor.Context) {
	t := &l.turn
	switch {
	case t.over || t.duringRealtime:
	case t.ended > 0: // the caller is silent
		l.endTurn(ctx)
	default:
		l.audio.End()
		l.audio.BeginSecond(t.stream, 0)
	}
	t.keywordOnly, t.duringRealtime = true, true
}

// detachTurn lets the turn hear no more audio; a realtime engine that has the caller does.
func (l *listening) detachTurn() {
	if l.turn.duringRealtime {
		l.audio.EndSecond()
	} else {
		l.audio.End()
	}
}

// relevantWords are the words of a result that count. Of a turn during realtime only an opt-out keyword does.
func (t *turn) relevantWords(h speech.RecognitionResult, optOut []string) string {
	switch {
	case h.Confidence < pathway.Unsure, t.keywordOnly && h.Confidence < pathway.Sure:
		return ""
	case t.duringRealtime:
		return dnc.OptOut(h.Text, optOut)
	}
	return h.Text
}
