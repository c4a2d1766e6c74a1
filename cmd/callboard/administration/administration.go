// Package administration manages the workspaces, users, API keys and the store of a service. It works on an opened
// store, through the local socket of a running process, or through the API of a remote service.
package administration

import (
	"context"

	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/restorequarantine"
)

// Administration is the interface of the administrative commands. It has one implementation for each of the three
// ways to reach a service.
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

// Accounts is the part of Administration for workspaces and users.
type Accounts interface {
	CreateWorkspace(ctx context.Context, n NewWorkspace) (CreatedWorkspace, error)
	ListWorkspaces(ctx context.Context) ([]*domain.Workspace, error)
	DeleteWorkspace(ctx context.Context, id string) error
	CreateUser(ctx context.Context, n NewUser) (*domain.User, error)
	ListUsers(ctx context.Context, workspace string) ([]*domain.User, error)
	CreateSignInLink(ctx context.Context, userID string) (SignInLink, error)
}
