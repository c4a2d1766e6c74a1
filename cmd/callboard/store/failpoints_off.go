//go:build !failpoints

package store

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/actors/storecache"
)

// WithFailpoints returns the store unchanged in builds without the tag failpoints.
func WithFailpoints(s storecache.Backend) storecache.Backend { return s }

// acceptsAnyHistory returns false: the service accepts no Redis replica that lacks commits.
func acceptsAnyHistory() bool { return false }

// storeDisk returns nil, with which the embedded store uses the file system of the machine.
func storeDisk() vfs.FS { return nil }
