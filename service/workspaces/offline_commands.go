package workspaces

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Offline creates and deletes workspaces in a store that no service has open.
type Offline struct {
	store commit.Store
	keys  Keys
}

// NewOffline returns an Offline of a store.
func NewOffline(store commit.Store, keys Keys) *Offline { return &Offline{store, keys} }

// CreateWorkspace stores a workspace with its first key. The next start of the service starts its actors.
func (o *Offline) CreateWorkspace(ctx context.Context, w *domain.Workspace, testCarrier bool) (*domain.Workspace, *domain.APIKey, string, error) {
	key, text, err := createFirstKey(ctx, o.keys, w, record.RequestResourceID(ctx, domain.PrefixWorkspace))
	if err != nil {
		return nil, nil, "", err
	}
	return w, key, text, storeWorkspace(ctx, o.store, w, testCarrier, withCreationEntry(w))
}

// DeleteWorkspace deletes a workspace and records the deletion in the audit log of the workspace auditedIn. The
// next start of the service erases the data.
func (o *Offline) DeleteWorkspace(ctx context.Context, id, auditedIn string) error {
	w := &domain.Workspace{Meta: domain.Meta{ID: id}}
	version, err := o.store.Get(ctx, w)
	if err != nil {
		return err
	}
	return commitDeletion(ctx, o.store, w, version, withAuditEntry(auditedIn, "workspace.deleted", w))
}
