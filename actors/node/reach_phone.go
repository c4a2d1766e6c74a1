package node

import (
	"context"

	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
)

// findPhoneTarget finds the phone of an extension or an id. Inside the workspace
// the rules for destinations do not apply.
func (n *Node) findPhoneTarget(ctx context.Context, c *domain.Call, name, param string) (transferleg.Target, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to := name
	if id, err := domain.ParseID(domain.PrefixPhone, name); err == nil {
		x, gone := n.services.Phones.Phone(ctx, p, id)
		if domain.CodeOf(gone) == domain.CodeNotFound {
			return transferleg.Target{}, domain.FieldError(param, domain.CodeValidation, "there is no such phone")
		}
		if gone != nil {
			return transferleg.Target{}, gone
		}
		to = x.Extension
	}
	found, inside, err := n.services.Phones.FindRegistered(ctx, p, to)
	switch {
	case err != nil:
		return transferleg.Target{}, blaming(param, err)
	case !inside:
		return transferleg.Target{}, domain.FieldError(param, domain.CodeValidation, "is neither the extension nor the id of a phone")
	}
	return transferleg.Target{To: found.Phone.Extension, Phone: &transferleg.Phone{To: found.Phone.Extension, Contacts: found.Contacts, Media: found.Phone.MediaTrunk()}}, nil
}
