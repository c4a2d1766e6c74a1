package persistence

import (
	"context"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
)

// eraseRows is the number of rows that one commit of Erase deletes.
const eraseRows = 256

// Erase deletes all rows of a workspace, its event log and, last, its data key. Without the data key, copies of the
// store cannot be decrypted. The caller ensures that nothing writes to the workspace meanwhile. Erase can
// be repeated after an interruption.
func (s *Store) Erase(ctx context.Context, workspace string) error {
	if workspace == "" || strings.Contains(workspace, "/") {
		return fmt.Errorf("%w: %q is not a workspace", ErrMalformed, workspace)
	}
	if err := s.shard.checkWorkspace(workspace); err != nil {
		return fmt.Errorf("persistence: erase %q: %w", workspace, err)
	}
	s.vault.close(workspace)
	for {
		tables, err := s.driver.Tables(ctx, "/"+workspace)
		if err != nil {
			return fmt.Errorf("persistence: erase %q: %w", workspace, err)
		}
		// A commit whose caller has given up may be applied late. The loop therefore searches until no table is left.
		if err = s.eraseTables(ctx, workspace, tables); err != nil {
			return fmt.Errorf("persistence: erase %q: %w", workspace, err)
		}
		if len(tables) == 0 {
			return nil
		}
	}
}

// eraseTables deletes the given tables of a workspace, its event log and, last, its data key.
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
	_, err := s.commit(ctx, Commit{DeleteLog: workspace, Puts: []Put{{Key: key}}})
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
			after = row.Position // continues after the deleted rows
			c.Puts[i].Key = Key{Table: name, ID: row.ID}
			if p, is := workspaceIndexRow(domain.Key{Kind: kind, Workspace: workspace, ID: row.ID}, false); is {
				c.Puts = append(c.Puts, p)
			}
		}
		if _, err = s.commit(ctx, c); err != nil {
			return err
		}
	}
}
