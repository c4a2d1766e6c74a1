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
	pendingSilence = time.Second // silence sent after interrupted speech, so that the engine detects its end
	silentByte     = 0xFF        // µ-law silence
)

// transcriptWait waits for a realtime engine to transcribe the caller's last words after the session has ended. The
// words may be an opt-out.
type transcriptWait struct {
	round       int // round of the session; 0: no wait
	opening     *realtimeOpening
	item        string // the engine's ID of the words
	segment     int    // index of the segment in the transcript
	cancelTimer func()
}

type pendingTimeout struct{ round int }

func (pendingTimeout) Control() {}

// isFor reports whether the wait is for words of the session with this round.
func (p *transcriptWait) isFor(round int) bool { return p.round != 0 && p.round == round }

// stop ends the wait and closes the session of the engine.
func (p *transcriptWait) stop() {
	if left := *p; left.round != 0 {
		*p = transcriptWait{}
		left.cancelTimer()
		left.opening.close()
	}
}

// awaitRealtimeWords closes the session. If the caller's last words may be an opt-out, it first waits for their text.
func (c *Conversation) awaitRealtimeWords(ctx actor.Context) {
	r := &c.realtime
	item, segment, ok := r.awaitsWords(&c.transcript)
	if !ok || c.optedOut || len(dnc.SpokenKeywords(c.cfg.OptOutKeywords)) == 0 {
		r.opening.close()
		return
	}
	if r.callerSpeaks {
		r.connection.Write(bytes.Repeat([]byte{silentByte}, int(pendingSilence/time.Second)*8000))
	}
	c.pending.stop()
	c.pending = transcriptWait{
		round: r.round, opening: r.opening, item: item, segment: segment, cancelTimer: mailbox.SendAfter(ctx, maxLastWordsWait, pendingTimeout{r.round}),
	}
}

// pendingEvent handles an event of a session that is kept open for the text of the caller's last words.
func (c *Conversation) pendingEvent(ctx actor.Context, e speech.RealtimeEvent) {
	if e.Kind != speech.RealtimeCallerTranscript || e.Item != c.pending.item {
		return
	}
	if e.Text != "" {
		s := &c.transcript.segments[c.pending.segment]
		s.Text, s.Confidence = e.Text, realtimeConfidence
		if word := dnc.FindOptOutKeyword(e.Text, c.cfg.OptOutKeywords); word != "" {
			c.optOut(ctx, bySpeech, word)
		}
	}
	c.endTranscriptWait(ctx)
}

// endTranscriptWait ends the wait for the text of the caller's last words and finishes the conversation if it has to.
func (c *Conversation) endTranscriptWait(ctx actor.Context) {
	c.pending.stop()
	if c.finished && !c.awaitsLastWords() {
		c.sendFinished(ctx)
	}
}

// awaitsLastWords reports whether the caller's last words are still being recognized.
func (c *Conversation) awaitsLastWords() bool { return c.listening.turn.open || c.pending.round != 0 }
