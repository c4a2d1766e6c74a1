package node

import (
	"context"
	"errors"
	"slices"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
)

// FindTransferTarget finds to whom a caller is transferred: a number within the rules
// of the workspace for destinations, or a phone.
func (n *Node) FindTransferTarget(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, w call.TransferDestination) (transferleg.Target, error) {
	if w.Destination != "" {
		d, known := t.Find(w.Destination)
		if !known { // a number, filled in from what the caller said
			return n.findTextTarget(ctx, c, w.Destination, "destination")
		}
		way, err := n.FindTransferTarget(ctx, c, t, call.TransferDestination{To: d.To, Phone: d.Phone})
		way.Name, way.Mode = d.Name, d.Mode
		return way, err
	}
	if w.Phone != "" {
		return n.findPhoneTarget(ctx, c, w.Phone, "phone")
	}
	return n.findTextTarget(ctx, c, w.To, "to")
}

// findTextTarget is a number, or the extension of a phone.
func (n *Node) findTextTarget(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	if _, inside := domain.PhoneUser(text); inside {
		return n.findPhoneTarget(ctx, c, text, param)
	}
	return n.findNumberTarget(ctx, c, text, param)
}

// findNumberTarget asks whether a number may be called at all.
func (n *Node) findNumberTarget(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to, err := n.checkDestination(ctx, p, text)
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
