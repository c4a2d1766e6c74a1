package calls

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/record"
)

// Placement is an outbound call that is to be placed.
type Placement struct {
	Order  domain.NewCall
	CallID string
	// Permit returns the permit of the call; it may wait. nil: a permit that is free
	// now, or concurrent_limit_exceeded.
	Permit func(ctx context.Context) (lines.Permit, error)
	// More adds to the commit that opens the call; nil: nothing.
	More func(*commit.Change, *domain.Call)
}

// PlaceCall places a call if a permit is free now.
func (s *Service) PlaceCall(ctx context.Context, p domain.Principal, o domain.NewCall) (*domain.Call, error) {
	if placed, err := record.CreatedBySameRequest[domain.Call](ctx, s.store, p, domain.PrefixCall); placed != nil || err != nil {
		return placed, err
	}
	return s.Place(ctx, p, Placement{Order: o, CallID: record.RequestResourceID(ctx, domain.PrefixCall)})
}

// Place checks an order, takes a permit and a trunk slot, commits the opening of
// the call and hands it to the actor of the calls.
func (s *Service) Place(ctx context.Context, p domain.Principal, placement Placement) (*domain.Call, error) {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, s.cfg.Workspaces.WorkspaceNotFound()
	}
	if err := s.cfg.Admission.CheckCallAdmission(); err != nil {
		return nil, err
	}
	o := &placement.Order
	c, script, who, err := s.newCall(ctx, p, w, o, placement.CallID)
	if err != nil {
		return nil, err
	}
	a, err := s.placementActors(p.WorkspaceID, c.Environment)
	if err != nil {
		return nil, err
	}
	permit, err := s.permit(ctx, &placement, a.lines)
	if err != nil {
		return nil, err
	}
	slot, err := s.trunkSlot(ctx, a.trunks, c, &who)
	if err == nil {
		err = s.mayStillCall(ctx, o, &who) // the permit and the slot may have taken long
	}
	root := s.cfg.System.Root
	if err != nil {
		root.Send(a.lines, lines.ReturnPermit{Permit: permit})
		root.Send(a.trunks, trunk.ReleaseCall{CallID: c.ID})
		return nil, err
	}
	if !who.toPhone() {
		c.From = slot.From
	}
	attempt := s.firstAttempt(c, &slot)
	grant, err := s.permitNumber(ctx, a.numbers, c, who.toPhone())
	if err == nil {
		err = s.cfg.Opener.OpenCall(ctx, call.OpeningCommit{Call: c, Attempt: attempt, Grant: grant, AddTo: placement.More})
	}
	if err != nil {
		root.Send(a.numbers, numbers.ReleaseNumber{CallID: c.ID})
		root.Send(a.lines, lines.ReturnPermit{Permit: permit})
		root.Send(a.trunks, trunk.ReturnSlot{CallID: c.ID, Key: slot.Key})
		return nil, err
	}
	root.Send(a.numbers, numbers.AttemptCommitted{CallID: c.ID})
	answer := *c
	root.Send(a.calls, call.StartOutbound{
		Call: *c, Attempt: *attempt, Script: script, Permit: permit, Slot: slot, Contacts: who.contacts,
		Variables: map[string]string{}, RingTimeout: o.RingTimeout, MaxDuration: o.MaxDuration, CallerID: o.From,
		Scrub: dnc.ScrubAll(c.WorkspaceID, c.Environment),
	})
	return &answer, nil
}

// placementActors are the actors that a placement asks.
type placementActors struct{ lines, trunks, numbers, calls *actor.PID }

func (s *Service) placementActors(workspaceID string, env domain.Environment) (a placementActors, err error) {
	if a.lines, err = s.cfg.Permits.OutboundLinesPID(workspaceID, env); err != nil {
		return a, err
	}
	if a.trunks, err = s.cfg.Actors.TrunksPID(workspaceID); err != nil {
		return a, err
	}
	if a.numbers, err = s.cfg.Actors.NumbersPID(workspaceID); err != nil {
		return a, err
	}
	a.calls, err = s.cfg.Actors.CallsPID(workspaceID)
	return a, err
}

func (s *Service) permit(ctx context.Context, placement *Placement, from *actor.PID) (lines.Permit, error) {
	if placement.Permit != nil {
		return placement.Permit(ctx)
	}
	return mailbox.Ask[lines.Permit](ctx, s.cfg.System, from, lines.TryPermit{})
}

// mayStillCall checks again what may have changed since the order was checked.
func (s *Service) mayStillCall(ctx context.Context, o *domain.NewCall, who *parties) error {
	if err := ctx.Err(); err != nil { // the caller waits no longer
		return err
	}
	if err := s.cfg.Admission.CheckCallAdmission(); err != nil {
		return err
	}
	if who.toPhone() {
		return nil
	}
	return s.checkCallingHours(o.CallingHours, who.to)
}

// newCall checks an order against the rules and returns the record of its call.
func (s *Service) newCall(ctx context.Context, p domain.Principal, w *domain.Workspace, o *domain.NewCall, id string) (*domain.Call, domain.Script, parties, error) {
	var none domain.Script
	who, err := s.findParties(ctx, p, w, o)
	if err != nil {
		return nil, none, parties{}, err
	}
	script, err := s.cfg.Scripts.ScriptForCall(ctx, p, o)
	if err != nil {
		if domain.CodeOf(err) == domain.CodeNotFound {
			err = record.ScriptNotFound(ctx, s.store, p, o)
		}
		return nil, none, parties{}, err
	}
	now := record.Now()
	c := &domain.Call{
		RequestTrace: tracing.OfRequest(ctx), Direction: domain.Outbound, From: who.from, To: who.to.E164, AgentID: o.AgentID, AgentVersion: script.Version, PathwayID: script.Pathway.ID,
		Status: domain.CallQueued, Legs: []domain.Leg{}, Attempt: 1, StartedAt: &now,
		Variables: map[string]string{}, Context: o.Context, Record: o.Record,
	}
	c.Init("call", p, id, now)
	c.Metadata = o.Metadata
	return c, script, who, nil
}

// firstAttempt returns the attempt row of a call: durable before the INVITE.
func (s *Service) firstAttempt(c *domain.Call, slot *trunk.Slot) *domain.Attempt {
	return &domain.Attempt{
		ID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, Number: 1, Direction: c.Direction, OpenedAt: record.Now(),
		Legs: []domain.AttemptLeg{leg.FirstRow(s.cfg.SIP, c.ID, slot, c.To, c.From)},
	}
}
