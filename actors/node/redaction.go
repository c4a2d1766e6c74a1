package node

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// redactionCache is what the patterns of a workspace's record were made into.
type redactionCache struct {
	mu       sync.Mutex
	of       *domain.Workspace
	redactor *domain.Redactor
}

// redactor takes out of words what the workspace does not want kept now.
func (t *tree) redactor() *domain.Redactor {
	w := t.record.Load()
	t.redacts.mu.Lock()
	defer t.redacts.mu.Unlock()
	if t.redacts.of != w {
		t.redacts.of, t.redacts.redactor = w, w.Redaction.Redactor()
	}
	return t.redacts.redactor
}

// Redactor returns the redactor of a workspace.
func (n *Node) Redactor(workspaceID string) (*domain.Redactor, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return nil, err
	}
	return t.redactor(), nil
}
