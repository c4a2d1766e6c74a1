package node

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
)

// Counters are the numbers of live objects of a node, summed over all workspaces, for GET /debug/counters. If there
// are no calls, every field except Workspaces and Actors is 0.
type Counters struct {
	Workspaces        int `json:"workspaces"`
	Actors            int `json:"actors"`              // processes of the actor system, including pending requests
	Calls             int `json:"calls"`               // calls whose actor runs
	UncommittedCalls  int `json:"calls_uncommitted"`   // calls whose end is not committed, including live calls
	PendingRecordings int `json:"recordings_pending"`  // recordings of ended calls that are not stored
	OutboundPermits   int `json:"permits_outbound"`    // permits of outbound calls that are leased, bound or held
	InboundPermits    int `json:"permits_inbound"`     // permits of inbound calls that are leased, bound or held
	WaitingPermits    int `json:"permits_waiting"`     // requests of campaigns that wait for a permit
	TrunkSlots        int `json:"trunk_slots"`         // trunk slots in use
	TrunkSlotCalls    int `json:"trunk_slot_calls"`    // calls that hold a trunk slot
	TrunkWatchedCalls int `json:"trunk_watched_calls"` // call actors that the trunk actors watch
	TrunkChargedCalls int `json:"trunk_charged_calls"` // answered calls whose cost is being counted
	TrunkWaitingCalls int `json:"trunk_waiting_calls"` // calls that wait for a trunk slot
	InboundRouting    int `json:"inbound_routing"`     // INVITEs and MESSAGEs that are being routed
	WebhookRequests   int `json:"webhook_requests"`    // webhook requests in progress
}

// Add adds the counters o of another node of the same process to c.
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

// Counters asks the actors of every workspace for their counts. It returns the error of the first workspace that
// does not answer before ctx ends.
func (n *Node) Counters(ctx context.Context) (Counters, error) {
	c := Counters{InboundRouting: n.routing.count(), WebhookRequests: n.webhookPool.ActiveRequests()}
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

// addWorkspace asks the actors of a workspace for their counts and adds them to c.
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
