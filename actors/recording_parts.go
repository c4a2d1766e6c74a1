package actors

import (
	"context"
	"errors"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
)

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

// JoinRecordingParts has the calls of a workspace join the parts of recordings in the spool.
func (n *Node) JoinRecordingParts(workspaceID string) {
	if t := n.tree(workspaceID); t != nil {
		n.sys.Root.Send(t.calls, recording.JoinParts{})
	}
}
