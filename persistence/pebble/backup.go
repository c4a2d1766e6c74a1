package pebble

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/callboard/callboard/persistence"
)

// Backup writes all that is committed by now into a folder that is not there
// yet, while commits go on. What never changes any more is linked where the
// file system can, and copied elsewhere; Open opens the folder.
func (d *Driver) Backup(dir string) error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return persistence.ErrClosed
	}
	if err := d.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("pebble: backup to %s: %w", dir, err)
	}
	return nil
}
