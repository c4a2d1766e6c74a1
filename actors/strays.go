package actors

import (
	"context"
	"errors"
	"strings"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// Strays finds blobs that were deleted while the node that has them was away.
type Strays interface {
	// Stray looks at what nodes have of a workspace that were not looked at yet, and
	// deletes what no row wants; what no row names, only where it is old.
	Stray(ctx context.Context, workspace string, kept func(ctx context.Context, name string) (named, wanted bool, err error)) error
}

func (d *Desk) sweepStrays(ctx context.Context, workspaceID string) error {
	if d.node.cfg.Strays == nil {
		return nil
	}
	return d.node.cfg.Strays.Stray(ctx, workspaceID, func(ctx context.Context, name string) (named, wanted bool, err error) {
		return d.keeps(ctx, workspaceID, name)
	})
}

// keeps says whether a row tells of a blob, and whether there is to be one by that.
func (d *Desk) keeps(ctx context.Context, workspaceID, name string) (named, wanted bool, err error) {
	id, _, _ := strings.Cut(name, ".")
	switch {
	case strings.HasPrefix(id, string(domain.PrefixCall)+"_") && name == call.RecordingName(id):
		c := &domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
		if _, err = d.store.Get(ctx, c); err == nil {
			return true, c.RecordingDeletedAt == nil, nil
		}
	case strings.HasPrefix(id, string(domain.PrefixExport)+"_"):
		e := &domain.Export{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
		if _, err = d.store.Get(ctx, e); err == nil {
			return true, e.Status != domain.ExportExpired, nil
		}
	default:
		return true, true, nil // nothing of ours
	}
	if errors.Is(err, domain.ErrNotFound) {
		err = nil
	}
	return false, false, err
}

// Gather fetches what other nodes have of recordings of a workspace, if it is here.
func (n *Node) Gather(workspaceID string) {
	n.mu.RLock()
	t := n.spaces[workspaceID]
	n.mu.RUnlock()
	if t != nil {
		n.sys.Root.Send(t.calls, call.Gather{})
	}
}
