package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/inbound"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// Time limit of routing an inbound call, and Retry-After of a refusal.
const (
	inboundLimit  = 4 * time.Second // from the INVITE to the start of the call actor
	overloadAfter = 5 * time.Second // Retry-After of a refusal
)

// Final SIP responses to a refused call.
const (
	sipNotFound    = 404
	sipBusyHere    = 486
	sipServerError = 500
	sipUnavailable = 503
	sipAway        = 480
)

// inboundCalls handles the INVITEs of trunks and phones: it starts a call or rejects it.
type inboundCalls struct {
	workspaces   *workspaceTable
	sys          *actor.ActorSystem
	store        commit.Store
	trunkSources *trunk.Sources
	lookup       *inbound.Lookup
	routing      *routingLimit
	rates        inboundRates
	testCalls    testcalls.Registry
	opener       *callOpener
	services     *Services
	traces       *siptrace.Buffer
	accepts      func() bool // reports whether inbound calls may begin; must not block
	committed    func(workspaceID string)
	background   func(func()) // runs a goroutine that the stop of the node waits for
	log          *slog.Logger
}

// ReceiveInvite routes an INVITE of a trunk or a phone in the background and returns at once. The called number
// determines workspace and agent. The call gets a permit, its database rows are committed, and a call actor starts.
func (r *inboundCalls) ReceiveInvite(in *sip.Incoming) {
	if !r.accepts() || !r.routing.acquire() {
		in.Reject(sipUnavailable, overloadAfter)
		return
	}
	r.background(func() {
		defer r.routing.release()
		defer func() {
			if v := recover(); v != nil { // without a final response the caller would wait for a timeout
				in.Reject(sipServerError, 0)
				panic(v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		if err := r.routeCall(ctx, in); err != nil {
			r.log.Warn("an inbound call could not be routed", slog.String("sip_call_id", in.CallID), slog.Any("error", err))
			in.Reject(sipUnavailable, overloadAfter)
		}
	})
}

// rejectCall rejects an INVITE of a trunk and counts the reason. The count comes first, so that it is visible to a
// caller who has received the response.
func (r *inboundCalls) rejectCall(in *sip.Incoming, e trunk.Entry, code int, retryAfter time.Duration, reason string) {
	r.countInvite(e, reason)
	in.Reject(code, retryAfter)
}

// countInvite counts an INVITE in the statistics of its trunk. refusal is the reason of the rejection. It is empty
// if the call is accepted.
func (r *inboundCalls) countInvite(e trunk.Entry, refusal string) {
	if t := r.workspaces.tree(e.WorkspaceID); t != nil {
		r.sys.Root.Send(t.trunks, trunk.InboundCallArrived{TrunkID: e.Trunk.ID, Refusal: refusal})
	}
}

// routeCall finds the number, trunk and agent of an INVITE, and starts the call or rejects it.
func (r *inboundCalls) routeCall(ctx context.Context, in *sip.Incoming) error {
	number, entry, err := r.findTestCallNumber(in)
	if number == nil && err == nil {
		number, entry, err = r.lookup.FindNumber(ctx, in)
	}
	if errors.Is(err, inbound.ErrNoNumber) {
		code := sipNotFound
		if errors.Is(err, inbound.ErrPhoneCallsOut) {
			code = sipForbidden
		}
		r.rejectCall(in, entry, code, 0, "unknown_number")
		return nil
	}
	if errors.Is(err, inbound.ErrAuthRequired) {
		in.Challenge() // every caller gets a challenge first, so nothing is counted
		return nil
	}
	if err != nil {
		return err
	}
	if wait, over := r.rates.acquire(entry.Trunk.ID, entry.Trunk.Inbound.CallsPerSecond, time.Now()); over {
		r.rejectCall(in, entry, sipUnavailable, wait, "calls_per_second")
		return nil
	}
	p := domain.Principal{WorkspaceID: number.WorkspaceID, Environment: number.Environment}
	script, err := r.services.Scripts.Script(ctx, p, number.AgentID, "")
	if domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeValidation {
		r.rejectCall(in, entry, sipNotFound, 0, "no_agent") // the agent of the number was deleted
		return nil
	}
	if domain.CodeOf(err) == domain.CodeNoEngine {
		r.rejectCall(in, entry, sipAway, 0, string(domain.CodeNoEngine))
		return nil
	}
	if err != nil {
		return err
	}
	t, err := r.workspaces.workspaceActors(number.WorkspaceID)
	if err != nil {
		return err
	}
	c := r.newInboundCall(in, number, &entry.Trunk, &script)
	permit, err := mailbox.Ask[lines.Permit](ctx, r.sys, t.inbound, lines.TryPermit{})
	if domain.CodeOf(err) == domain.CodeConcurrentLimit {
		r.rejectCall(in, entry, sipBusyHere, 0, "concurrent_limit_exceeded")
		return r.recordOverLimit(ctx, c)
	}
	if err != nil {
		return err
	}
	return r.startInboundCall(ctx, t, in, c, permit, &entry, &script)
}

// lookUpInbound requests the variables of an inbound call from the agent's hook. During the request the call holds a
// permit, but does not count towards routingLimit.
func (r *inboundCalls) lookUpInbound(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call) {
	r.routing.requests.Add(-1)
	defer r.routing.requests.Add(1)
	return r.services.Agents.LookUpInbound(ctx, h, c)
}

// startInboundCall commits a call that has a permit and starts its actor. Before the commit it notifies the numbers
// actor, so that no campaign calls the number of the caller meanwhile.
func (r *inboundCalls) startInboundCall(ctx context.Context, t *workspaceTree, in *sip.Incoming, c *domain.Call, permit lines.Permit, entry *trunk.Entry, script *domain.Script) error {
	r.sys.Root.Send(t.numbers, numbers.CallStarted{CallID: c.ID, Number: c.From, Environment: c.Environment})
	opened := false
	defer func() {
		if !opened {
			r.sys.Root.Send(t.numbers, numbers.CallEnded{CallID: c.ID})
		}
	}()
	var addVariables func(*commit.Change, *domain.Call)
	if script.Hook != nil {
		addVariables = r.lookUpInbound(ctx, script.Hook, c)
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), inboundLimit) // the lookup has a time limit of its own, so the commit gets a new one
		defer cancel()
		ctx = bound
	}
	a := &domain.Attempt{
		ID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, Number: 1, Direction: domain.Inbound, OpenedAt: *c.StartedAt,
		Legs:  []domain.AttemptLeg{{Number: 1, TrunkID: entry.Trunk.ID, SIPCallID: in.CallID}},
		Trace: r.traces.UnclaimedAttemptTrace(in.CallID, in.Tag()),
	}
	if err := r.opener.OpenCall(ctx, call.OpeningCommit{Call: c, Attempt: a, AddTo: addVariables}); err != nil {
		r.sys.Root.Send(t.inbound, lines.ReturnPermit{Permit: permit})
		return err
	}
	opened = true
	r.countInvite(*entry, "")
	r.testCalls.AssignCall(in.Header[testcarrier.TestHeader], c.ID)
	r.sys.Root.Send(t.calls, call.StartInbound{
		In: in, Call: *c, Attempt: *a, Script: *script, Variables: map[string]string{}, Permit: permit,
		Trunk: &entry.Trunk,
	})
	r.testCalls.ReportArrival(in.Header[testcarrier.TestHeader], c.ID)
	return nil
}

// newInboundCall returns the call record of an INVITE. It does not store the record.
func (r *inboundCalls) newInboundCall(in *sip.Incoming, num *domain.PhoneNumber, t *domain.Trunk, script *domain.Script) *domain.Call {
	now := domain.Timestamp(time.Now())
	country := ""
	if w := r.workspaces.Workspace(num.WorkspaceID); w != nil {
		country = inbound.NumberCountry(t, w)
	}
	caller := domain.CallingParty{From: in.From, Name: in.FromName, Verstat: in.Verstat, Header: in.Header}
	if in.PhoneID != "" {
		caller.Header = nil // no trunk vouches for the headers of a phone
	}
	callerNumber, party := caller.ReadCaller(t, country)
	c := &domain.Call{
		Direction: domain.Inbound, From: callerNumber, To: num.Number, AgentID: num.AgentID, AgentVersion: script.Version,
		PathwayID: script.Pathway.ID, Status: domain.CallInitiated, Legs: []domain.Leg{}, Attempt: 1,
		StartedAt: &now, Variables: map[string]string{}, Record: true,
	}
	if !party.IsEmpty() {
		c.Caller = party
	}
	if num.Number == "*" {
		c.To = inbound.NormalizeCalledNumber(in.To, country)
	}
	p := domain.Principal{WorkspaceID: num.WorkspaceID, Environment: num.Environment}
	c.Init("call", p, mailbox.NewID(domain.PrefixCall), now)
	return c
}

// recordOverLimit stores the record of a call that was rejected because no permit was free.
func (r *inboundCalls) recordOverLimit(ctx context.Context, c *domain.Call) error {
	now := domain.Timestamp(time.Now())
	c.Status, c.Disposition, c.EndedReason, c.EndedBy, c.EndedAt = domain.CallFailed, string(domain.OutcomeFailed), domain.ReasonConcurrency, domain.EndedByService, &now
	c.Outcome, c.Record = &domain.CallOutcome{Result: domain.OutcomeFailed}, false
	unit := domain.UnitID(c.AgentID)
	_, err := r.store.Apply(ctx, commit.Change{
		Workspace: c.WorkspaceID, Puts: []domain.Record{c},
		Events: []event.Draft{
			outbox.NewEvent(&c.Meta, event.CallStarted, c.ID, unit, event.NewCallData(c)),
			outbox.NewEvent(&c.Meta, event.CallEnded, c.ID, unit, event.NewCallEndedData(c)),
		},
	})
	r.committed(c.WorkspaceID)
	if err != nil {
		r.log.Error("the record of a refused call could not be stored", slog.String("call_id", c.ID), slog.Any("error", err))
	}
	return nil
}
