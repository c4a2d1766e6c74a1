package workspaces

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// LocalCommands are operator commands on the server itself, which need no credential. Each command commits its
// own audit entry. Audit entries of API requests are recorded by httpapi.
type LocalCommands struct{ service *Service }

// Local returns the operator commands on the server itself.
func (s *Service) Local() LocalCommands { return LocalCommands{s} }

// withAuditEntry returns a function that adds an audit entry about a workspace to a commit. The entry goes to the audit
// log of the workspace workspaceID.
func withAuditEntry(workspaceID, action string, on *domain.Workspace) func(*commit.Change) {
	return func(c *commit.Change) {
		c.Puts = append(c.Puts, record.Author{}.AuditEntry(workspaceID, domain.Live, "admin", action, domain.Resource{Type: "workspace", ID: on.ID}))
	}
}

// withCreationEntry returns a function that adds the audit entry about a workspace's creation to a commit.
func withCreationEntry(w *domain.Workspace) func(*commit.Change) {
	return func(c *commit.Change) { withAuditEntry(w.ID, "workspace.created", w)(c) } // w.ID is set before the commit
}

// CreateWorkspace calls Service.CreateWorkspace and commits an audit entry.
func (l LocalCommands) CreateWorkspace(ctx context.Context, w *domain.Workspace) (created *domain.Workspace, key *domain.APIKey, text string, err error) {
	return l.service.create(ctx, w, withCreationEntry(w))
}

// DeleteWorkspace calls Service.DeleteWorkspace. The audit entry goes to the workspace auditedIn, because the deletion
// erases the audit log of the deleted workspace.
func (l LocalCommands) DeleteWorkspace(ctx context.Context, id, auditedIn string) error {
	return l.service.delete(ctx, domain.Principal{Operator: true}, id, withAuditEntry(auditedIn, "workspace.deleted", &domain.Workspace{Meta: domain.Meta{ID: id}}))
}
