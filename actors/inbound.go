package actors

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
)

// Limits of taking a call in.
const (
	inboundLimit  = 4 * time.Second // from INVITE to the start of its actor
	overloadAfter = 5 * time.Second // Retry-After of a refusal
)

// The final answers to a call that is not taken.
const (
	sipNotFound    = 404
	sipBusyHere    = 486
	sipServerError = 500
	sipUnavailable = 503
)

// Inbound takes an INVITE of a trunk: the number finds workspace and agent, a
// line is taken, the opening is committed, and its call goes on. It returns at
// once.
func (n *Node) Inbound(in *sip.Incoming) {
	if n.drain.Load() || !n.loaded.Load() {
		in.Reject(sipUnavailable, overloadAfter)
		return
	}
	n.beside(func() {
		ctx, cancel := context.WithTimeout(context.Background(), inboundLimit)
		defer cancel()
		if err := n.take(ctx, in); err != nil {
			n.cfg.Log.Warn("an inbound call could not be taken", slog.String("sip_call_id", in.CallID), slog.Any("error", err))
			in.Reject(sipUnavailable, overloadAfter)
		}
	})
}

// errNoNumber: the number called is nobody's on this trunk.
var errNoNumber = errors.New("no such number")

func (n *Node) take(ctx context.Context, in *sip.Incoming) error {
	number, entry, err := n.numberOf(ctx, in)
	if errors.Is(err, errNoNumber) {
		in.Reject(sipNotFound, 0)
		return nil
	}
	if err != nil {
		return err
	}
	p := domain.Principal{WorkspaceID: number.WorkspaceID, Environment: number.Environment}
	script, err := n.desk.scriptOf(ctx, p, number.AgentID, "")
	if domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeValidation {
		in.Reject(sipNotFound, 0) // the number has lost its agent
		return nil
	}
	if err != nil {
		return err
	}
	t := n.tree(number.WorkspaceID)
	c := n.inboundCall(in, number, &script)
	permit, err := mailbox.Ask[lines.Permit](ctx, n.sys, t.inbound, lines.Try{})
	if domain.CodeOf(err) == domain.CodeConcurrentLimit {
		in.Reject(sipBusyHere, 0)
		return n.overLimit(ctx, c)
	}
	if err != nil {
		return err
	}
	a := &domain.Attempt{
		ID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, Number: 1,
		Direction: domain.Inbound, Boot: n.boot, OpenedAt: *c.StartedAt,
		Legs: []domain.AttemptLeg{{Number: 1, TrunkID: entry.Trunk.ID, SIPCallID: in.CallID}},
	}
	if err := n.desk.open(ctx, c, a); err != nil {
		n.sys.Root.Send(t.inbound, lines.Return{Permit: permit})
		return err
	}
	n.sys.Root.Send(t.calls, call.Inbound{
		In: in, Call: *c, Attempt: *a, Script: script, Variables: map[string]string{}, Permit: permit, Networks: entry.Trunk.MediaNetworks,
	})
	return nil
}

// numberOf finds whose number was called: an exact one of a workspace that has
// a trunk at this source, or the rest of such a trunk.
func (n *Node) numberOf(ctx context.Context, in *sip.Incoming) (*domain.PhoneNumber, trunk.Entry, error) {
	if in.PhoneID != "" {
		return n.phoneCalls(ctx, in)
	}
	entries := n.book.Of(in.Source.Addr())
	for _, e := range entries {
		w := n.workspace(e.WorkspaceID)
		if w == nil {
			continue
		}
		for _, text := range spellings(in.To, w.DefaultCountry) {
			num, err := n.claimed(ctx, text)
			if err != nil {
				return nil, e, err
			}
			if num != nil && num.WorkspaceID == e.WorkspaceID && (num.TrunkID == "" || num.TrunkID == e.Trunk.ID) {
				return num, e, nil
			}
		}
	}
	for _, e := range entries {
		num, err := n.claimed(ctx, "*@"+e.Trunk.ID)
		if err != nil {
			return nil, e, err
		}
		if num != nil && num.WorkspaceID == e.WorkspaceID {
			return num, e, nil
		}
	}
	return nil, trunk.Entry{}, errNoNumber
}

// spellings are the ways in which a trunk may write a number of ours.
func spellings(to, country string) []string {
	out := []string{to}
	if e164, _, err := domain.ParsePhone(to, country); err == nil && e164 != to {
		out = append(out, e164)
	}
	if !strings.HasPrefix(to, "+") {
		out = append(out, "+"+to)
	}
	return out
}

// claimed is the number of a claim; nil: nobody's.
func (n *Node) claimed(ctx context.Context, text string) (*domain.PhoneNumber, error) {
	claim := &domain.NumberClaim{Number: text}
	if _, err := n.cfg.Store.Get(ctx, claim); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, nil //nolint:nilnil // nobody's number is no error
		}
		return nil, err
	}
	num := &domain.PhoneNumber{Meta: domain.Meta{ID: claim.NumberID, WorkspaceID: claim.WorkspaceID}}
	if _, err := n.cfg.Store.Get(ctx, num); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, nil //nolint:nilnil // it went in between
		}
		return nil, err
	}
	return num, nil
}

func (n *Node) inboundCall(in *sip.Incoming, num *domain.PhoneNumber, script *domain.Script) *domain.Call {
	now := stamp()
	c := &domain.Call{
		Direction: domain.Inbound, From: caller(in.From), To: num.Number, AgentID: num.AgentID,
		PathwayID: script.Pathway.ID, Status: domain.CallInitiated, Legs: []domain.Leg{}, Attempt: 1,
		StartedAt: &now, Variables: map[string]string{}, Record: true,
	}
	if num.Number == "*" {
		c.To = in.To
	}
	p := domain.Principal{WorkspaceID: num.WorkspaceID, Environment: num.Environment}
	fill(&c.Meta, "call", p, mailbox.NewID(domain.PrefixCall), now)
	return c
}

// caller is a caller's number as it is shown; a withheld one is anonymous.
func caller(from string) string {
	if from == "" || strings.EqualFold(from, "anonymous") || strings.EqualFold(from, "restricted") {
		return "anonymous"
	}
	if e164, _, err := domain.ParsePhone(from, "US"); err == nil {
		return e164
	}
	return from
}

// overLimit keeps the record of a call that found every line taken.
func (n *Node) overLimit(ctx context.Context, c *domain.Call) error {
	now := stamp()
	c.Status, c.Disposition, c.EndedReason, c.EndedBy, c.EndedAt = domain.CallFailed, string(domain.OutcomeFailed), domain.ReasonConcurrency, "service", &now
	c.Outcome, c.Record = &domain.CallOutcome{Result: domain.OutcomeFailed}, false
	unit := domain.Unit(c.AgentID)
	_, err := n.cfg.Store.Apply(ctx, commit.Change{
		Workspace: c.WorkspaceID, Puts: []domain.Record{c},
		Events: []event.Draft{
			draft(&c.Meta, event.CallStarted, c.ID, unit, event.CallOf(c)),
			draft(&c.Meta, event.CallEnded, c.ID, unit, event.EndedOf(c)),
		},
	})
	n.committed(c.WorkspaceID)
	if err != nil {
		n.cfg.Log.Error("the record of a refused call could not be kept", slog.String("call_id", c.ID), slog.Any("error", err))
	}
	return nil
}
