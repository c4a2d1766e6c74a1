package persistence

import (
	"context"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// workspaceIndexKey is the key of the row that stores the workspace of a record.
func workspaceIndexKey(id string) Key { return Key{Table: table("_where", ""), ID: id} }

// workspaceIndexRow returns the index row that a commit writes together with a record, so that WorkspaceOf finds the
// record. ok is false for kinds without index rows. The row needs no guard, because a record never changes its workspace.
func workspaceIndexRow(k domain.Key, keep bool) (Put, bool) {
	if !domain.NeedsWorkspaceLookup(k.Kind) || k.Workspace == "" || k.ID == "" {
		return Put{}, false
	}
	p := Put{Key: workspaceIndexKey(k.ID)}
	if keep {
		p.Value = []byte(k.Workspace)
	}
	return p, true
}

// WorkspaceOf returns the workspace of a record by its id, or domain.ErrNotFound. It works for kinds for which
// domain.NeedsWorkspaceLookup is true. The result stays the same until the record is deleted.
func (s *Store) WorkspaceOf(ctx context.Context, id string) (string, error) {
	return WorkspaceOf(ctx, s.driver, id)
}

// WorkspaceOf returns the workspace of a record, like Store.WorkspaceOf, for a process that has no Store open.
func WorkspaceOf(ctx context.Context, d Driver, id string) (string, error) {
	k := workspaceIndexKey(id)
	if k.check() != nil {
		return "", domain.ErrNotFound
	}
	value, _, err := d.Get(ctx, k)
	if err != nil {
		return "", fmt.Errorf("persistence: the workspace of %s: %w", id, err)
	}
	return string(value), nil
}
