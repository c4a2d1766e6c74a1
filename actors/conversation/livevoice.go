package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// What our own ears, and keys, tell while an engine has the caller that hears
// and speaks by itself.

// deafAfter: an engine does not notice that the caller is silent, as our own
// ears do.
const deafAfter = 10 * time.Second

// justSpoke: an engine hears the caller begin at most that long after our own ears
// have heard him end. Otherwise it alone hears him, and knows best when he ends.
const justSpoke = 3 * time.Second

// liveVoice takes what our own ears tell while an engine has the caller: our
// sound waits as soon as he speaks, for the engine knows it later.
func (c *Conversation) liveVoice(ctx actor.Context, speaks bool) {
	l := &c.live
	c.attend()
	if !speaks && l.open && l.speaks && !l.talk.Alone {
		c.awaitEnd(ctx)
	}
	switch {
	case l.round == 0:
	case l.open && l.talk.Alone:
		c.liveAlone(ctx, speaks)
	case speaks && l.reply && l.sounds.Kind != 0 && !l.stopped:
		c.pause()
	case !speaks && c.turn.paused && c.current >= 0 && !l.stopped:
		c.turn.paused = false
		c.cfg.Sound.ContinuePlaying()
	}
}

// awaitEnd gives the engine some time to notice that the caller is silent.
func (c *Conversation) awaitEnd(ctx actor.Context) {
	l := &c.live
	c.attend()
	l.silence++
	wait := deafAfter + time.Duration(c.turns().EndOfTurnMs)*time.Millisecond
	l.deaf = mailbox.After(ctx, wait, liveDeaf{l.round, l.silence})
}

// liveAlone notes that the caller speaks, for an engine that tells nothing of it.
func (c *Conversation) liveAlone(ctx actor.Context, speaks bool) {
	l := &c.live
	if l.speaks = speaks; speaks {
		c.supersedeWait()
		if l.voice == 0 {
			l.voice = 1 + c.add(caller, onTheLine)
			c.segments[l.voice-1].StartMs = max(c.segments[l.voice-1].StartMs-noticed.Milliseconds(), 0)
		}
		return
	}
	if l.voice > 0 {
		c.segments[l.voice-1].EndMs = max(c.cfg.Sound.Mark()-hangover, 0).Milliseconds()
		l.voice = 0
	}
	c.liveRests(ctx)
}

// liveKey tells the engine of a key, before an edge is taken by it.
func (c *Conversation) liveKey(key byte) {
	if c.live.open {
		c.live.talk.Key(key)
	}
}

// attend: the engine has noticed, or need not.
func (c *Conversation) attend() {
	if c.live.deaf != nil {
		c.live.deaf()
		c.live.deaf = nil
	}
}
