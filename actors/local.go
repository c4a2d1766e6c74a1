package actors

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Local acts for the operator at the machine itself, who has no credential. The
// front door notes what others do to workspaces and users; of this it does not
// know, so each act is in the audit log by its own commit.
type Local struct{ desk *Desk }

// Local is the desk for the operator at the machine itself.
func (d *Desk) Local() Local { return Local{d} }

// local adds to a commit what a workspace's audit log says of it.
func local(workspace, action string, on domain.Resource) func(*commit.Change) {
	return func(c *commit.Change) {
		c.Puts = append(c.Puts, record.Author{}.AuditEntry(workspace, domain.Live, "admin", action, on))
	}
}

// CreateWorkspace is that of a running service.
func (l Local) CreateWorkspace(ctx context.Context, w *domain.Workspace) (made *domain.Workspace, key *domain.APIKey, text string, err error) {
	return l.desk.createWorkspace(ctx, w, func(c *commit.Change) {
		local(w.ID, "workspace.created", domain.Resource{Type: "workspace", ID: w.ID})(c)
	})
}

// DeleteWorkspace is that of a running service; the audit log of another
// workspace tells it, for its own goes along.
func (l Local) DeleteWorkspace(ctx context.Context, id, other string) error {
	return l.desk.deleteWorkspace(ctx, domain.Principal{Operator: true}, id, local(other, "workspace.deleted", domain.Resource{Type: "workspace", ID: id}))
}
