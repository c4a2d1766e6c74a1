package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media/speech"
)

// OptOutRequested reports to the call that the caller wants no more calls: by a keyword, or at a node of the pathway that says so.
type OptOutRequested struct {
	Channel string // speech | dtmf | pathway
	Keyword string
}

// Control: it is bound by the call.
func (OptOutRequested) Control() {}

// Channels of an opt-out.
const (
	bySpeech  = "speech"
	byDigits  = "dtmf"
	byPathway = "pathway"
)

// ListensForOptOut says whether keywords are listened for where a pathway asks for no words. That takes a recognizer that transcribes
// any words. A recognizer of phrases takes any words for one of its phrases: a caller who asks "who is this?" would never be
// called again.
func ListensForOptOut(ears speech.Recognizer, language string, keywords []string) bool {
	return ears != nil && len(dnc.Sayable(keywords)) > 0 && ears.TranscribesFreeSpeech(language)
}

// checkWords looks in the caller's words for a machine's announcement and for an opt-out keyword.
func (c *Conversation) checkWords(ctx actor.Context, text string) {
	if !c.finished {
		c.checkMachineWords(ctx, text)
	}
	if c.absence.on {
		return
	}
	if word := dnc.OptOut(text, c.cfg.OptOutKeywords); word != "" {
		c.optOut(ctx, bySpeech, word)
	}
}

// checkKeys looks for an opt-out keyword in the keys pressed in a row.
func (c *Conversation) checkKeys(ctx actor.Context) {
	if len(c.cfg.OptOutKeywords) == 0 || c.state.Secret() {
		return
	}
	keys, ok := c.transcript.lastKeys()
	if !ok {
		return
	}
	if word := dnc.OptOut(keys, c.cfg.OptOutKeywords); word != "" {
		c.optOut(ctx, byDigits, word)
	}
}

// optOut reports an opt-out once.
func (c *Conversation) optOut(ctx actor.Context, channel, word string) {
	if !c.optedOut {
		c.optedOut = true
		ctx.Send(ctx.Parent(), OptOutRequested{Channel: channel, Keyword: word})
	}
}
