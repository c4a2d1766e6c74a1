package node

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// redactionCache is the compiled redactor of a workspace's patterns.
type redactionCache struct {
	mu        sync.Mutex
	workspace *domain.Workspace
	redactor  *domain.Redactor
}

// redactor returns the redactor for the current patterns of the workspace. It compiles changed patterns again.
func (t *workspaceTree) redactor() *domain.Redactor {
	w := t.record.Load()
	t.redaction.mu.Lock()
	defer t.redaction.mu.Unlock()
	if t.redaction.workspace != w {
		t.redaction.workspace, t.redaction.redactor = w, w.Redaction.Redactor()
	}
	return t.redaction.redactor
}

// Redactor returns the redactor of a workspace, which removes texts that must not be stored.
func (n *Node) Redactor(workspaceID string) (*domain.Redactor, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return t.redactor(), nil
}
