package persistence

import (
	"context"
	"fmt"
	"strings"
)

// eraseRows is how many rows one commit of Erase deletes.
const eraseRows = 256

// Erase removes all rows of a workspace, its log of events and, last, its data
// key: what copies of the store still hold of it does not open any more. Whoever
// calls it sees to it that nobody writes to the workspace meanwhile. It may be
// cut off and called again.
func (s *Store) Erase(ctx context.Context, workspace string) error {
	if workspace == "" || strings.Contains(workspace, "/") {
		return fmt.Errorf("%w: no workspace %q", ErrMalformed, workspace)
	}
	tables, err := s.driver.Tables(ctx, "/"+workspace)
	if err != nil {
		return fmt.Errorf("persistence: erase %q: %w", workspace, err)
	}
	key := Key{Table: table("_key", workspace), ID: "data"}
	for _, name := range tables {
		if name == key.Table {
			continue
		}
		if err = s.eraseTable(ctx, name); err != nil {
			return fmt.Errorf("persistence: erase %s: %w", name, err)
		}
	}
	if _, err = s.commit(ctx, Commit{Forget: workspace, Puts: []Put{{Key: key}}}); err != nil {
		return fmt.Errorf("persistence: erase %q: %w", workspace, err)
	}
	s.vault.forget(workspace)
	return nil
}

func (s *Store) eraseTable(ctx context.Context, name string) error {
	for {
		page, err := s.driver.Scan(ctx, Range{Table: name, Limit: eraseRows})
		if err != nil || len(page.Rows) == 0 {
			return err
		}
		c := Commit{Puts: make([]Put, len(page.Rows))}
		for i, row := range page.Rows {
			c.Puts[i].Key = Key{Table: name, ID: row.ID}
		}
		if _, err = s.commit(ctx, c); err != nil {
			return err
		}
	}
}
