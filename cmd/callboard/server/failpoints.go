//go:build failpoints

package server

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// fencingToken returns the token that commits carry, and whether the node checks its lease. With FAILPOINT_NO_FENCE
// all nodes use the same token and check no lease. The cluster test must then find a number that was called twice.
func fencingToken(token string) (string, bool) {
	if os.Getenv("FAILPOINT_NO_FENCE") != "" {
		return "1|everybody", false
	}
	return token, true
}

// isDrainSkipped reports whether a node releases shards without waiting for the end of their calls. FAILPOINT_SKIP_DRAIN
// enables this. The handover test must then fail.
func isDrainSkipped() bool { return os.Getenv("FAILPOINT_SKIP_DRAIN") != "" }

// isReachabilityChecked reports whether a node probes the other nodes. FAILPOINT_NO_REACHABILITY disables the probes, and
// the network partition test must then fail.
func isReachabilityChecked() bool { return os.Getenv("FAILPOINT_NO_REACHABILITY") == "" }

// partitionError returns an error while the file that FAILPOINT_PARTITION names exists: the node then reaches no other
// node.
func partitionError() error {
	if path := os.Getenv("FAILPOINT_PARTITION"); path != "" {
		if _, err := os.Stat(path); err == nil {
			return errors.New("network partition (failpoint)")
		}
	}
	return nil
}

// dialogLinger returns how long the SIP user agent keeps ended dialogs. FAILPOINT_DIALOG_LINGER sets the time for
// tests. 0 means the default of the user agent.
func dialogLinger() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FAILPOINT_DIALOG_LINGER"))
	return d
}

// overloadAfter returns how long an INVITE may wait in the queue before the user agent refuses it. Tests with the race
// detector are slow and extend the time with FAILPOINT_OVERLOAD_AFTER. 0 means the default of the user agent.
func overloadAfter() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FAILPOINT_OVERLOAD_AFTER"))
	return d
}

// webhookTiming returns the response timeout of webhooks and a divisor that shortens the pauses between retries. Tests
// set both with FAILPOINT_WEBHOOK_TIMING, such as "2s 1000". 0 means the defaults.
func webhookTiming() (timeout time.Duration, retryDivisor int) {
	var responseTimeout string
	if _, err := fmt.Sscanf(os.Getenv("FAILPOINT_WEBHOOK_TIMING"), "%s %d", &responseTimeout, &retryDivisor); err != nil {
		return 0, 0
	}
	timeout, _ = time.ParseDuration(responseTimeout)
	return timeout, retryDivisor
}

// moveAfter returns how long another node must want a shard before a shard with live calls is handed over to it.
// FAILPOINT_MOVE_AFTER sets the time for tests.
func moveAfter() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("FAILPOINT_MOVE_AFTER")); err == nil {
		return d
	}
	return defaultMoveAfter
}
