//go:build !failpoints

package store

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/actors/storecache"
)

// WithFailpoints hands the store on as it is; tests of what must fail build another.
func WithFailpoints(s storecache.Backend) storecache.Backend { return s }

// acceptsAnyHistory says whether a Redis that lacks commits is taken as it is.
func acceptsAnyHistory() bool { return false }

// storeDisk is the disk of the embedded store; nil: the machine's.
func storeDisk() vfs.FS { return nil }
