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

// Placement is a request to place an outbound call.
type Placement struct {
	Order  domain.NewCall
	CallID string
	// Permit returns the call permit and may wait for it. If Permit is nil, the call gets a permit only if one is free
	// now. Otherwise the error is concurrent_limit_exceeded.
	Permit func(ctx context.Context) (lines.Permit, error)
	// More adds changes to the commit that creates the call. It may be nil.
	More func(*commit.Change, *domain.Call)
}

// PlaceCall places a call if a call permit is free now. A repeated request with the same Idempotency-Key gets the call
// of the first request.
func (s *Service) PlaceCall(ctx context.Context, p domain.Principal, o domain.NewCall) (*domain.Call, error) {
	if placed, err := record.CreatedBySameRequest[domain.Call](ctx, s.store, p, domain.PrefixCall); placed != nil || err != nil {
		return placed, err
	}
	return s.Place(ctx, p, Placement{Order: o, CallID: record.RequestResourceID(ctx, domain.PrefixCall)})
}

// Place checks a call request, gets a call permit and a trunk slot, commits the new call and starts the call's actor.
func (s *Service) Place(ctx context.Context, p domain.Principal, placement Placement) (*domain.Call, error) {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, s.cfg.Workspaces.WorkspaceNotFound()
	}
	if err := s.cfg.Admission.CheckCallAdmission(); err != nil {
		return nil, err
	}
	o := &placement.Order
	c, script, callee, err := s.newCall(ctx, p, w, o, placement.CallID)
	if err != nil {
		return nil, err
	}
	actors, err := s.placementActors(p.WorkspaceID, c.Environment)
	if err != nil {
		return nil, err
	}
	permit, err := s.getPermit(ctx, &placement, actors.lines)
	if err != nil {
		return nil, err
	}
	slot, err := s.requestTrunkSlot(ctx, actors.trunks, c, &callee)
	if err == nil {
		err = s.checkStillAllowed(ctx, o, &callee) // getting the permit and the slot may have taken seconds
	}
	root := s.cfg.System.Root
	if err != nil {
		root.Send(actors.lines, lines.ReturnPermit{Permit: permit})
		root.Send(actors.trunks, trunk.ReleaseCall{CallID: c.ID})
		return nil, err
	}
	if !callee.toPhone() {
		c.From = slot.From
	}
	attempt := s.firstAttempt(c, &slot)
	grant, err := s.requestNumberPermission(ctx, actors.numbers, c, callee.toPhone())
	if err == nil {
		err = s.cfg.Opener.OpenCall(ctx, call.OpeningCommit{Call: c, Attempt: attempt, Grant: grant, AddTo: placement.More})
	}
	if err != nil {
		root.Send(actors.numbers, numbers.ReleaseNumber{CallID: c.ID})
		root.Send(actors.lines, lines.ReturnPermit{Permit: permit})
		root.Send(actors.trunks, trunk.ReturnSlot{CallID: c.ID, Key: slot.Key})
		return nil, err
	}
	root.Send(actors.numbers, numbers.AttemptCommitted{CallID: c.ID})
	placed := *c // the calls actor owns c from here on
	root.Send(actors.calls, call.StartOutbound{
		Call: *c, Attempt: *attempt, Script: script, Permit: permit, Slot: slot, Contacts: callee.contacts,
		Variables: map[string]string{}, RingTimeout: o.RingTimeout, MaxDuration: o.MaxDuration, CallerID: o.From,
		Scrub: dnc.DefaultScrub(c.WorkspaceID, c.Environment),
	})
	return &placed, nil
}

// placementActors are the actors that grant a new call its permit, its trunk slot and the permission for its number,
// and the actor that starts the call.
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

// getPermit returns a call permit. It calls placement.Permit or, if that is nil, requests a permit that is free now.
func (s *Service) getPermit(ctx context.Context, placement *Placement, from *actor.PID) (lines.Permit, error) {
	if placement.Permit != nil {
		return placement.Permit(ctx)
	}
	return mailbox.Ask[lines.Permit](ctx, s.cfg.System, from, lines.TryPermit{})
}

// checkStillAllowed repeats the checks whose result may have changed since the request arrived: the node's admission
// of new calls and the calling hours.
func (s *Service) checkStillAllowed(ctx context.Context, o *domain.NewCall, callee *parties) error {
	if err := ctx.Err(); err != nil { // the client has gone or the deadline has passed
		return err
	}
	if err := s.cfg.Admission.CheckCallAdmission(); err != nil {
		return err
	}
	if callee.toPhone() {
		return nil
	}
	return s.checkCallingHours(o.CallingHours, callee.to)
}

// newCall checks a call request against the rules of the workspace and returns the record of its call.
func (s *Service) newCall(ctx context.Context, p domain.Principal, w *domain.Workspace, o *domain.NewCall, id string) (*domain.Call, domain.Script, parties, error) {
	var noScript domain.Script
	callee, err := s.findParties(ctx, p, w, o)
	if err != nil {
		return nil, noScript, parties{}, err
	}
	script, err := s.cfg.Scripts.ScriptForCall(ctx, p, o)
	if err != nil {
		if domain.CodeOf(err) == domain.CodeNotFound {
			err = record.ScriptNotFound(ctx, s.store, p, o)
		}
		return nil, noScript, parties{}, err
	}
	now := record.Now()
	c := &domain.Call{
		RequestTrace: tracing.OfRequest(ctx), Direction: domain.Outbound, From: callee.from, To: callee.to.E164, AgentID: o.AgentID, AgentVersion: script.Version, PathwayID: script.Pathway.ID,
		Status: domain.CallQueued, Legs: []domain.Leg{}, Attempt: 1, StartedAt: &now,
		Variables: map[string]string{}, Context: o.Context, Record: o.Record,
	}
	c.Init("call", p, id, now)
	c.Metadata = o.Metadata
	return c, script, callee, nil
}

// firstAttempt returns the database row for the first attempt of a call. It is committed before the INVITE is sent.
func (s *Service) firstAttempt(c *domain.Call, slot *trunk.Slot) *domain.Attempt {
	return &domain.Attempt{
		ID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, Number: 1, Direction: c.Direction, OpenedAt: record.Now(),
		Legs: []domain.AttemptLeg{leg.FirstRow(s.cfg.SIP, c.ID, slot, c.To, c.From)},
	}
}
