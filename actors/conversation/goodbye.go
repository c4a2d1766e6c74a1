package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/pathway"
)

// maxWordsAfterGoodbye is the longest wait for the end of words that the caller has begun during the last prompt.
const maxWordsAfterGoodbye = 5 * time.Second

// goodbyeTimeout is the timer message that ends the wait after the last prompt with this ID.
type goodbyeTimeout struct{ prompt uint64 }

func (goodbyeTimeout) Control() {}

// waitsForWordsAfterGoodbye reports whether the conversation ends only when the words that the caller speaks are known.
func (c *Conversation) waitsForWordsAfterGoodbye(ctx actor.Context) bool {
	t := &c.listening.turn
	if !t.open || t.keywordOnly || !c.state.EndsAfterPrompt() {
		return false
	}
	c.goodbyeSpoken = true
	mailbox.SendAfter(ctx, maxWordsAfterGoodbye, goodbyeTimeout{c.playback.id})
	return true
}

// endAfterGoodbye ends the conversation after the last prompt, unless words of the caller have continued it.
func (c *Conversation) endAfterGoodbye(ctx actor.Context) {
	if !c.goodbyeSpoken {
		return
	}
	c.goodbyeSpoken = false
	if !c.finished && !c.playback.isPlaying() && c.state.EndsAfterPrompt() {
		c.dropTurn()
		c.promptEnded(ctx, pathway.PromptDone{})
	}
}
