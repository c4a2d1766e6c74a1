// Package membership opens the store in which nodes hold their leases, and joins a process to the cluster.
package membership

import (
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/redis"
)

// LeaveTimeout is the time limit for releasing the leases of a process when it stops.
const LeaveTimeout = 5 * time.Second

// OpenLeases opens the store of leases, which is in the Redis of redis_url together with the data.
func OpenLeases(cfg *configs.Config, o lease.Options) (*lease.Heartbeat, error) {
	return redis.New(cfg.RedisURL.Reveal(), redis.Options{Options: o})
}
