package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
)

func (n *Node) tree(workspaceID string) *tree {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.spaces[workspaceID]
}

// workspaceActors is the tree of a workspace that is not gone.
func (n *Node) workspaceActors(workspaceID string) (*tree, error) {
	if t := n.tree(workspaceID); t != nil {
		return t, nil
	}
	return nil, n.WorkspaceNotFound()
}

// WorkspaceNotFound says that there is no such workspace, or that a node that has
// just started has not loaded it yet.
func (n *Node) WorkspaceNotFound() error {
	if n.loaded.Load() {
		return domain.NotFound("workspace")
	}
	return domain.Errorf(domain.CodeUnavailable, "the workspace is being loaded; try again").With("retry_after", 1)
}

// Workspace returns a workspace as it was last committed; nil if it is unknown.
func (n *Node) Workspace(id string) *domain.Workspace {
	if t := n.tree(id); t != nil {
		return t.record.Load()
	}
	return nil
}

// LockSettings keeps others from telling the actors of a workspace its settings
// until unlock is called: the actors hear changes in the order of their commits.
func (n *Node) LockSettings(workspaceID string) (unlock func(), err error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	t.changing.Lock()
	return t.changing.Unlock, nil
}

// CallsPID returns the actor that owns the live calls of a workspace. Errors: as
// WorkspaceNotFound.
func (n *Node) CallsPID(workspaceID string) (*actor.PID, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return t.calls, nil
}
