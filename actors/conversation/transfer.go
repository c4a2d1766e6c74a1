package conversation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// requestTransfer asks the call to transfer the caller, as the pathway wants.
func (c *Conversation) requestTransfer(ctx actor.Context, d pathway.Transfer) {
	c.leaveCaller(ctx)
	kept := c.cfg.Redact.Text(d.Summary)
	if d.Sensitive {
		kept = ""
	}
	ctx.Send(ctx.Parent(), RequestTransfer{Destination: d.Destination, Mode: d.Mode, Summary: d.Summary, RedactedSummary: kept, Reason: c.cfg.Redact.Text(d.Reason)})
	c.absence.byPathway = true
}
