package actors

import (
	"context"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// reachPhone finds the phone of an extension or an id. Inside the workspace
// the rules for destinations do not apply.
func (n *Node) reachPhone(ctx context.Context, c *domain.Call, name, param string) (call.Way, error) {
	p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
	to := name
	if id, err := domain.ParseID(domain.PrefixPhone, name); err == nil {
		x, err := n.desk.Phone(ctx, p, id)
		if domain.CodeOf(err) == domain.CodeNotFound {
			return call.Way{}, problem(param, domain.CodeValidation, "there is no such phone")
		}
		if err != nil {
			return call.Way{}, err
		}
		to = x.Extension
	}
	found, inside, err := n.desk.ring(ctx, p, to)
	if e, ok := errorOf(err); ok {
		blamed := *e
		if blamed.Param != "" {
			blamed.Param = param
		}
		for i := range blamed.Details {
			blamed.Details[i].Param = param
		}
		return call.Way{}, &blamed
	}
	switch {
	case err != nil:
		return call.Way{}, err
	case !inside:
		return call.Way{}, problem(param, domain.CodeValidation, "is neither the extension nor the id of a phone")
	}
	return call.Way{To: found.Phone.Extension, Phone: &call.PhoneWay{To: found.Phone.Extension, Contacts: found.Contacts}}, nil
}
