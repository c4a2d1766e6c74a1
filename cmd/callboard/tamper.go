//go:build !failpoints

package main

import (
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/actors"
)

// tamper hands the store on as it is; tests of what must fail build another.
func tamper(s actors.Store) actors.Store { return s }

// fence is what a node's commits carry, and whether it looks at its lease.
func fence(token string) (string, bool) { return token, true }

// careless says whether a node gives shards away without ending what it has begun.
func careless() bool { return false }

// parted is why the node reaches none of the others; nil: it may.
func parted() error { return nil }

// looksAround says whether a node asks whether it sees the others.
func looksAround() bool { return true }

// anyHistory says whether a Redis that lacks commits is taken as it is.
func anyHistory() bool { return false }

// storeDisk is the disk of the embedded store; nil: the machine's.
func storeDisk() vfs.FS { return nil }

// linger is how long dialogs that are over are kept; 0: as long as they must be.
func linger() time.Duration { return 0 }

// patience is how long an INVITE may wait to be read before it is refused; 0:
// as long as the user agent thinks right.
func patience() time.Duration { return 0 }

// hurried is how long a webhook may take to answer and what divides the waits
// before its retries; 0: as documented.
func hurried() (timeout time.Duration, hurry int) { return 0, 0 }

// moveAfter is how long a shard with live calls stays though another node waits
// for it, where these can be handed over.
func moveAfter() time.Duration { return movesAfter }

// shiftClock leaves the time of day alone.
func shiftClock() {}
