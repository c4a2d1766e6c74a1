//go:build !failpoints

package server

import (
	"time"
)

// fencingToken returns the token that commits carry, and whether the node checks its lease.
func fencingToken(token string) (string, bool) { return token, true }

// isDrainSkipped reports whether a node gives shards away without ending its calls.
func isDrainSkipped() bool { return false }

// partitionError returns an error while the node must not reach other nodes; nil: it may.
func partitionError() error { return nil }

// isReachabilityChecked reports whether a node probes the other nodes.
func isReachabilityChecked() bool { return true }

// dialogLinger returns how long ended dialogs are kept; 0: the default of the user agent.
func dialogLinger() time.Duration { return 0 }

// overloadAfter returns how long an INVITE may wait in the queue before it is refused; 0: the default of the user
// agent.
func overloadAfter() time.Duration { return 0 }

// webhookTiming returns the response timeout of webhooks and the divisor of their retry waits; 0: the defaults.
func webhookTiming() (timeout time.Duration, retryDivisor int) { return 0, 0 }

// moveAfter returns how long another node waits until a shard with live calls is handed over.
func moveAfter() time.Duration { return defaultMoveAfter }
