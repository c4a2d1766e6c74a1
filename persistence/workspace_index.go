package persistence

import (
	"context"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// workspaceIndexKey is the key of the row that stores the workspace of a record.
func workspaceIndexKey(id string) Key { return Key{Table: table("_where", ""), ID: id} }

// workspaceIndexRow returns the index row to be written with a record of a findable kind; ok is false for other
// kinds. It needs no guard, because a record never changes its workspace, and hence its shard.
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

// WorkspaceOf returns the workspace of a record of a findable kind (domain.NeedsWorkspaceLookup) by its id, or
// domain.ErrNotFound. It reads one row. The answer for an id never changes until the record is deleted.
func (s *Store) WorkspaceOf(ctx context.Context, id string) (string, error) {
	return WorkspaceOf(ctx, s.driver, id)
}

// WorkspaceOf is Store.WorkspaceOf for a process that has no Store open.
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
