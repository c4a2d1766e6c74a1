package node

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/workspace"
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
	return n.workspacePID(workspaceID, func(t *tree) *actor.PID { return t.calls })
}

// TrunksPID returns the actor of a workspace's trunks. Errors: as WorkspaceNotFound.
func (n *Node) TrunksPID(workspaceID string) (*actor.PID, error) {
	return n.workspacePID(workspaceID, func(t *tree) *actor.PID { return t.trunks })
}

// NumbersPID returns the actor that decides which numbers a workspace may call now.
// Errors: as WorkspaceNotFound.
func (n *Node) NumbersPID(workspaceID string) (*actor.PID, error) {
	return n.workspacePID(workspaceID, func(t *tree) *actor.PID { return t.numbers })
}

// OutboundLinesPID returns the actor that grants permits for outbound calls of an
// environment. Errors: as WorkspaceNotFound.
func (n *Node) OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error) {
	return n.workspacePID(workspaceID, func(t *tree) *actor.PID { return t.lines(env) })
}

// InboundLinesPID returns the actor that grants permits for inbound calls. Errors: as
// WorkspaceNotFound.
func (n *Node) InboundLinesPID(workspaceID string) (*actor.PID, error) {
	return n.workspacePID(workspaceID, func(t *tree) *actor.PID { return t.inbound })
}

func (n *Node) workspacePID(workspaceID string, of func(*tree) *actor.PID) (*actor.PID, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return of(t), nil
}

// WorkspaceCount returns the number of workspaces that run on this node.
func (n *Node) WorkspaceCount() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.spaces)
}

// WorkspaceIDs returns the ids of the workspaces that run on this node.
func (n *Node) WorkspaceIDs() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	ids := make([]string, 0, len(n.spaces))
	for id := range n.spaces {
		ids = append(ids, id)
	}
	return ids
}

// DetachWorkspace makes a workspace unknown. stop hangs up its calls and stops its
// actors; nil: it has none.
func (n *Node) DetachWorkspace(id string) (stop func(ctx context.Context)) {
	n.mu.Lock()
	t := n.spaces[id]
	delete(n.spaces, id)
	n.mu.Unlock()
	if t == nil {
		return nil
	}
	return func(ctx context.Context) {
		n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Drain{}})
		over, cancel := context.WithCancel(ctx) // no call may continue
		cancel()
		n.liveCalls().drain(over, t)
		n.stopActor(id)
	}
}

// ForgetWorkspace removes the trunks and phones of a deleted workspace from the
// inbound router.
func (n *Node) ForgetWorkspace(ctx context.Context, id string) {
	n.book.Set(ctx, n.book.Turn(), id, nil)
	n.phones.Set(id, nil)
}

// HasWorkspace reports whether the node serves a workspace.
func (n *Node) HasWorkspace(id string) bool { return n.tree(id) != nil }

// IsWorkspaceDeleted reports whether the store has no such workspace.
func (n *Node) IsWorkspaceDeleted(ctx context.Context, workspaceID string) (bool, error) {
	_, err := n.cfg.Store.Get(ctx, &domain.Workspace{Meta: domain.Meta{ID: workspaceID}})
	if errors.Is(err, domain.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// IsAlone reports whether the node serves all workspaces of the installation.
func (n *Node) IsAlone() bool { return n.cfg.Mine == nil }
