//go:build failpoints

package server

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// fencingToken is the control of the test of several nodes: with FAILPOINT_NO_FENCE
// every node has the same token and none looks at its lease, which must ring
// somebody twice.
func fencingToken(token string) (string, bool) {
	if os.Getenv("FAILPOINT_NO_FENCE") != "" {
		return "1|everybody", false
	}
	return token, true
}

// isDrainSkipped is the control of shards that are handed over: with
// FAILPOINT_CARELESS a node gives them away without ending what it has begun.
func isDrainSkipped() bool { return os.Getenv("FAILPOINT_CARELESS") != "" }

// isReachabilityChecked is the control of networks that part nodes: with FAILPOINT_NO_REACH
// a node never asks whether it sees the others.
func isReachabilityChecked() bool { return os.Getenv("FAILPOINT_NO_REACH") == "" }

// partitionError is why the node reaches none of the others: with FAILPOINT_PARTED the
// file of that name, while it is there.
func partitionError() error {
	if path := os.Getenv("FAILPOINT_PARTED"); path != "" {
		if _, err := os.Stat(path); err == nil {
			return errors.New("parted from the others")
		}
	}
	return nil
}

// dialogLinger is how long dialogs that are over are kept: with FAILPOINT_LINGER as
// short as that, so that a test need not wait for them.
func dialogLinger() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FAILPOINT_LINGER"))
	return d
}

// overloadAfter is how long an INVITE may wait to be read before it is refused: with
// FAILPOINT_PATIENCE as long as that, because the race detector and other tests
// make a machine slow that carries few calls.
func overloadAfter() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("FAILPOINT_PATIENCE"))
	return d
}

// webhookTiming is how long a webhook may take to answer and what divides the waits
// before its retries: with FAILPOINT_HURRY, such as "2s 1000", so that a test
// need not wait for an hour.
func webhookTiming() (timeout time.Duration, hurry int) {
	var answers string
	if _, err := fmt.Sscanf(os.Getenv("FAILPOINT_HURRY"), "%s %d", &answers, &hurry); err != nil {
		return 0, 0
	}
	timeout, _ = time.ParseDuration(answers)
	return timeout, hurry
}

// moveAfter is how long a shard with live calls stays though another node waits
// for it, where these can be handed over: with FAILPOINT_MOVE_AFTER so long.
func moveAfter() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("FAILPOINT_MOVE_AFTER")); err == nil {
		return d
	}
	return defaultMoveAfter
}
