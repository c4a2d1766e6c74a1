package node

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// redactionCache is what the patterns of a workspace's record were made into.
type redactionCache struct {
	mu        sync.Mutex
	workspace *domain.Workspace
	redactor  *domain.Redactor
}

// redactor takes out of words what the workspace does not want kept now.
func (t *workspaceTree) redactor() *domain.Redactor {
	w := t.record.Load()
	t.redaction.mu.Lock()
	defer t.redaction.mu.Unlock()
	if t.redaction.workspace != w {
		t.redaction.workspace, t.redaction.redactor = w, w.Redaction.Redactor()
	}
	return t.redaction.redactor
}

// Redactor returns the redactor of a workspace.
func (n *Node) Redactor(workspaceID string) (*domain.Redactor, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return t.redactor(), nil
}
