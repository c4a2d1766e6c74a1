package actors

import (
	"context"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// reachPhone finds the phone of an extension or an id. Inside the workspace
// the rules for destinations do not apply.
func (n *Node) reachPhone(ctx context.Context, c *domain.Call, name, param string) (call.Way, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to := name
	if id, err := domain.ParseID(domain.PrefixPhone, name); err == nil {
		x, gone := n.desk.Phone(ctx, p, id)
		if domain.CodeOf(gone) == domain.CodeNotFound {
			return call.Way{}, record.FieldError(param, domain.CodeValidation, "there is no such phone")
		}
		if gone != nil {
			return call.Way{}, gone
		}
		to = x.Extension
	}
	found, inside, err := n.desk.ring(ctx, p, to)
	switch {
	case err != nil:
		return call.Way{}, blaming(param, err)
	case !inside:
		return call.Way{}, record.FieldError(param, domain.CodeValidation, "is neither the extension nor the id of a phone")
	}
	return call.Way{To: found.Phone.Extension, Phone: &call.PhoneWay{To: found.Phone.Extension, Contacts: found.Contacts, Media: found.Phone.MediaTrunk()}}, nil
}
