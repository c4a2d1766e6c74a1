package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/inbound"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// Limits of taking a call in.
const (
	inboundLimit  = 4 * time.Second // from INVITE to the start of its actor
	overloadAfter = 5 * time.Second // Retry-After of a refusal
	maxRouting    = 1000            // INVITEs that wait for store and actors at a time
)

// The final answers to a call that is not taken.
const (
	sipNotFound    = 404
	sipBusyHere    = 486
	sipServerError = 500
	sipUnavailable = 503
	sipAway        = 480
)

// Inbound takes an INVITE of a trunk: the number finds workspace and agent, a
// line is taken, the opening is committed, and its call goes on. It returns at
// once.
func (n *Node) Inbound(in *sip.Incoming) {
	if n.drain.isStopping() || n.drain.isDrained() || !n.loaded.Load() || !n.OwnsShard() {
		in.Reject(sipUnavailable, overloadAfter)
		return
	}
	if n.routing.Add(1) > maxRouting {
		n.routing.Add(-1)
		in.Reject(sipUnavailable, overloadAfter)
		return
	}
	n.RunInBackground(func() {
		defer n.routing.Add(-1)
		defer func() {
			if v := recover(); v != nil { // nobody would answer the caller any more
				in.Reject(sipServerError, 0)
				panic(v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		if err := n.routeCall(ctx, in); err != nil {
			n.cfg.Log.Warn("an inbound call could not be taken", slog.String("sip_call_id", in.CallID), slog.Any("error", err))
			in.Reject(sipUnavailable, overloadAfter)
		}
	})
}

// refuse answers an INVITE of a trunk, and counts why: before, so that whoever
// has the answer finds it counted.
func (n *Node) refuse(in *sip.Incoming, e trunk.Entry, code int, after time.Duration, why string) {
	n.countArrival(e, why)
	in.Reject(code, after)
}

func (n *Node) countArrival(e trunk.Entry, refusal string) {
	if t := n.tree(e.WorkspaceID); t != nil {
		n.sys.Root.Send(t.trunks, trunk.Arrived{TrunkID: e.Trunk.ID, Refusal: refusal})
	}
}

func (n *Node) routeCall(ctx context.Context, in *sip.Incoming) error {
	number, entry, err := n.orderedTestCall(in)
	if number == nil && err == nil {
		number, entry, err = n.lookup.Number(ctx, in)
	}
	if errors.Is(err, inbound.ErrNoNumber) {
		code := sipNotFound
		if errors.Is(err, inbound.ErrPhoneCallsOut) {
			code = sipForbidden
		}
		n.refuse(in, entry, code, 0, "unknown_number")
		return nil
	}
	if errors.Is(err, inbound.ErrAuthRequired) {
		in.Challenge() // as every caller is asked first: no refusal to be counted
		return nil
	}
	if err != nil {
		return err
	}
	if wait, over := n.paces.take(entry.Trunk.ID, entry.Trunk.Inbound.CallsPerSecond, time.Now()); over {
		n.refuse(in, entry, sipUnavailable, wait, "calls_per_second")
		return nil
	}
	p := domain.Principal{WorkspaceID: number.WorkspaceID, Environment: number.Environment}
	script, err := n.services.Scripts.Script(ctx, p, number.AgentID, "")
	if domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeValidation {
		n.refuse(in, entry, sipNotFound, 0, "no_agent") // the number has lost its agent
		return nil
	}
	if domain.CodeOf(err) == domain.CodeNoEngine {
		n.refuse(in, entry, sipAway, 0, string(domain.CodeNoEngine))
		return nil
	}
	if err != nil {
		return err
	}
	t, err := n.workspaceActors(number.WorkspaceID)
	if err != nil {
		return err
	}
	c := n.inboundCall(in, number, &entry.Trunk, &script)
	permit, err := mailbox.Ask[lines.Permit](ctx, n.sys, t.inbound, lines.Try{})
	if domain.CodeOf(err) == domain.CodeConcurrentLimit {
		n.refuse(in, entry, sipBusyHere, 0, "concurrent_limit_exceeded")
		return n.overLimit(ctx, c)
	}
	if err != nil {
		return err
	}
	return n.startInboundCall(ctx, t, in, c, permit, &entry, &script)
}

// lookUpInbound requests variables of a call. Meanwhile the call holds a permit, but does
// not count among the INVITEs being routed.
func (n *Node) lookUpInbound(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call) {
	n.routing.Add(-1)
	defer n.routing.Add(1)
	return n.services.Agents.LookUpInbound(ctx, h, c)
}

// startInboundCall opens a call that has a line, and lets it go on. No campaign rings the
// caller from now on.
func (n *Node) startInboundCall(ctx context.Context, t *tree, in *sip.Incoming, c *domain.Call, permit lines.Permit, entry *trunk.Entry, script *domain.Script) error {
	n.sys.Root.Send(t.numbers, numbers.Rings{CallID: c.ID, Number: c.From, Environment: c.Environment})
	opened := false
	defer func() {
		if !opened {
			n.sys.Root.Send(t.numbers, numbers.Over{CallID: c.ID})
		}
	}()
	var also func(*commit.Change, *domain.Call)
	if script.Hook != nil {
		also = n.lookUpInbound(ctx, script.Hook, c)
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), inboundLimit) // it had its own time
		defer cancel()
		ctx = bound
	}
	a := &domain.Attempt{
		ID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, Number: 1, Direction: domain.Inbound, OpenedAt: *c.StartedAt,
		Legs:  []domain.AttemptLeg{{Number: 1, TrunkID: entry.Trunk.ID, SIPCallID: in.CallID}},
		Trace: n.cfg.Traces.UnclaimedAttemptTrace(in.CallID, in.Tag()),
	}
	if err := n.OpenCall(ctx, call.Opening{Call: c, Attempt: a, More: also}); err != nil {
		n.sys.Root.Send(t.inbound, lines.Return{Permit: permit})
		return err
	}
	opened = true
	n.countArrival(*entry, "")
	n.testCalls.Open(in.Header[testcarrier.TestHeader], c.ID)
	n.sys.Root.Send(t.calls, call.Inbound{
		In: in, Call: *c, Attempt: *a, Script: *script, Variables: map[string]string{}, Permit: permit,
		Trunk: &entry.Trunk,
	})
	n.testCalls.Arrive(in.Header[testcarrier.TestHeader], c.ID)
	return nil
}

func (n *Node) inboundCall(in *sip.Incoming, num *domain.PhoneNumber, t *domain.Trunk, script *domain.Script) *domain.Call {
	now := domain.Timestamp(time.Now())
	country := ""
	if w := n.Workspace(num.WorkspaceID); w != nil {
		country = inbound.Country(t, w)
	}
	told := domain.CallingParty{From: in.From, Name: in.FromName, Verstat: in.Verstat, Header: in.Header}
	if in.PhoneID != "" {
		told.Header = nil // a phone speaks for itself alone
	}
	shown, party := told.Read(t, country)
	c := &domain.Call{
		Direction: domain.Inbound, From: shown, To: num.Number, AgentID: num.AgentID, AgentVersion: script.Version,
		PathwayID: script.Pathway.ID, Status: domain.CallInitiated, Legs: []domain.Leg{}, Attempt: 1,
		StartedAt: &now, Variables: map[string]string{}, Record: true,
	}
	if !party.Empty() {
		c.Caller = party
	}
	if num.Number == "*" {
		c.To = inbound.CalledNumber(in.To, country)
	}
	p := domain.Principal{WorkspaceID: num.WorkspaceID, Environment: num.Environment}
	c.Init("call", p, mailbox.NewID(domain.PrefixCall), now)
	return c
}

// overLimit keeps the record of a call that found every line taken.
func (n *Node) overLimit(ctx context.Context, c *domain.Call) error {
	now := domain.Timestamp(time.Now())
	c.Status, c.Disposition, c.EndedReason, c.EndedBy, c.EndedAt = domain.CallFailed, string(domain.OutcomeFailed), domain.ReasonConcurrency, domain.EndedByService, &now
	c.Outcome, c.Record = &domain.CallOutcome{Result: domain.OutcomeFailed}, false
	unit := domain.Unit(c.AgentID)
	_, err := n.cfg.Store.Apply(ctx, commit.Change{
		Workspace: c.WorkspaceID, Puts: []domain.Record{c},
		Events: []event.Draft{
			outbox.NewEvent(&c.Meta, event.CallStarted, c.ID, unit, event.CallOf(c)),
			outbox.NewEvent(&c.Meta, event.CallEnded, c.ID, unit, event.EndedOf(c)),
		},
	})
	n.Committed(c.WorkspaceID)
	if err != nil {
		n.cfg.Log.Error("the record of a refused call could not be kept", slog.String("call_id", c.ID), slog.Any("error", err))
	}
	return nil
}
