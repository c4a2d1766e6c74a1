package persistence

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
)

// whereRows is how many rows one commit of Index reads.
const whereRows = 256

// whereKey is the row that says of which workspace a noun is.
func whereKey(id string) Key { return Key{Table: table("_where", ""), ID: id} }

// whereDone is the row that says that Index has done its work: for which kinds.
func whereDone(workspace string) Key { return Key{Table: table("_where", workspace), ID: "done"} }

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

// WorkspaceOf is the workspace of a noun of domain.FindableKinds by its id, or
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

// Index writes what WorkspaceOf reads for the nouns that a workspace has from
// before there was such a thing. It is one read where that is done. It may be
// cut off and called again, and others may write meanwhile.
func (s *Store) Index(ctx context.Context, workspace string) error {
	if err := s.index(ctx, workspace); err != nil {
		return fmt.Errorf("persistence: index of %q: %w", workspace, err)
	}
	return nil
}

func (s *Store) index(ctx context.Context, workspace string) error {
	if workspace == "" || strings.Contains(workspace, "/") {
		return ErrMalformed
	}
	if err := s.part.mine(workspace); err != nil {
		return err
	}
	kinds := domain.FindableKinds()
	done := Put{Key: whereDone(workspace), Value: []byte(strings.Join(kinds, " "))}
	switch have, _, err := s.driver.Get(ctx, done.Key); {
	case err != nil && !errors.Is(err, domain.ErrNotFound):
		return err
	case err == nil && string(have) == string(done.Value):
		return nil
	}
	for _, kind := range kinds {
		if err := s.indexKind(ctx, kind, workspace); err != nil {
			return err
		}
	}
	_, err := s.commit(ctx, Commit{Puts: []Put{done}})
	return err
}

// indexKind goes through the nouns of a kind. Of those that go meanwhile nothing
// is left.
func (s *Store) indexKind(ctx context.Context, kind, workspace string) error {
	for after := ""; ; {
		page, err := s.driver.Scan(ctx, Range{Table: table(kind, workspace), After: after, Limit: whereRows})
		if err != nil || len(page.Rows) == 0 {
			return err
		}
		c := Commit{}
		for _, row := range page.Rows {
			k := domain.Key{Kind: kind, Workspace: workspace, ID: row.ID}
			if p, is := where(k, true); is {
				c.Guards = append(c.Guards, Guard{Key: raw(k), Version: row.Version})
				c.Puts = append(c.Puts, p)
			}
		}
		switch _, err = s.commit(ctx, c); {
		case errors.Is(err, domain.ErrConflict):
			continue // one of them has changed: the page is read again
		case err != nil:
			return err
		}
		after = page.Rows[len(page.Rows)-1].Place
		if !page.More {
			return nil
		}
	}
}
