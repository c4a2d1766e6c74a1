package conversation

import (
	"strings"

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
)

func (c *Conversation) add(speaker, text string) int {
	at := c.cfg.Sound.Mark().Milliseconds()
	c.segments = append(c.segments, domain.Segment{
		Index: len(c.segments), Speaker: speaker, Text: text, StartMs: at, EndMs: at, Confidence: 1,
	})
	return len(c.segments) - 1
}

// readAlong tells a watcher what has come to the transcript, or changed in it,
// since it was last told. A prompt may end behind the key that ended it.
func (c *Conversation) readAlong() {
	w, ok := c.cfg.Mind.(Watcher)
	if !ok {
		return
	}
	for i, s := range c.segments {
		if i == len(c.shown) {
			c.shown = append(c.shown, s)
		} else if was := c.shown[i]; was.Text == s.Text && was.EndMs == s.EndMs && was.Interrupted == s.Interrupted {
			continue
		}
		c.shown[i] = s
		s.Text = c.cfg.Redact.Text(s.Text)
		w.Wrote(s)
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
		near := last.Speaker == speaker && now-last.EndMs < mergeKeys.Milliseconds()
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
