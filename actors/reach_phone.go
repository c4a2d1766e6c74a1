package actors

import (
	"context"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// reachPhone finds the phone of an extension or an id.
func (n *Node) reachPhone(context.Context, *domain.Call, string) (call.Way, error) {
	return call.Way{}, problem("phone", domain.CodeValidation, "there is no such phone")
}
