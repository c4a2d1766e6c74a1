//go:build !failpoints

package server

import (
	"time"
)

// fencingToken returns the lease token that commits carry, and true because the node checks its lease.
func fencingToken(token string) (string, bool) { return token, true }

// isDrainSkipped returns false: a node releases a shard only after its calls have ended or were handed over.
func isDrainSkipped() bool { return false }

// partitionError returns nil, because only test builds simulate a network partition.
func partitionError() error { return nil }

// isReachabilityChecked returns true: a node checks whether it reaches the other nodes.
func isReachabilityChecked() bool { return true }

// dialogLinger returns 0, which selects the user agent's default for how long it keeps ended dialogs.
func dialogLinger() time.Duration { return 0 }

// overloadAfter returns 0, which selects the user agent's default for how long an INVITE may wait before it is refused.
func overloadAfter() time.Duration { return 0 }

// webhookTiming returns 0, which selects the default response timeout of webhooks and the default retry pauses.
func webhookTiming() (timeout time.Duration, retryDivisor int) { return 0, 0 }

// moveAfter returns how long another node must want a shard before a shard with live calls is handed over to it.
func moveAfter() time.Duration { return defaultMoveAfter }
