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

// leastRedis is the oldest Redis that is tried.
const leastRedis = 7

// leaseMargin is the part of a lease that a node leaves unused, as
// persistence/lease does: by so much Redis's clock may leap.
const leaseMargin = 5

// redisChecker looks at the Redis of redis_url and its replicas.
type redisChecker struct {
	report *report
	config *configs.Config
	clock  clockChecker
}

// check looks at the version, the durability, the clock and the replicas of Redis.
func (c *redisChecker) check(ctx context.Context) {
	address := c.config.RedisURL.Reveal()
	if address == "" {
		return
	}
	o, err := goredis.ParseURL(address)
	if err != nil {
		c.report.bad("redis", "see redis_url in docs/configuration.md", "redis_url cannot be read")
		return
	}
	host, _, err := net.SplitHostPort(o.Addr)
	if err == nil && o.Password == "" && !loopbackName(host) {
		c.report.warn("redis_open", "requirepass or an ACL in Redis, and the password in redis_url", "Redis at %s asks for no password", o.Addr)
	}
	o.MaxRetries = -1
	rdb := goredis.NewClient(o)
	defer func() { _ = rdb.Close() }()
	if err = rdb.Ping(ctx).Err(); err != nil {
		c.report.bad("redis", "start it, or look at redis_url", "Redis at %s does not answer: %v", o.Addr, err)
		return
	}
	c.report.ok("redis", "Redis at %s answers", o.Addr)
	c.policy(ctx, rdb, "")
	info, err := rdb.Info(ctx).Result()
	if err != nil {
		c.report.warn("redis_version", "let the user of redis_url use INFO", "Redis does not tell what it is: %v", err)
		return
	}
	all := facts(info)
	if all["maxmemory"] == "0" {
		c.report.warn("redis_memory", "maxmemory, with room for what is kept: see docs/operations.md", "Redis has no limit of memory: the kernel ends it when there is none left")
	}
	c.kind(all)
	c.compareClock(ctx, rdb)
	c.replicas(ctx, rdb, o, all)
}

// policy looks at what a Redis keeps; which says which one, where it is
// not that of redis_url.
func (c *redisChecker) policy(ctx context.Context, rdb *goredis.Client, which string) {
	for _, w := range []struct{ check, name, value, risk string }{
		{"redis_append", "appendonly", "yes", "a restart of Redis loses commits"},
		{"redis_sync", "appendfsync", "always", "a power cut loses the last second"},
		{"redis_policy", "maxmemory-policy", "noeviction", "Redis drops rows when memory is short"},
	} {
		got, failed := rdb.ConfigGet(ctx, w.name).Result()
		if failed != nil {
			c.report.warn(w.check, "let the user of redis_url use CONFIG GET", "%s cannot be asked for%s: %v", w.name, which, failed)
			continue
		}
		if got[w.name] != w.value {
			c.report.bad(w.check, "CONFIG SET "+w.name+" "+w.value+", and the same in redis.conf", "%s is %s%s: %s", w.name, got[w.name], which, w.risk)
			continue
		}
		c.report.ok(w.check, "%s is %s%s", w.name, w.value, which)
	}
}

// facts are the lines of INFO.
func facts(info string) map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			out[name] = value
		}
	}
	return out
}

// kind looks whether it is one that takes our commits.
func (c *redisChecker) kind(all map[string]string) {
	first, _, _ := strings.Cut(all["redis_version"], ".")
	if n, err := strconv.Atoi(first); err != nil || n < leastRedis {
		c.report.bad("redis_version", "Redis 7 or newer", "Redis is version %s, which nobody has tried", all["redis_version"])
	} else {
		c.report.ok("redis_version", "Redis is version %s", all["redis_version"])
	}
	if all["cluster_enabled"] == "1" {
		c.report.bad("redis_cluster", "a Redis with cluster-enabled no; what outgrows one Redis is said in docs/scale.md", "Redis is a cluster: all rows of an install lie on one slot, and commits fail while slots move")
	}
	if role := all["role"]; role != "master" {
		c.report.bad("redis_role", "redis_url has to lead to the primary; where that changes, by a proxy that asks the sentinels: deploy/compose", "Redis is a %s: it takes no commits", role)
	}
}

// compareClock compares the store's clock, by which leases end, with ours.
func (c *redisChecker) compareClock(ctx context.Context, rdb *goredis.Client) {
	before := c.clock.time()
	theirs, err := rdb.Time(ctx).Result()
	if err != nil {
		c.report.warn("redis_clock", "let the user of redis_url use TIME", "Redis does not tell the time: %v", err)
		return
	}
	c.clock.compare("redis_clock", "Redis", theirs, before, c.clock.time(), 0)
}

// replicaLine is a replica as INFO tells of it.
var replicaLine = regexp.MustCompile(`(?m)^slave\d+:ip=([^,]+),port=(\d+),state=(\w+)`)

// replicas looks at who takes the place of a Redis that is lost.
func (c *redisChecker) replicas(ctx context.Context, rdb *goredis.Client, o *goredis.Options, all map[string]string) {
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
		c.report.bad("redis_replicas", "start the replicas, or lower min-replicas-to-write", "min-replicas-to-write is %d and %d replicas are near: Redis takes no commits", least, have)
	case have > 0 && least == 0:
		c.report.warn("redis_replicas", "min-replicas-to-write 1, with two replicas, so that one may be away", "Redis has replicas and does not wait for any: one that is cut off goes on taking commits, which are gone when another one is made the primary")
	case have > 0 && have == least:
		c.report.warn("redis_replicas", "another replica", "Redis wants %d replicas near and has as many: when one is away it takes no commits", least)
	case have == 0 && c.config.Node.Addr.IsValid():
		c.report.warn("redis_replicas", "two replicas, min-replicas-to-write 1 and three sentinels: deploy/compose", "Redis has no replica: with its machine all nodes are lost")
	default:
		c.report.ok("redis_replicas", "%d replicas are near", have)
	}
	for name, line := range all {
		if m := replicaLine.FindStringSubmatch(name + ":" + line); m != nil {
			c.replica(ctx, rdb, *o, net.JoinHostPort(m[1], m[2]), m[3])
		}
	}
}

// replica looks whether one could take the place of the primary. Leases end by
// the clock of whoever is that.
func (c *redisChecker) replica(ctx context.Context, primary *goredis.Client, o goredis.Options, at, state string) {
	ctx, cancel := context.WithTimeout(ctx, oneLimit)
	defer cancel()
	o.Addr = at
	rdb := goredis.NewClient(&o)
	defer func() { _ = rdb.Close() }()
	before := c.clock.time()
	first, err := primary.Time(ctx).Result()
	between := c.clock.time()
	if err != nil {
		return
	}
	if err = rdb.Ping(ctx).Err(); err != nil || state != "online" {
		c.report.warn("redis_replica", "let this machine reach it, with the same password", "the replica at %s (%s) cannot be looked at: %v", at, state, err)
		return
	}
	began := c.clock.time()
	second, err := rdb.Time(ctx).Result()
	if err != nil {
		return
	}
	ahead, way := offset(first, before, between, 0)
	other, longer := offset(second, began, c.clock.time(), 0)
	bound := c.config.Node.LeaseDuration / leaseMargin
	if apart := other - ahead; apart.Abs()-way-longer > bound {
		c.report.warn("redis_replica", "let chrony or systemd-timesyncd keep both clocks", "the clock of the replica at %s is %s from the primary's, more than the %s that a lease of %s leaves: when it takes over, leases end so much early or late", at, apart.Round(time.Millisecond), bound, c.config.Node.LeaseDuration)
	} else {
		c.report.ok("redis_replica", "the replica at %s is there", at)
	}
	c.policy(ctx, rdb, " at the replica "+at)
}
