package conversation

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// Who speaks in a transcript.
const (
	agent  = "agent"
	caller = "caller"
)

const (
	hidden      = "[hidden]"
	pressedOpen = "[pressed " // keys and "]" follow
	moreKeys    = pressedOpen + "…]"
)

// keys are those that are being pressed in a row, where patterns look at them.
type keys struct {
	round int
	timer func() // nil: none are awaited
	whole int    // segments to which no key will come
}

type keysRest struct{ round, segments int }

func (keysRest) Control() {}

func (c *Conversation) add(speaker, text string) int {
	at := c.cfg.Sound.Mark().Milliseconds()
	c.segments = append(c.segments, domain.Segment{
		Index: len(c.segments), Speaker: speaker, Text: text, StartMs: at, EndMs: at, Confidence: 1,
	})
	return len(c.segments) - 1
}

// readAlong tells a watcher what has come to the transcript, or changed in it,
// since it was last told. A prompt may end behind the key that ended it. Of keys
// of which patterns are to find more than one, he is told when they are all.
func (c *Conversation) readAlong() {
	w, ok := c.cfg.Mind.(Watcher)
	if !ok {
		return
	}
	for i, s := range c.segments {
		more := c.awaitsKeys(i)
		if more {
			s.Text = moreKeys
		}
		if i == len(c.shown) {
			c.shown = append(c.shown, s)
		} else if was := c.shown[i]; was.Text == s.Text && was.EndMs == s.EndMs && was.Interrupted == s.Interrupted || more {
			continue
		}
		c.shown[i] = s
		s.Text = c.cfg.Redact.Text(s.Text)
		w.Wrote(s)
	}
}

// awaitsKeys says whether keys may follow those of a segment, and a pattern would
// find them together.
func (c *Conversation) awaitsKeys(i int) bool {
	return c.cfg.Redact != nil && !c.finished && i == len(c.segments)-1 && i >= c.keys.whole && strings.HasPrefix(c.segments[i].Text, pressedOpen)
}

// awaitKeys waits for the next key of a row, where it matters.
func (c *Conversation) awaitKeys(ctx actor.Context) {
	c.stopKeys()
	if n := len(c.segments); c.awaitsKeys(n - 1) {
		c.keys.round++
		c.keys.timer = mailbox.After(ctx, mergeKeys, keysRest{c.keys.round, n})
	}
}

// keysRested: what is keyed in from now on is another input.
func (c *Conversation) keysRested(m keysRest) {
	if m.round == c.keys.round {
		c.keys.whole = m.segments
	}
}

func (c *Conversation) stopKeys() {
	if c.keys.timer != nil {
		c.keys.timer()
		c.keys.timer = nil
	}
}

// beginSegment writes down what is being said now.
func (c *Conversation) beginSegment() { c.current = c.add(agent, c.asked.Shown) }

// endSegment notes until when it was heard.
func (c *Conversation) endSegment(interrupted bool) {
	s := &c.segments[c.current]
	s.EndMs, s.Interrupted = c.cfg.Sound.Mark().Milliseconds(), interrupted
	if c.turn.paused {
		s.EndMs = c.turn.pausedAt.Milliseconds()
	}
	c.current, c.turn.paused = -1, false
}

// noteKey writes down a key that the caller or somebody else pressed. Keys in a
// row are one input; secret ones leave neither themselves nor their number.
func (c *Conversation) noteKey(speaker string, key byte, secret bool) {
	now := c.cfg.Sound.Mark().Milliseconds()
	if n := len(c.segments); n > 0 {
		last := &c.segments[n-1]
		near := last.Speaker == speaker && n > c.keys.whole && now-last.EndMs < mergeKeys.Milliseconds()
		switch {
		case near && secret && last.Text == hidden:
			last.EndMs = now
			return
		case near && !secret && strings.HasPrefix(last.Text, pressedOpen):
			last.Text = strings.TrimSuffix(last.Text, "]") + string(key) + "]"
			last.EndMs = now
			return
		}
	}
	if secret {
		c.add(speaker, hidden)
		return
	}
	c.add(speaker, pressedOpen+string(key)+"]")
}
