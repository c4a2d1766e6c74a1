package persistence

import (
	"context"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
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
	if err := s.part.mine(workspace); err != nil {
		return fmt.Errorf("persistence: erase %q: %w", workspace, err)
	}
	s.vault.close(workspace)
	for {
		tables, err := s.driver.Tables(ctx, "/"+workspace)
		if err != nil {
			return fmt.Errorf("persistence: erase %q: %w", workspace, err)
		}
		// A commit that nobody waits for any more may land late: until nothing is
		// found, it is looked for again.
		if err = s.eraseTables(ctx, workspace, tables); err != nil {
			return fmt.Errorf("persistence: erase %q: %w", workspace, err)
		}
		if len(tables) == 0 {
			return nil
		}
	}
}

// eraseTables removes tables of a workspace, its log, and its data key last.
func (s *Store) eraseTables(ctx context.Context, workspace string, tables []string) error {
	key := Key{Table: table("_key", workspace), ID: "data"}
	for _, name := range tables {
		if name == key.Table {
			continue
		}
		if err := s.eraseTable(ctx, name, workspace); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err := s.commit(ctx, Commit{Forget: workspace, Puts: []Put{{Key: key}}})
	return err
}

func (s *Store) eraseTable(ctx context.Context, name, workspace string) error {
	kind := strings.TrimSuffix(name, "/"+workspace)
	for after := ""; ; {
		page, err := s.driver.Scan(ctx, Range{Table: name, After: after, Limit: eraseRows})
		if err != nil || len(page.Rows) == 0 {
			return err
		}
		c := Commit{Puts: make([]Put, len(page.Rows))}
		for i, row := range page.Rows {
			after = row.Place // what was deleted is not read past again
			c.Puts[i].Key = Key{Table: name, ID: row.ID}
			if p, is := where(domain.Key{Kind: kind, Workspace: workspace, ID: row.ID}, false); is {
				c.Puts = append(c.Puts, p)
			}
		}
		if _, err = s.commit(ctx, c); err != nil {
			return err
		}
	}
}
