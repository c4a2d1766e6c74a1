package doctor

import (
	"context"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/callboard/callboard/configs"
)

// minRedisVersion is the oldest tested major version.
const minRedisVersion = 7

// leaseMarginDivisor is the divisor of the lease duration that gives the reserve for jumps of Redis's clock. Package
// persistence/lease reserves this fifth.
const leaseMarginDivisor = 5

// redisChecker checks the Redis of redis_url and its replicas.
type redisChecker struct {
	report *report
	config *configs.Config
	clock  clockChecker
}

// check checks the version, the durability, the clock and the replicas of Redis.
func (c *redisChecker) check(ctx context.Context) {
	address := c.config.RedisURL.Reveal()
	if address == "" {
		return
	}
	o, err := goredis.ParseURL(address)
	if err != nil {
		c.report.bad("redis", "see redis_url in docs/configuration.md", "redis_url is not a valid URL")
		return
	}
	host, _, err := net.SplitHostPort(o.Addr)
	if err == nil && o.Password == "" && !isLoopbackHost(host) {
		c.report.warn("redis_no_password", "set requirepass or an ACL in Redis, and the password in redis_url", "Redis at %s requires no password", o.Addr)
	}
	o.MaxRetries = -1
	rdb := goredis.NewClient(o)
	defer func() { _ = rdb.Close() }()
	if err = rdb.Ping(ctx).Err(); err != nil {
		c.report.bad("redis", "start Redis, or check redis_url", "Redis at %s does not answer: %v", o.Addr, err)
		return
	}
	c.report.ok("redis", "Redis at %s answers", o.Addr)
	c.checkPolicy(ctx, rdb, "")
	info, err := rdb.Info(ctx).Result()
	if err != nil {
		c.report.warn("redis_version", "permit INFO for the user of redis_url", "Redis rejects INFO: %v", err)
		return
	}
	all := parseInfo(info)
	if all["maxmemory"] == "0" {
		c.report.warn("redis_memory", "set maxmemory with room for the records, see docs/operations.md", "Redis has no memory limit: the kernel kills it when memory runs out")
	}
	c.checkVersionAndRole(all)
	c.compareClock(ctx, rdb)
	c.checkReplicas(ctx, rdb, o, all)
}

// checkPolicy checks the durability settings of a Redis server. which names the replica in messages. It is empty for
// the server of redis_url.
func (c *redisChecker) checkPolicy(ctx context.Context, rdb *goredis.Client, which string) {
	for _, w := range []struct{ check, name, value, risk string }{
		{"redis_appendonly", "appendonly", "yes", "a restart of Redis loses commits"},
		{"redis_appendfsync", "appendfsync", "always", "a power failure loses the commits of the last second"},
		{"redis_policy", "maxmemory-policy", "noeviction", "Redis deletes records when memory is short"},
	} {
		got, failed := rdb.ConfigGet(ctx, w.name).Result()
		if failed != nil {
			c.report.warn(w.check, "permit CONFIG GET for the user of redis_url", "%s cannot be read%s: %v", w.name, which, failed)
			continue
		}
		if got[w.name] != w.value {
			c.report.bad(w.check, "run CONFIG SET "+w.name+" "+w.value+", and set the same in redis.conf", "%s is %s%s: %s", w.name, got[w.name], which, w.risk)
			continue
		}
		c.report.ok(w.check, "%s is %s%s", w.name, w.value, which)
	}
}

// parseInfo parses the output of INFO into names and values.
func parseInfo(info string) map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			out[name] = value
		}
	}
	return out
}

// checkVersionAndRole checks that Redis has a supported version, is a primary and is not a Redis cluster.
func (c *redisChecker) checkVersionAndRole(all map[string]string) {
	first, _, _ := strings.Cut(all["redis_version"], ".")
	if n, err := strconv.Atoi(first); err != nil || n < minRedisVersion {
		c.report.bad("redis_version", "use Redis 7 or newer", "Redis has version %s, which is not supported", all["redis_version"])
	} else {
		c.report.ok("redis_version", "Redis has version %s", all["redis_version"])
	}
	if all["cluster_enabled"] == "1" {
		c.report.bad("redis_cluster", "use a Redis with cluster-enabled no; docs/scale.md describes the limits of one Redis", "Redis is a cluster: all records would be in one slot, and commits fail while slots move")
	}
	if role := all["role"]; role != "master" {
		c.report.bad("redis_role", "set redis_url to the primary, or to a proxy that follows the sentinels as in deploy/compose", "Redis is a %s: it accepts no commits", role)
	}
}

// compareClock compares Redis's clock, which ends leases, with this machine's clock.
func (c *redisChecker) compareClock(ctx context.Context, rdb *goredis.Client) {
	before := c.clock.now()
	theirs, err := rdb.Time(ctx).Result()
	if err != nil {
		c.report.warn("redis_clock", "permit TIME for the user of redis_url", "Redis rejects TIME: %v", err)
		return
	}
	c.clock.compare("redis_clock", "Redis", theirs, before, c.clock.now(), 0)
}

// replicaLine matches a replica in the output of INFO.
var replicaLine = regexp.MustCompile(`(?m)^slave\d+:ip=([^,]+),port=(\d+),state=(\w+)`)

// checkReplicas checks the number and the state of the replicas.
func (c *redisChecker) checkReplicas(ctx context.Context, rdb *goredis.Client, o *goredis.Options, all map[string]string) {
	if all["role"] != "master" {
		return
	}
	least := 0
	if got, err := rdb.ConfigGet(ctx, "min-replicas-to-write").Result(); err == nil {
		least, _ = strconv.Atoi(got["min-replicas-to-write"])
	}
	have, _ := strconv.Atoi(all["connected_slaves"])
	if good, err := strconv.Atoi(all["min_slaves_good_slaves"]); err == nil {
		have = min(have, good)
	}
	switch {
	case have < least:
		c.report.bad("redis_replicas", "start the replicas, or lower min-replicas-to-write", "min-replicas-to-write is %d and %d replicas are connected: Redis accepts no commits", least, have)
	case have > 0 && least == 0:
		c.report.warn("redis_replicas", "set min-replicas-to-write to 1 and run two replicas, so that one can fail", "Redis does not wait for its replicas: an isolated primary accepts commits that are lost when a replica is promoted")
	case have > 0 && have == least:
		c.report.warn("redis_replicas", "add another replica", "Redis requires %d connected replicas and has no spare: it accepts no commits when one fails", least)
	case have == 0 && c.config.Node.Addr.IsValid():
		c.report.warn("redis_replicas", "run two replicas with min-replicas-to-write 1 and three sentinels as in deploy/compose", "Redis has no replica: if its machine fails, all nodes fail")
	default:
		c.report.ok("redis_replicas", "%d replicas are connected", have)
	}
	for name, line := range all {
		if m := replicaLine.FindStringSubmatch(name + ":" + line); m != nil {
			c.checkReplica(ctx, rdb, *o, net.JoinHostPort(m[1], m[2]), m[3])
		}
	}
}

// checkReplica checks whether a replica could become the primary. The clock of the primary ends leases, so both
// clocks must agree.
func (c *redisChecker) checkReplica(ctx context.Context, primary *goredis.Client, o goredis.Options, at, state string) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	o.Addr = at
	rdb := goredis.NewClient(&o)
	defer func() { _ = rdb.Close() }()
	before := c.clock.now()
	first, err := primary.Time(ctx).Result()
	between := c.clock.now()
	if err != nil {
		return
	}
	if err = rdb.Ping(ctx).Err(); err != nil || state != "online" {
		c.report.warn("redis_replica", "make the replica reachable from this machine with the same password", "the replica at %s (%s) cannot be checked: %v", at, state, err)
		return
	}
	began := c.clock.now()
	second, err := rdb.Time(ctx).Result()
	if err != nil {
		return
	}
	ahead, way := clockOffset(first, before, between, 0)
	other, longer := clockOffset(second, began, c.clock.now(), 0)
	bound := c.config.Node.LeaseDuration / leaseMarginDivisor
	if apart := other - ahead; apart.Abs()-way-longer > bound {
		c.report.warn("redis_replica", "synchronize both clocks with chrony or systemd-timesyncd", "the clock of the replica at %s differs by %s from the primary's; a lease of %[4]s permits %[3]s. After a failover leases would end too early or too late", at, apart.Round(time.Millisecond), bound, c.config.Node.LeaseDuration)
	} else {
		c.report.ok("redis_replica", "the replica at %s is online", at)
	}
	c.checkPolicy(ctx, rdb, " at the replica "+at)
}
