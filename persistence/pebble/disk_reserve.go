package pebble

import (
	"errors"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// reserveName is a file without content that takes disk space. It is removed when
	// a reserved commit finds the disk full, and made again once there is room.
	reserveName  = "reserve"
	reserveBytes = 8 << 20
	// reserveLeast is the free space below which even reserved commits are refused.
	reserveLeast = 2 << 20
)

// keepReserve takes the space of the reserve.
func (d *Driver) keepReserve() {
	if d.reserved {
		return
	}
	path := d.o.FS.PathJoin(d.dir, reserveName)
	f, err := d.o.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err == nil {
		err = errors.Join(f.Preallocate(0, reserveBytes), f.Close())
	}
	if d.reserved = err == nil; !d.reserved {
		d.o.Logger.Debug("the reserve of disk space could not be made", slog.Any("error", errors.Join(err, d.o.FS.Remove(path))))
	}
}

// useReserve gives the space of the reserve to commits on a full disk, and says
// whether they have room.
func (d *Driver) useReserve() bool {
	path := d.o.FS.PathJoin(d.dir, reserveName)
	if _, err := d.o.FS.Stat(path); err == nil {
		d.reserved = false
		_ = d.o.FS.Remove(path) // what is free now counts
	}
	usage, err := d.o.FS.GetDiskUsage(d.dir)
	return err == nil && usage.AvailBytes >= reserveLeast
}
