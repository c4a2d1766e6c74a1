package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// requestTransfer pauses the agent and requests the transfer from the call actor.
func (c *Conversation) requestTransfer(ctx actor.Context, d pathway.Transfer) {
	c.pauseAgent(ctx)
	kept := c.cfg.Redact.RedactText(d.Summary)
	if d.Sensitive {
		kept = ""
	}
	ctx.Send(ctx.Parent(), RequestTransfer{Destination: d.Destination, Mode: d.Mode, Summary: d.Summary, RedactedSummary: kept, Reason: c.cfg.Redact.RedactText(d.Reason)})
	c.agentPause.byPathway = true
}
