package node

import (
	"context"
	"errors"
	"slices"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
)

// transferTargets finds the number or phone that a call is transferred to.
type transferTargets struct {
	destinations destinationChecker
	dnc          DNC
	phones       Phones
}

// destinationChecker checks numbers against the destination rules of a workspace.
type destinationChecker interface {
	// checkDestination checks that the workspace may call a number and returns the number in E.164. Errors:
	// destination_not_allowed, spend_cap_reached.
	checkDestination(ctx context.Context, p domain.Principal, to string) (e164 string, err error)
}

// FindTransferTarget returns the target of a transfer: a number that the workspace's destination rules allow, or a
// phone of the workspace. Errors name the request field that is invalid.
func (t *transferTargets) FindTransferTarget(ctx context.Context, c *domain.Call, rules *domain.AgentTransfer, to call.TransferDestination) (transferleg.Target, error) {
	if to.Destination != "" {
		d, known := rules.Find(to.Destination)
		if !known { // a number that the agent took from the caller's words
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

// findTextTarget returns the transfer target for a text that is either a phone number or the extension of a phone.
func (t *transferTargets) findTextTarget(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	if _, isPhone := domain.ParsePhoneUser(text); isPhone {
		return t.findPhoneTarget(ctx, c, text, param)
	}
	return t.findNumberTarget(ctx, c, text, param)
}

// findNumberTarget returns a phone number as the transfer target. The number must pass the destination rules and
// the do-not-call lists.
func (t *transferTargets) findNumberTarget(ctx context.Context, c *domain.Call, text, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to, err := t.destinations.checkDestination(ctx, p, text)
	if err == nil {
		err = t.dnc.CheckNotListed(ctx, p, to)
	}
	return transferleg.Target{To: to}, withParam(param, err)
}

// findPhoneTarget returns the phone with an extension or id as the transfer target. Destination rules do not apply to
// the phones of the workspace.
func (t *transferTargets) findPhoneTarget(ctx context.Context, c *domain.Call, name, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to := name
	if id, err := domain.ParseID(domain.PrefixPhone, name); err == nil {
		phone, notFound := t.phones.Phone(ctx, p, id)
		if domain.CodeOf(notFound) == domain.CodeNotFound {
			return transferleg.Target{}, domain.FieldError(param, domain.CodeValidation, "there is no such phone")
		}
		if notFound != nil {
			return transferleg.Target{}, notFound
		}
		to = phone.Extension
	}
	found, isPhone, err := t.phones.FindRegistered(ctx, p, to)
	switch {
	case err != nil:
		return transferleg.Target{}, withParam(param, err)
	case !isPhone:
		return transferleg.Target{}, domain.FieldError(param, domain.CodeValidation, "is neither the extension nor the id of a phone")
	}
	return transferleg.Target{To: found.Phone.Extension, Phone: &transferleg.Phone{To: found.Phone.Extension, Contacts: found.Contacts, Media: found.Phone.MediaTrunk()}}, nil
}

// withParam returns a copy of an error that names param as the invalid field of the request.
func withParam(param string, err error) error {
	e, ok := errors.AsType[*domain.Error](err)
	if !ok || e.Param == "" && len(e.Details) == 0 {
		return err
	}
	named := *e
	named.Param, named.Details = param, slices.Clone(e.Details)
	for i := range named.Details {
		named.Details[i].Param = param
	}
	return &named
}
