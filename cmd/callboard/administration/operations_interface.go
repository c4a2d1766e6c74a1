// Package administration manages the workspaces, users, API keys and the store of a service. It uses the opened store,
// the local socket of a running process, or the API of a remote service.
package administration

import (
	"context"

	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/restorequarantine"
)

// Administration provides the administrative operations of a service. It has one implementation for each way to reach
// the service: the opened store, the local socket and the API.
type Administration interface {
	// CreateKey creates an API key and returns it with its secret.
	CreateKey(ctx context.Context, k NewKey) (CreatedKey, error)
	// ListKeys returns the API keys of a workspace; an empty id means all workspaces.
	ListKeys(ctx context.Context, workspace string) ([]*domain.APIKey, error)
	// RevokeKey revokes an API key. If the request says so, it also deletes the resources that the key created.
	RevokeKey(ctx context.Context, o KeyRevocation) (RevokedKey, error)
	// Recount compares the usage counters with the stored call attempts. If the request says so, it repairs the counters.
	Recount(ctx context.Context, o RecountRequest) ([]billing.LedgerCheck, error)
	// Backup writes a backup of the embedded store.
	Backup(ctx context.Context, o BackupRequest) (backup.Manifest, error)
	// StoreRequirement returns the program version that is required to open the store.
	StoreRequirement(ctx context.Context) (persistence.Requirement, error)
	// Quarantine returns the quarantine state of a store that was restored from a backup.
	Quarantine(ctx context.Context) (*restorequarantine.Quarantine, error)
	// ReleaseQuarantine ends the quarantine of a restored store, so that the service sends requests and places calls again.
	ReleaseQuarantine(ctx context.Context) (*restorequarantine.Quarantine, error)
	Accounts
}

// Accounts contains the operations of Administration for workspaces and users.
type Accounts interface {
	// CreateWorkspace creates a workspace with its first API key.
	CreateWorkspace(ctx context.Context, n NewWorkspace) (CreatedWorkspace, error)
	// ListWorkspaces returns all workspaces.
	ListWorkspaces(ctx context.Context) ([]*domain.Workspace, error)
	// DeleteWorkspace deletes a workspace with everything in it.
	DeleteWorkspace(ctx context.Context, id string) error
	// CreateUser creates a dashboard user.
	CreateUser(ctx context.Context, n NewUser) (*domain.User, error)
	// ListUsers returns the users of a workspace; an empty id means all workspaces.
	ListUsers(ctx context.Context, workspace string) ([]*domain.User, error)
	// CreateSignInLink creates a link that signs a user in once.
	CreateSignInLink(ctx context.Context, userID string) (SignInLink, error)
}
