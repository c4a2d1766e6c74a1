package conversation

import (
	"bytes"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media/speech"
)

const (
	pendingSilence = time.Second // after words that were cut off: the engine finds their end by it
	silentByte     = 0xFF        // of µ-law
)

// transcriptWait is a realtime engine that has the caller no more and has not transcribed the caller's last words yet. They
// are awaited, for they may be an opt-out.
type transcriptWait struct {
	round       int // of the session; 0: nothing is pending
	opening     *realtimeOpening
	item        string // the engine's id of the words
	segment     int    // of the transcript
	cancelTimer func()
}

type pendingTimeout struct{ round int }

func (pendingTimeout) Control() {}

// is says whether words of a session are pending.
func (p *transcriptWait) is(round int) bool { return p.round != 0 && p.round == round }

// leave ends the wait and closes the session.
func (p *transcriptWait) leave() {
	if left := *p; left.round != 0 {
		*p = transcriptWait{}
		left.cancelTimer()
		left.opening.leave()
	}
}

// awaitRealtimeWords closes the session that had the caller, once the caller's last words are there if these matter.
func (c *Conversation) awaitRealtimeWords(ctx actor.Context) {
	r := &c.realtime
	item, segment, ok := r.owesWords(&c.transcript)
	if !ok || c.optedOut || len(dnc.Sayable(c.cfg.OptOutKeywords)) == 0 {
		r.opening.leave()
		return
	}
	if r.callerSpeaks {
		r.talk.Write(bytes.Repeat([]byte{silentByte}, int(pendingSilence/time.Second)*8000))
	}
	c.pending.leave()
	c.pending = transcriptWait{
		round: r.round, opening: r.opening, item: item, segment: segment, cancelTimer: mailbox.SendAfter(ctx, lastLimit, pendingTimeout{r.round}),
	}
}

// pendingEvent takes the words that were pending.
func (c *Conversation) pendingEvent(ctx actor.Context, e speech.RealtimeEvent) {
	if e.Kind != speech.RealtimeCallerTranscript || e.Item != c.pending.item {
		return
	}
	if e.Text != "" {
		s := &c.transcript.segments[c.pending.segment]
		s.Text, s.Confidence = e.Text, realtimeConfidence
		if word := dnc.OptOut(e.Text, c.cfg.OptOutKeywords); word != "" {
			c.optOut(ctx, bySpeech, word)
		}
	}
	c.endPending(ctx)
}

// endPending waits no longer for words of a session.
func (c *Conversation) endPending(ctx actor.Context) {
	c.pending.leave()
	if c.finished && !c.awaitsLastWords() {
		c.sendFinished(ctx)
	}
}

// awaitsLastWords says whether the last words are not known yet.
func (c *Conversation) awaitsLastWords() bool { return c.listening.turn.open || c.pending.round != 0 }
