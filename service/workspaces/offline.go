package workspaces

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Offline manages workspaces in a store on which no service runs.
type Offline struct {
	store commit.Store
	keys  Keys
}

// NewOffline returns the management of a store's workspaces.
func NewOffline(store commit.Store, keys Keys) *Offline { return &Offline{store, keys} }

// CreateWorkspace stores a workspace and creates its first key. The next start of the
// service starts its actors.
func (o *Offline) CreateWorkspace(ctx context.Context, w *domain.Workspace, testCarrier bool) (*domain.Workspace, *domain.APIKey, string, error) {
	key, text, err := createFirstKey(ctx, o.keys, w, record.RequestResourceID(ctx, domain.PrefixWorkspace))
	if err != nil {
		return nil, nil, "", err
	}
	return w, key, text, storeWorkspace(ctx, o.store, w, testCarrier, withCreationEntry(w))
}

// DeleteWorkspace deletes a workspace and adds it to the audit log of another one. The
// next start of the service erases its data.
func (o *Offline) DeleteWorkspace(ctx context.Context, id, auditedIn string) error {
	w := &domain.Workspace{Meta: domain.Meta{ID: id}}
	version, err := o.store.Get(ctx, w)
	if err != nil {
		return err
	}
	return commitDeletion(ctx, o.store, w, version, withAuditEntry(auditedIn, "workspace.deleted", w))
}
