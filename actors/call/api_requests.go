package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
)

// operate does what the API wants of a live call.
func (c *call) operate(ctx actor.Context, msg any) {
	var err error
	switch m := msg.(type) {
	case StartTransfer:
		err = c.startTransfer(ctx, m.Target, transferOptions{mode: m.Mode, summary: m.Summary, recordedSummary: c.cfg.redactor().RedactText(m.Summary), by: byAPI})
	case SpeakText:
		if err = c.talks(); err == nil && c.agent.conversation != nil {
			ctx.Send(c.agent.conversation, conversation.SpeakText{Text: m.Text})
		}
	case SendDigits:
		if c.stage != talking || c.hangup.reason != "" {
			err = c.invalidState("digits are sent in an answered call only")
			break
		}
		c.audio.session.SendDigits(ownPlayID, m.Digits)
	}
	if err != nil {
		ctx.Respond(err)
		return
	}
	ctx.Respond(RequestDone{Call: c.call})
}

// talks says whether the agent has the caller.
func (c *call) talks() error {
	switch {
	case c.stage != talking || c.hangup.reason != "":
		return c.invalidState("the agent speaks in an answered call only")
	case c.agent.pausedBy != 0:
		return c.invalidState("somebody else has the caller now, or the caller is held")
	}
	return nil
}
