package conversation

import (
	"bytes"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// An engine that hears by itself writes down what the caller said some time
// after he said it. Where it has him no more by then, his last words are waited
// for: they may be that he wants no more calls.

// owing is such an engine.
type owing struct {
	round   int // 0: none owes anything
	opening *opening
	item    string // what it calls the words
	segment int    // where they stand
	timer   func()
}

type owed struct{ round int }

func (owed) Control() {}

const (
	owedFresh   = 5 * time.Second // words that have not come so long after they were said never will
	owedSilence = time.Second     // behind words that were cut off: the engine finds their end by it
	silentByte  = 0xFF            // of µ-law
)

// owe leaves an engine that has the caller no more once his last words are
// there, where they count; and at once otherwise.
func (c *Conversation) owe(ctx actor.Context) {
	l := &c.live
	at, known := l.heard[l.last]
	counts := l.open && !l.lost && !l.talk.Alone && !c.optedOut && len(c.optOuts()) > 0
	if !counts || !known || c.segments[at].Text != pathway.NotUnderstood ||
		!l.speaks && c.cfg.Sound.Mark()-time.Duration(c.segments[at].EndMs)*time.Millisecond > owedFresh {
		l.opening.leave()
		return
	}
	if l.speaks {
		l.talk.Write(bytes.Repeat([]byte{silentByte}, int(owedSilence/time.Second)*8000))
	}
	c.forgo()
	c.owing = owing{round: l.round, opening: l.opening, item: l.last, segment: at, timer: mailbox.After(ctx, lastLimit, owed{l.round})}
}

// forgo waits no longer for what is owed.
func (c *Conversation) forgo() {
	if o := c.owing; o.round != 0 {
		c.owing = owing{}
		o.timer()
		o.opening.leave()
	}
}

// repaid takes the words that an engine owed.
func (c *Conversation) repaid(ctx actor.Context, e speech.LiveEvent) {
	if e.Kind != speech.LiveHeard || e.Item != c.owing.item {
		return
	}
	if e.Text != "" {
		s := &c.segments[c.owing.segment]
		s.Text, s.Confidence = e.Text, byWriting
		if word := dnc.OptOut(e.Text, c.cfg.OptOut); word != "" {
			c.optOut(ctx, bySpeech, word)
		}
	}
	c.settle(ctx)
}

// settle: nothing is owed any more.
func (c *Conversation) settle(ctx actor.Context) {
	c.forgo()
	if c.finished && !c.waits() {
		c.tellFinished(ctx)
	}
}

// waits says whether the last words are not known yet.
func (c *Conversation) waits() bool { return c.turn.on || c.owing.round != 0 }
