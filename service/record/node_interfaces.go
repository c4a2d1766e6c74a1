package record

import (
	"context"

	"github.com/callboard/callboard/domain"
)

// Workspaces returns the workspaces whose actors run on this node.
type Workspaces interface {
	// Workspace returns the last committed version of a workspace; nil if the workspace is unknown.
	Workspace(id string) *domain.Workspace
	// WorkspaceNotFound returns the error for an unknown workspace: unavailable while the node loads its
	// workspaces, otherwise not_found.
	WorkspaceNotFound() error
}

// Outbox delivers committed events.
type Outbox interface {
	// Committed reports that events of a workspace were committed.
	Committed(workspaceID string)
}

// URLChecker decides which URLs the service may call.
type URLChecker interface {
	// CheckURL returns an error if the service may not call url. param is the request field that the error names.
	CheckURL(ctx context.Context, param, url string) error
}
