package record

import (
	"context"

	"github.com/callboard/callboard/domain"
)

// Workspaces returns the workspaces whose actors run on this node.
type Workspaces interface {
	// Workspace returns the last committed version of a workspace, or nil if the workspace is unknown.
	Workspace(id string) *domain.Workspace
	// WorkspaceNotFound returns the error for an unknown workspace. It is unavailable while the node loads its workspaces,
	// otherwise not_found.
	WorkspaceNotFound() error
}

// Outbox delivers committed events to webhook endpoints.
type Outbox interface {
	// Committed notifies the outbox that events of a workspace were committed.
	Committed(workspaceID string)
}

// URLChecker decides which URLs this service may send requests to.
type URLChecker interface {
	// CheckURL returns an error if this service may not send requests to url. The error names the request field param.
	CheckURL(ctx context.Context, param, url string) error
}
