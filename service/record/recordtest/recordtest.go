// Package recordtest provides fakes and test data for the tests of services.
package recordtest

import (
	"errors"
	"sync/atomic"

	"github.com/callboard/callboard/domain"
)

// Workspace ids for tests.
const (
	Workspace      = "ws_01JZZZZZZZZZZZZZZZZZZZZZZ1"
	OtherWorkspace = "ws_01JZZZZZZZZZZZZZZZZZZZZZZ2"
)

// Live returns a principal in the live environment of a workspace.
func Live(workspace string) domain.Principal {
	return domain.Principal{WorkspaceID: workspace, Environment: domain.Live}
}

// Workspaces is a fake of record.Workspaces: workspaces by id.
type Workspaces map[string]*domain.Workspace

// Workspace returns the workspace with this id; nil if the fake does not contain it.
func (w Workspaces) Workspace(id string) *domain.Workspace { return w[id] }

// WorkspaceNotFound returns an error with the code not_found.
func (Workspaces) WorkspaceNotFound() error { return domain.NotFound("workspace") }

// Outbox is a fake of record.Outbox. Its value is the number of Committed calls.
type Outbox struct{ atomic.Int32 }

// Committed adds 1 to the number of Committed calls. It ignores the workspace id.
func (o *Outbox) Committed(string) { o.Add(1) }

// ErrorField returns the field that an API error names, from the error or from its first detail; "" if there is none.
func ErrorField(err error) string {
	e, ok := errors.AsType[*domain.Error](err)
	switch {
	case !ok:
		return ""
	case e.Param == "" && len(e.Details) > 0:
		return e.Details[0].Param
	}
	return e.Param
}
