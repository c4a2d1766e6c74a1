package node

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
)

// Counters are what the node keeps now, over all workspaces. Without calls
// everything but Workspaces and Actors is 0.
type Counters struct {
	Workspaces        int `json:"workspaces"`
	Actors            int `json:"actors"`          // processes of the actor system, questions under way included
	Calls             int `json:"calls"`           // whose actors live
	UncommittedCalls  int `json:"calls_open"`      // with those whose end is not committed yet
	PendingRecordings int `json:"recordings"`      // of calls that are over, not kept yet
	OutboundPermits   int `json:"lines_out"`       // permits leased, bound and held
	InboundPermits    int `json:"lines_in"`        // as lines_out, of calls that come in
	WaitingPermits    int `json:"lines_waiting"`   // permits that campaigns wait for
	TrunkSlots        int `json:"trunk_channels"`  // taken
	TrunkSlotCalls    int `json:"trunk_holdings"`  // calls that have any
	TrunkWatchedCalls int `json:"trunk_bound"`     // actors of calls that trunks watch
	TrunkChargedCalls int `json:"trunk_meters"`    // answered calls that are being paid for
	TrunkWaitingCalls int `json:"trunk_waiting"`   // calls that wait for a slot
	InboundRouting    int `json:"inbound_opening"` // INVITEs that are being looked at
	WebhookRequests   int `json:"webhook_sends"`   // webhook requests under way
}

// Add adds what another node of the process keeps.
func (c *Counters) Add(o *Counters) {
	c.Workspaces += o.Workspaces
	c.Actors += o.Actors
	c.Calls += o.Calls
	c.UncommittedCalls += o.UncommittedCalls
	c.PendingRecordings += o.PendingRecordings
	c.OutboundPermits += o.OutboundPermits
	c.InboundPermits += o.InboundPermits
	c.WaitingPermits += o.WaitingPermits
	c.TrunkSlots += o.TrunkSlots
	c.TrunkSlotCalls += o.TrunkSlotCalls
	c.TrunkWatchedCalls += o.TrunkWatchedCalls
	c.TrunkChargedCalls += o.TrunkChargedCalls
	c.TrunkWaitingCalls += o.TrunkWaitingCalls
	c.InboundRouting += o.InboundRouting
	c.WebhookRequests += o.WebhookRequests
}

// Counters asks every workspace. The error is that of the first that does not
// answer in the time of ctx.
func (n *Node) Counters(ctx context.Context) (Counters, error) {
	c := Counters{InboundRouting: n.routing.count(), WebhookRequests: n.webhookPool.Busy()}
	for _, m := range n.sys.ProcessRegistry.LocalPIDs.LocalPIDs {
		c.Actors += m.Count()
	}
	trees := n.liveCalls().trees
	c.Workspaces = len(trees)
	for _, t := range trees {
		if err := c.addWorkspace(ctx, n.sys, t); err != nil {
			return c, err
		}
	}
	return c, nil
}

// addWorkspace asks the actors of a workspace.
func (c *Counters) addWorkspace(ctx context.Context, sys *actor.ActorSystem, t *workspaceTree) error {
	live, err := mailbox.Ask[call.LiveCalls](ctx, sys, t.calls, call.GetLiveCalls{})
	if err != nil {
		return err
	}
	out, err := mailbox.Ask[lines.Usage](ctx, sys, t.outbound, lines.GetUsage{})
	if err != nil {
		return err
	}
	tests, err := mailbox.Ask[lines.Usage](ctx, sys, t.tests, lines.GetUsage{})
	if err != nil {
		return err
	}
	in, err := mailbox.Ask[lines.Usage](ctx, sys, t.inbound, lines.GetUsage{})
	if err != nil {
		return err
	}
	trunks, err := mailbox.Ask[trunk.HeldCounts](ctx, sys, t.trunks, trunk.CountHeld{})
	if err != nil {
		return err
	}
	c.Calls += len(live.Calls)
	c.UncommittedCalls += live.Open
	c.PendingRecordings += live.PendingRecordings
	c.OutboundPermits += out.Active + tests.Active
	c.InboundPermits += in.Active
	c.WaitingPermits += out.Waiting + tests.Waiting + in.Waiting
	c.TrunkSlots += trunks.Channels
	c.TrunkSlotCalls += trunks.Holding
	c.TrunkWatchedCalls += trunks.WatchedActors
	c.TrunkChargedCalls += trunks.Meters
	c.TrunkWaitingCalls += trunks.Waiting
	return nil
}
