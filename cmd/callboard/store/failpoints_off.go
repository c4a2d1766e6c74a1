//go:build !failpoints

package store

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/actors/storecache"
)

// WithFailpoints returns the store unchanged in builds without the tag failpoints.
func WithFailpoints(s storecache.Backend) storecache.Backend { return s }

// acceptsAnyHistory reports whether a Redis replica that lacks commits is accepted.
func acceptsAnyHistory() bool { return false }

// storeDisk returns the file system of the embedded store; nil: the machine's.
func storeDisk() vfs.FS { return nil }
