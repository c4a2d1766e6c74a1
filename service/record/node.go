package record

import (
	"context"

	"github.com/callboard/callboard/domain"
)

// Workspaces finds the workspaces whose actors run on this node.
type Workspaces interface {
	// Workspace returns a workspace as it was last committed; nil if it is unknown.
	Workspace(id string) *domain.Workspace
	// WorkspaceNotFound is the error for an unknown workspace: not_found, or
	// unavailable while the node loads its workspaces.
	WorkspaceNotFound() error
}

// Outbox delivers committed events.
type Outbox interface {
	// Committed says that events of a workspace were committed.
	Committed(workspaceID string)
}

// URLChecker decides which URLs the service may call.
type URLChecker interface {
	// CheckURL returns an error with the field param for a URL that is not allowed.
	CheckURL(ctx context.Context, param, url string) error
}
