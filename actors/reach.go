package actors

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// reach finds whom a caller may be handed to: a number within the rules of the
// workspace for destinations, or a phone.
func (n *Node) reach(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, w call.TransferDestination) (transferleg.Target, error) {
	if w.Destination != "" {
		d, known := t.Find(w.Destination)
		if !known { // a number, filled in from what the caller said
			return n.reachText(ctx, c, w.Destination, "destination")
		}
		way, err := n.reach(ctx, c, t, call.TransferDestination{To: d.To, Phone: d.Phone})
		way.Name, way.Mode = d.Name, d.Mode
		return way, err
	}
	if w.Phone != "" {
		return n.reachPhone(ctx, c, w.Phone, "phone")
	}
	return n.reachText(ctx, c, w.To, "to")
}

// reachText is a number, or the extension of a phone.
func (n *Node) reachText(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	if _, inside := domain.PhoneUser(text); inside {
		return n.reachPhone(ctx, c, text, param)
	}
	return n.reachNumber(ctx, c, text, param)
}

// reachNumber asks whether a number may be called at all.
func (n *Node) reachNumber(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to, err := n.mayCall(ctx, p, text)
	if err == nil {
		err = n.services.DNC.CheckNotListed(ctx, p, to)
	}
	return transferleg.Target{To: to}, blaming(param, err)
}

// blaming names the field of a request that an error is about.
func blaming(param string, err error) error {
	e, ok := errors.AsType[*domain.Error](err)
	if !ok || e.Param == "" && len(e.Details) == 0 {
		return err
	}
	blamed := *e
	blamed.Param, blamed.Details = param, slices.Clone(e.Details)
	for i := range blamed.Details {
		blamed.Details[i].Param = param
	}
	return &blamed
}

// liveCall is a call that goes on, and its tree.
func (d *Desk) liveCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, *tree, error) {
	c, err := d.Call(ctx, p, id)
	if err != nil {
		return nil, nil, err
	}
	if c.Final() {
		return nil, nil, domain.Errorf(domain.CodeInvalidState, "the call is over").With("current_status", c.Status)
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	return c, t, err
}

// TransferCall hands the caller of a live call on.
func (d *Desk) TransferCall(ctx context.Context, p domain.Principal, id string, o calls.Transfer) (*domain.Call, error) {
	c, t, err := d.liveCall(ctx, p, id)
	if err != nil {
		return nil, err
	}
	var may domain.AgentTransfer
	if c.AgentID != "" {
		a, gone := d.Agent(ctx, p, c.AgentID)
		switch {
		case gone == nil:
			may = a.Transfer
		case domain.CodeOf(gone) != domain.CodeNotFound: // deleted since: its names are gone with it
			return nil, gone
		}
	}
	if o.Destination != "" {
		if _, known := may.Find(o.Destination); !known {
			return nil, record.FieldError("destination", domain.CodeValidation, "the agent has no destination of this name")
		}
	}
	way, err := d.node.reach(ctx, c, &may, call.TransferDestination{To: o.To, Phone: o.Phone, Destination: o.Destination})
	if err != nil {
		return nil, err
	}
	mode := o.Mode
	if mode == "" {
		mode = domain.TransferBridge
	} else {
		way.Mode = ""
	}
	done, err := mailbox.Ask[call.Done](ctx, d.node.sys, t.calls, call.Transfer{
		CallID: c.ID, Target: way, Mode: mode, Summary: strings.TrimSpace(o.Summary),
	})
	return &done.Call, err
}

// SayInCall has the agent of a live call say a text.
func (d *Desk) SayInCall(ctx context.Context, p domain.Principal, id, text string) (*domain.Call, error) {
	return d.inCall(ctx, p, id, func(callID string) any { return call.Say{CallID: callID, Text: text} })
}

// PressInCall sends digits to the far end of a live call.
func (d *Desk) PressInCall(ctx context.Context, p domain.Principal, id, digits string) (*domain.Call, error) {
	return d.inCall(ctx, p, id, func(callID string) any { return call.Press{CallID: callID, Digits: digits} })
}

func (d *Desk) inCall(ctx context.Context, p domain.Principal, id string, what func(callID string) any) (*domain.Call, error) {
	c, t, err := d.liveCall(ctx, p, id)
	if err != nil {
		return nil, err
	}
	done, err := mailbox.Ask[call.Done](ctx, d.node.sys, t.calls, what(c.ID))
	return &done.Call, err
}

// CallTrace are the SIP messages of a call: of a live one so far.
func (d *Desk) CallTrace(ctx context.Context, p domain.Principal, id string) (*domain.CallTrace, error) {
	t, err := d.storedTrace(ctx, p, id)
	if err != nil {
		return nil, err
	}
	noteIgnored(t)
	return t, nil
}

func (d *Desk) storedTrace(ctx context.Context, p domain.Principal, id string) (*domain.CallTrace, error) {
	c, err := d.Call(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if !c.Final() {
		if t := d.node.cfg.Traces.Trace(c); t != nil {
			return t, nil
		}
	}
	row := &domain.TraceRow{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := d.store.Get(ctx, row); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, record.StoreError(err)
	}
	return row.Unpack()
}
