package conversation

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media/speech"
)

// OptedOut tells the call that the far end wants no more calls: by a keyword
// that he said or pressed, or where the pathway came to say so.
type OptedOut struct {
	Channel string // speech | dtmf | pathway
	Keyword string
}

// HearsAside says whether keywords are listened for where a pathway asks for no
// words. That takes a recogniser that writes down whatever is said: one that
// knows phrases alone takes any words for one of them when it is told no others,
// and whoever asks "who is this?" would never be called again.
func HearsAside(ears speech.Recogniser, language string, keywords []string) bool {
	return ears != nil && len(dnc.Sayable(keywords)) > 0 && ears.Transcribes(language)
}

// Control: it is bound by the call.
func (OptedOut) Control() {}

// The ways to opt out of calls.
const (
	bySpeech  = "speech"
	byDigits  = "dtmf"
	byPathway = "pathway"
)

// said looks for a keyword in what the far end said.
func (c *Conversation) said(ctx actor.Context, text string) {
	if !c.finished {
		c.betrayed(ctx, text)
	}
	if c.away {
		return
	}
	if word := dnc.OptOut(text, c.cfg.OptOut); word != "" {
		c.optOut(ctx, bySpeech, word)
	}
}

// pressedOut looks for a keyword in the keys pressed in a row.
func (c *Conversation) pressedOut(ctx actor.Context) {
	n := len(c.segments)
	if len(c.cfg.OptOut) == 0 || c.state.Secret() || n == 0 {
		return
	}
	keys, ok := strings.CutPrefix(c.segments[n-1].Text, pressedOpen)
	if !ok || c.segments[n-1].Speaker != caller {
		return
	}
	if word := dnc.OptOut(strings.TrimSuffix(keys, "]"), c.cfg.OptOut); word != "" {
		c.optOut(ctx, byDigits, word)
	}
}

// optOut tells it once.
func (c *Conversation) optOut(ctx actor.Context, channel, word string) {
	if !c.optedOut {
		c.optedOut = true
		ctx.Send(ctx.Parent(), OptedOut{Channel: channel, Keyword: word})
	}
}
