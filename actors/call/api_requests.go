package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
)

// handleAPIRequest handles a message that an API request for a live call has caused.
func (c *call) handleAPIRequest(ctx actor.Context, msg any) {
	var err error
	switch m := msg.(type) {
	case StartTransfer:
		err = c.startTransfer(ctx, m.Target, transferOptions{mode: m.Mode, summary: m.Summary, recordedSummary: c.cfg.redactor().RedactText(m.Summary), by: byAPI})
	case SpeakText:
		if err = c.requireAgentConnected(); err == nil && c.agent.conversation != nil {
			ctx.Send(c.agent.conversation, conversation.SpeakText{Text: m.Text})
		}
	case SendDigits:
		if c.stage != talking || c.hangup.reason != "" {
			err = c.invalidState("digits can be sent only in an answered call")
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

// requireAgentConnected returns an error unless the agent is connected to the caller.
func (c *call) requireAgentConnected() error {
	switch {
	case c.stage != talking || c.hangup.reason != "":
		return c.invalidState("the agent can speak only in an answered call")
	case c.agent.pausedBy != 0:
		return c.invalidState("the caller is on hold or connected to another party")
	}
	return nil
}
