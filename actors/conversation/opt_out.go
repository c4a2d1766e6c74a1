package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media/speech"
)

// OptOutRequested reports to the call actor that the caller refuses further calls. The caller said or pressed a keyword, or
// reached an opt-out node of the pathway.
type OptOutRequested struct {
	Channel string // speech, dtmf or pathway
	Keyword string
}

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (OptOutRequested) Control() {}

// Channels through which a caller can opt out.
const (
	bySpeech  = "speech"
	byDigits  = "dtmf"
	byPathway = "pathway"
)

// ListensForOptOut reports whether opt-out keywords are recognized while the pathway expects no words. This needs a
// recognizer that transcribes free speech. A recognizer of fixed phrases would map any words to one of its phrases,
// and a question could become an opt-out.
func ListensForOptOut(recognizer speech.Recognizer, language string, keywords []string) bool {
	return recognizer != nil && len(dnc.SpokenKeywords(keywords)) > 0 && recognizer.TranscribesFreeSpeech(language)
}

// checkWords looks for typical words of answering machines and for opt-out keywords in the recognized text.
func (c *Conversation) checkWords(ctx actor.Context, text string) {
	if !c.finished {
		c.checkMachineWords(ctx, text)
	}
	if c.agentPause.active {
		return
	}
	if word := dnc.FindOptOutKeyword(text, c.cfg.OptOutKeywords); word != "" {
		c.optOut(ctx, bySpeech, word)
	}
}

// checkKeys looks for an opt-out keyword in the keys that the caller pressed last.
func (c *Conversation) checkKeys(ctx actor.Context) {
	if len(c.cfg.OptOutKeywords) == 0 || c.state.IsSecretInput() {
		return
	}
	keys, ok := c.transcript.lastKeys()
	if !ok {
		return
	}
	if word := dnc.FindOptOutKeyword(keys, c.cfg.OptOutKeywords); word != "" {
		c.optOut(ctx, byDigits, word)
	}
}

// optOut reports an opt-out to the call actor, only once per conversation.
func (c *Conversation) optOut(ctx actor.Context, channel, word string) {
	if !c.optedOut {
		c.optedOut = true
		ctx.Send(ctx.Parent(), OptOutRequested{Channel: channel, Keyword: word})
	}
}
