package pebble

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/callboard/callboard/persistence"
)

// Backup writes a consistent copy of all committed data into the new folder dir, while commits continue. Immutable
// files are hard-linked where the file system allows it, and copied otherwise. The function Open can open the copy.
func (d *Driver) Backup(dir string) error {
	d.lifecycle.RLock()
	defer d.lifecycle.RUnlock()
	if d.closed {
		return persistence.ErrClosed
	}
	if err := d.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("pebble: backup to %s: %w", dir, err)
	}
	return nil
}
