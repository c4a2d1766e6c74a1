// Package recordtest has fakes of what all services call, for their tests.
package recordtest

import (
	"errors"
	"sync/atomic"

	"github.com/callboard/callboard/domain"
)

// Ids of two workspaces.
const (
	Workspace      = "ws_01JZZZZZZZZZZZZZZZZZZZZZZ1"
	OtherWorkspace = "ws_01JZZZZZZZZZZZZZZZZZZZZZZ2"
)

// Live returns a principal of the live environment of a workspace.
func Live(workspace string) domain.Principal {
	return domain.Principal{WorkspaceID: workspace, Environment: domain.Live}
}

// Workspaces are the workspaces of a node, by id.
type Workspaces map[string]*domain.Workspace

// Workspace returns a workspace; nil if it is unknown.
func (w Workspaces) Workspace(id string) *domain.Workspace { return w[id] }

// WorkspaceNotFound is not_found.
func (Workspaces) WorkspaceNotFound() error { return domain.NotFound("workspace") }

// Outbox counts the commits that services report to it.
type Outbox struct{ atomic.Int32 }

// Committed counts.
func (o *Outbox) Committed(string) { o.Add(1) }

// Param returns the field that an error names; "" if it names none.
func Param(err error) string {
	e, ok := errors.AsType[*domain.Error](err)
	switch {
	case !ok:
		return ""
	case e.Param == "" && len(e.Details) > 0:
		return e.Details[0].Param
	}
	return e.Param
}
