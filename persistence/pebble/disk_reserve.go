package pebble

import (
	"errors"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// reserveName is a file of zeros that reserves disk space. When the disk is full, a commit with Commit.Reserved set
	// removes the file. The driver creates the file again once there is space.
	reserveName  = "reserve"
	reserveBytes = 8 << 20
	// minReserveFree is the free space in bytes below which the driver refuses even commits with Commit.Reserved set.
	minReserveFree = 2 << 20
)

// keepReserve creates the reserve file if it does not exist.
func (d *Driver) keepReserve() {
	if d.reserved {
		return
	}
	path := d.opts.FS.PathJoin(d.dir, reserveName)
	f, err := d.opts.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err == nil {
		err = errors.Join(f.Preallocate(0, reserveBytes), f.Close())
	}
	if d.reserved = err == nil; !d.reserved {
		d.opts.Logger.Debug("the disk reserve cannot be created", slog.Any("error", errors.Join(err, d.opts.FS.Remove(path))))
	}
}

// useReserve deletes the reserve file, so that a commit with Commit.Reserved set can use its space. It reports
// whether the disk then has at least minReserveFree bytes free.
func (d *Driver) useReserve() bool {
	path := d.opts.FS.PathJoin(d.dir, reserveName)
	if _, err := d.opts.FS.Stat(path); err == nil {
		d.reserved = false
		_ = d.opts.FS.Remove(path) // the free space is measured below
	}
	usage, err := d.opts.FS.GetDiskUsage(d.dir)
	return err == nil && usage.AvailBytes >= minReserveFree
}
