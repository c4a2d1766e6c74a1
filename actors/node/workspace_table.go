package node

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
)

// workspaceTable contains the workspaces that run on the node, with the actors of each.
type workspaceTable struct {
	mu     sync.RWMutex
	trees  map[string]*workspaceTree // by workspace id
	loaded atomic.Bool               // all workspaces that Start has read are in trees
}

// workspaceTree holds the actors and the cached settings of one workspace.
type workspaceTree struct {
	outbound, tests, inbound, trunks, calls, campaigns, webhooks, outbox, phones, numbers *actor.PID // tests grants the permits of outbound test calls

	record    atomic.Pointer[domain.Workspace]
	redaction redactionCache
	dialogs   abandonedDialogs
	// settingsMu is held while a change of the settings is committed and the actors are notified. The actors therefore
	// receive changes in the order of the commits.
	settingsMu sync.Mutex
}

// outboundLines returns the actor that grants permits for outbound calls of an environment.
func (t *workspaceTree) outboundLines(env domain.Environment) *actor.PID {
	if env == domain.Test {
		return t.tests
	}
	return t.outbound
}

// add adds the actors of a workspace to the table.
func (w *workspaceTable) add(id string, t *workspaceTree) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trees[id] = t
}

// remove removes a workspace from the table and returns its actors. It returns nil if the workspace is unknown.
func (w *workspaceTable) remove(id string) *workspaceTree {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trees[id]
	delete(w.trees, id)
	return t
}

// removeAll removes all workspaces from the table and returns their actors by workspace id.
func (w *workspaceTable) removeAll() map[string]*workspaceTree {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.trees
	w.trees = make(map[string]*workspaceTree)
	return all
}

// allTrees returns the actors of all workspaces.
func (w *workspaceTable) allTrees() []*workspaceTree {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Collect(maps.Values(w.trees))
}

// tree returns the actors of a workspace. It returns nil if the workspace is unknown.
func (w *workspaceTable) tree(workspaceID string) *workspaceTree {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.trees[workspaceID]
}

// workspaceActors returns the actors of a workspace. Its errors are those of WorkspaceNotFound.
func (w *workspaceTable) workspaceActors(workspaceID string) (*workspaceTree, error) {
	if t := w.tree(workspaceID); t != nil {
		return t, nil
	}
	return nil, w.WorkspaceNotFound()
}

// WorkspaceNotFound returns the error for an unknown workspace: not_found, or unavailable while the node is loading
// workspaces.
func (w *workspaceTable) WorkspaceNotFound() error {
	if w.loaded.Load() {
		return domain.NotFound("workspace")
	}
	return domain.Errorf(domain.CodeUnavailable, "the workspace is being loaded; try again").With("retry_after", 1)
}

// Workspace returns the last committed settings of a workspace; nil if the workspace is unknown.
func (w *workspaceTable) Workspace(id string) *domain.Workspace {
	if t := w.tree(id); t != nil {
		return t.record.Load()
	}
	return nil
}

// LockSettings locks the settings of a workspace until unlock is called. The caller commits a change and notifies the
// actors before it unlocks, so that the actors receive changes in the order of the commits.
func (w *workspaceTable) LockSettings(workspaceID string) (unlock func(), err error) {
	t, err := w.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	t.settingsMu.Lock()
	return t.settingsMu.Unlock, nil
}

// CallsPID returns the actor that owns the live calls of a workspace. Its errors are those of WorkspaceNotFound.
func (w *workspaceTable) CallsPID(workspaceID string) (*actor.PID, error) {
	return w.workspacePID(workspaceID, func(t *workspaceTree) *actor.PID { return t.calls })
}

// TrunksPID returns the actor of a workspace's trunks. Its errors are those of WorkspaceNotFound.
func (w *workspaceTable) TrunksPID(workspaceID string) (*actor.PID, error) {
	return w.workspacePID(workspaceID, func(t *workspaceTree) *actor.PID { return t.trunks })
}

// NumbersPID returns the actor that decides which phone numbers a workspace may call now. Its errors are those of
// WorkspaceNotFound.
func (w *workspaceTable) NumbersPID(workspaceID string) (*actor.PID, error) {
	return w.workspacePID(workspaceID, func(t *workspaceTree) *actor.PID { return t.numbers })
}

// OutboundLinesPID returns the actor that grants permits for outbound calls of an environment. Its errors are those
// of WorkspaceNotFound.
func (w *workspaceTable) OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error) {
	return w.workspacePID(workspaceID, func(t *workspaceTree) *actor.PID { return t.outboundLines(env) })
}

// InboundLinesPID returns the actor that grants permits for inbound calls. Its errors are those of
// WorkspaceNotFound.
func (w *workspaceTable) InboundLinesPID(workspaceID string) (*actor.PID, error) {
	return w.workspacePID(workspaceID, func(t *workspaceTree) *actor.PID { return t.inbound })
}

// workspacePID returns the actor of a workspace that the function of selects. Its errors are those of
// WorkspaceNotFound.
func (w *workspaceTable) workspacePID(workspaceID string, of func(*workspaceTree) *actor.PID) (*actor.PID, error) {
	t, err := w.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return of(t), nil
}

// WorkspaceCount returns the number of workspaces that run on this node.
func (w *workspaceTable) WorkspaceCount() int {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return len(w.trees)
}

// WorkspaceIDs returns the ids of the workspaces that run on this node.
func (w *workspaceTable) WorkspaceIDs() []string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	ids := make([]string, 0, len(w.trees))
	for id := range w.trees {
		ids = append(ids, id)
	}
	return ids
}

// HasWorkspace reports whether the node serves a workspace.
func (w *workspaceTable) HasWorkspace(id string) bool { return w.tree(id) != nil }
