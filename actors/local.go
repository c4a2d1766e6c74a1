package actors

import (
	"cmp"
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
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
func local(workspace, kind, action string, on domain.Resource) func(*commit.Change) {
	return func(c *commit.Change) {
		c.Puts = append(c.Puts, Author{}.says(workspace, domain.Live, kind, action, on))
	}
}

// CreateWorkspace is that of a running service.
func (l Local) CreateWorkspace(ctx context.Context, w *domain.Workspace) (made *domain.Workspace, key *domain.APIKey, text string, err error) {
	return l.desk.createWorkspace(ctx, w, func(c *commit.Change) {
		local(w.ID, "admin", "workspace.created", domain.Resource{Type: "workspace", ID: w.ID})(c)
	})
}

// DeleteWorkspace is that of a running service; the audit log of another
// workspace tells it, for its own goes along.
func (l Local) DeleteWorkspace(ctx context.Context, id, other string) error {
	return l.desk.deleteWorkspace(ctx, domain.Principal{Operator: true}, id, local(other, "admin", "workspace.deleted", domain.Resource{Type: "workspace", ID: id}))
}

// CreateUser keeps a new user of a workspace.
func (l Local) CreateUser(ctx context.Context, workspace string, u *domain.User) (*domain.User, error) {
	return l.desk.createUser(ctx, domain.Principal{WorkspaceID: workspace, Environment: cmp.Or(u.Environment, domain.Live), Operator: true}, u, func(c *commit.Change) {
		local(workspace, "admin", "user.created", domain.Resource{Type: "user", ID: u.ID})(c)
	})
}

// SignInLink makes what a link needs to sign a user in, once.
func (l Local) SignInLink(ctx context.Context, u *domain.User) (text string, until time.Time, err error) {
	p := domain.Principal{WorkspaceID: u.WorkspaceID, Environment: u.Environment, Operator: true}
	return l.desk.signInLink(ctx, p, u.ID, anybody, local(u.WorkspaceID, "auth", "user.sign_in_link_created", domain.Resource{Type: "user", ID: u.ID}))
}

// anybody of the users: who is at the machine itself disposes of each.
func anybody(*domain.User) error { return nil }

// RevokeKey revokes a key of any workspace of the install, and with cascade ends
// what it created. Errors: not_found.
func (l Local) RevokeKey(ctx context.Context, id string, cascade bool) (ask.RevokeKeyResult, error) {
	key := l.desk.keys.known(id)
	if key == nil {
		return ask.RevokeKeyResult{}, record.NotFound("API key")
	}
	return l.desk.revokeKey(ctx, Author{}, key, ask.RevokeKeyRequest{Cascade: cascade})
}
