// Package administration administers the workspaces, users, keys and the store of a
// service: directly on an opened store, through the local socket of a running
// process, or through the API of a service elsewhere.
package administration

import (
	"context"

	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/restorequarantine"
)

// Administration is what the commands need: the running service's, or a stopped
// store's.
type Administration interface {
	CreateKey(ctx context.Context, k NewKey) (CreatedKey, error)
	ListKeys(ctx context.Context, workspace string) ([]*domain.APIKey, error)
	RevokeKey(ctx context.Context, o KeyRevocation) (RevokedKey, error)
	Recount(ctx context.Context, o RecountRequest) ([]billing.LedgerCheck, error)
	Backup(ctx context.Context, o BackupRequest) (backup.Manifest, error)
	StoreRequirement(ctx context.Context) (persistence.Requirement, error)
	Quarantine(ctx context.Context) (*restorequarantine.Quarantine, error)
	ReleaseQuarantine(ctx context.Context) (*restorequarantine.Quarantine, error)
	Accounts
}

// Accounts is what the commands for workspaces and users need.
type Accounts interface {
	CreateWorkspace(ctx context.Context, n NewWorkspace) (CreatedWorkspace, error)
	ListWorkspaces(ctx context.Context) ([]*domain.Workspace, error)
	DeleteWorkspace(ctx context.Context, id string) error
	CreateUser(ctx context.Context, n NewUser) (*domain.User, error)
	ListUsers(ctx context.Context, workspace string) ([]*domain.User, error)
	CreateSignInLink(ctx context.Context, userID string) (SignInLink, error)
}
