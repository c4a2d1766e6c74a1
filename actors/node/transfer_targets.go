package node

import (
	"context"
	"errors"
	"slices"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
)

// transferTargets finds to whom a caller is transferred.
type transferTargets struct {
	destinations destinationChecker
	dnc          DNC
	phones       Phones
}

// destinationChecker checks numbers by the rules of a workspace for destinations.
type destinationChecker interface {
	// checkDestination returns a number in E.164. Errors: destination_not_allowed,
	// spend_cap_reached.
	checkDestination(ctx context.Context, p domain.Principal, to string) (e164 string, err error)
}

// FindTransferTarget finds to whom a caller is transferred: a number within the rules
// of the workspace for destinations, or a phone.
func (t *transferTargets) FindTransferTarget(ctx context.Context, c *domain.Call, rules *domain.AgentTransfer, to call.TransferDestination) (transferleg.Target, error) {
	if to.Destination != "" {
		d, known := rules.Find(to.Destination)
		if !known { // a number, filled in from what the caller said
			return t.findTextTarget(ctx, c, to.Destination, "destination")
		}
		target, err := t.FindTransferTarget(ctx, c, rules, call.TransferDestination{To: d.To, Phone: d.Phone})
		target.Name, target.Mode = d.Name, d.Mode
		return target, err
	}
	if to.Phone != "" {
		return t.findPhoneTarget(ctx, c, to.Phone, "phone")
	}
	return t.findTextTarget(ctx, c, to.To, "to")
}

// findTextTarget is a number, or the extension of a phone.
func (t *transferTargets) findTextTarget(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	if _, inside := domain.ParsePhoneUser(text); inside {
		return t.findPhoneTarget(ctx, c, text, param)
	}
	return t.findNumberTarget(ctx, c, text, param)
}

// findNumberTarget asks whether a number may be called at all.
func (t *transferTargets) findNumberTarget(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to, err := t.destinations.checkDestination(ctx, p, text)
	if err == nil {
		err = t.dnc.CheckNotListed(ctx, p, to)
	}
	return transferleg.Target{To: to}, withParam(param, err)
}

// findPhoneTarget finds the phone of an extension or an id. Inside the workspace
// the rules for destinations do not apply.
func (t *transferTargets) findPhoneTarget(ctx context.Context, c *domain.Call, name, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to := name
	if id, err := domain.ParseID(domain.PrefixPhone, name); err == nil {
		x, gone := t.phones.Phone(ctx, p, id)
		if domain.CodeOf(gone) == domain.CodeNotFound {
			return transferleg.Target{}, domain.FieldError(param, domain.CodeValidation, "there is no such phone")
		}
		if gone != nil {
			return transferleg.Target{}, gone
		}
		to = x.Extension
	}
	found, inside, err := t.phones.FindRegistered(ctx, p, to)
	switch {
	case err != nil:
		return transferleg.Target{}, withParam(param, err)
	case !inside:
		return transferleg.Target{}, domain.FieldError(param, domain.CodeValidation, "is neither the extension nor the id of a phone")
	}
	return transferleg.Target{To: found.Phone.Extension, Phone: &transferleg.Phone{To: found.Phone.Extension, Contacts: found.Contacts, Media: found.Phone.MediaTrunk()}}, nil
}

// withParam names the field of a request that an error is about.
func withParam(param string, err error) error {
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
