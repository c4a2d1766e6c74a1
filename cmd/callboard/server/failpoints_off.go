//go:build !failpoints

package server

import (
	"time"
)

// fencingToken is what a node's commits carry, and whether it looks at its lease.
func fencingToken(token string) (string, bool) { return token, true }

// isDrainSkipped says whether a node gives shards away without ending what it has begun.
func isDrainSkipped() bool { return false }

// partitionError is why the node reaches none of the others; nil: it may.
func partitionError() error { return nil }

// isReachabilityChecked says whether a node asks whether it sees the others.
func isReachabilityChecked() bool { return true }

// dialogLinger is how long dialogs that are over are kept; 0: as long as they must be.
func dialogLinger() time.Duration { return 0 }

// overloadAfter is how long an INVITE may wait to be read before it is refused; 0:
// as long as the user agent thinks right.
func overloadAfter() time.Duration { return 0 }

// webhookTiming is how long a webhook may take to answer and what divides the waits
// before its retries; 0: as documented.
func webhookTiming() (timeout time.Duration, hurry int) { return 0, 0 }

// moveAfter is how long a shard with live calls stays though another node waits
// for it, where these can be handed over.
func moveAfter() time.Duration { return defaultMoveAfter }
