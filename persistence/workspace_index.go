package persistence

import (
	"context"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// whereKey is the row that says of which workspace a noun is.
func whereKey(id string) Key { return Key{Table: table("_where", ""), ID: id} }

// where is the row that goes with one of a noun; "": there is none. It may be
// written without a guard: an id is of one workspace, and so of one shard, for
// ever.
func where(k domain.Key, keep bool) (Put, bool) {
	if !domain.Findable(k.Kind) || k.Workspace == "" || k.ID == "" {
		return Put{}, false
	}
	p := Put{Key: whereKey(k.ID)}
	if keep {
		p.Value = []byte(k.Workspace)
	}
	return p, true
}

// WorkspaceOf is the workspace of a noun of a findable kind (domain.Findable) by its id, or
// domain.ErrNotFound. It is one read. What it says of an id never changes, but
// that the noun goes.
func (s *Store) WorkspaceOf(ctx context.Context, id string) (string, error) {
	return WorkspaceOf(ctx, s.driver, id)
}

// WorkspaceOf is Store.WorkspaceOf for a process that has no store.
func WorkspaceOf(ctx context.Context, d Driver, id string) (string, error) {
	k := whereKey(id)
	if k.check() != nil {
		return "", domain.ErrNotFound
	}
	value, _, err := d.Get(ctx, k)
	if err != nil {
		return "", fmt.Errorf("persistence: the workspace of %s: %w", id, err)
	}
	return string(value), nil
}
