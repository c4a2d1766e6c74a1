package actors

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
)

// Strays finds blobs that were deleted while the node that has them was away.
type Strays interface {
	// Stray looks at what nodes have of a workspace that were not looked at yet, and
	// deletes what nobody wants; age: since it was written.
	Stray(ctx context.Context, workspace string, wanted func(ctx context.Context, name string, age time.Duration) (bool, error)) error
}

func (d *Desk) sweepStrays(ctx context.Context, workspaceID string) error {
	d.node.gather(workspaceID, false)
	if d.node.cfg.Strays == nil {
		return nil
	}
	err := d.node.cfg.Strays.Stray(ctx, workspaceID, func(ctx context.Context, name string, age time.Duration) (bool, error) {
		return d.wants(ctx, workspaceID, name, age)
	})
	if errors.Is(err, domain.ErrAway) { // as long as it is, and then it is looked at
		d.node.cfg.Log.Debug("another node does not say what it has", slog.String("workspace_id", workspaceID), slog.Any("error", err))
		return nil
	}
	return err
}

// strayAge is how old a file is that no row names any more before it is taken for one
// of what was deleted: a store that was restored may have such rows again.
const strayAge = 7 * 24 * time.Hour

// wants says whether there is to be a blob still.
func (d *Desk) wants(ctx context.Context, workspaceID, name string, age time.Duration) (wanted bool, err error) {
	id, _, _ := strings.Cut(name, ".")
	switch {
	case strings.HasPrefix(id, string(domain.PrefixCall)+"_") && name == call.RecordingName(id):
		c := &domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
		if _, err = d.store.Get(ctx, c); err == nil {
			return c.RecordingDeletedAt == nil, nil
		}
	case strings.HasPrefix(id, string(domain.PrefixExport)+"_"):
		e := &domain.Export{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
		if _, err = d.store.Get(ctx, e); err == nil {
			return e.Status != domain.ExportExpired, nil
		}
	case strings.HasPrefix(id, string(domain.PrefixData)+"_"):
		r := &domain.DataRequest{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
		if _, err = d.store.Get(ctx, r); err == nil {
			return r.Status != domain.DataExpired, nil
		}
	default:
		return true, nil // nothing of ours
	}
	if errors.Is(err, domain.ErrNotFound) {
		return age < strayAge, nil
	}
	return true, err
}

// Left is what other nodes have in their spools: recordings of workspaces that were
// there.
type Left interface {
	// Take is call.Config's Left.
	Take(ctx context.Context, workspace string, place func(file string) string)
	// Drop deletes what was written so long ago.
	Drop(ctx context.Context, workspace string, age time.Duration)
}

func (n *Node) left() func(ctx context.Context, workspace string, place func(file string) string) {
	if n.cfg.Left == nil {
		return nil
	}
	return n.cfg.Left.Take
}

// Gather is told that other nodes have recordings in their spools of a workspace
// whose shard is here. They are fetched; those of one that was deleted go, too, once
// they are old.
func (n *Node) Gather(ctx context.Context, workspaceID string) {
	if n.gather(workspaceID, true) {
		return
	}
	_, err := n.cfg.Store.Get(ctx, &domain.Workspace{Meta: domain.Meta{ID: workspaceID}})
	if errors.Is(err, domain.ErrNotFound) && n.cfg.Left != nil {
		n.cfg.Left.Drop(ctx, workspaceID, strayAge)
	}
}

// gather says whether the workspace is here.
func (n *Node) gather(workspaceID string, elsewhere bool) bool {
	n.mu.RLock()
	t := n.spaces[workspaceID]
	n.mu.RUnlock()
	if t != nil && n.cfg.Left != nil {
		n.sys.Root.Send(t.calls, call.Gather{Elsewhere: elsewhere})
	}
	return t != nil
}
