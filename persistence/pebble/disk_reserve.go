package pebble

import (
	"errors"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// reserveName is a file of zeros that reserves disk space. It is removed when a reserved commit finds the disk
	// full, and created again once there is space.
	reserveName  = "reserve"
	reserveBytes = 8 << 20
	// minReserveFree is the free space in bytes below which even reserved commits are refused.
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

// useReserve frees the reserved disk space for commits on a full disk. It returns whether enough space is free
// then.
func (d *Driver) useReserve() bool {
	path := d.opts.FS.PathJoin(d.dir, reserveName)
	if _, err := d.opts.FS.Stat(path); err == nil {
		d.reserved = false
		_ = d.opts.FS.Remove(path) // the free space is measured below
	}
	usage, err := d.opts.FS.GetDiskUsage(d.dir)
	return err == nil && usage.AvailBytes >= minReserveFree
}
