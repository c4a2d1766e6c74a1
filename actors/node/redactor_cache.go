package node

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// redactionCache caches the redactor that was compiled from the redaction patterns of a workspace.
type redactionCache struct {
	mu        sync.Mutex
	workspace *domain.Workspace
	redactor  *domain.Redactor
}

// redactor returns the redactor for the current patterns of the workspace. It compiles a new one if the settings
// have changed.
func (t *workspaceTree) redactor() *domain.Redactor {
	w := t.record.Load()
	t.redaction.mu.Lock()
	defer t.redaction.mu.Unlock()
	if t.redaction.workspace != w {
		t.redaction.workspace, t.redaction.redactor = w, w.Redaction.Redactor()
	}
	return t.redaction.redactor
}

// Redactor returns the redactor of a workspace, which removes texts that the workspace's settings forbid to store.
func (n *Node) Redactor(workspaceID string) (*domain.Redactor, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return t.redactor(), nil
}
