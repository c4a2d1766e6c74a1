package doctor

import (
	"context"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// leastRedis is the oldest Redis that is tried.
const leastRedis = 7

// leaseMargin is the part of a lease that a node leaves unused, as
// persistence/lease does: by so much Redis's clock may leap.
const leaseMargin = 5

// redis asks the store for what it would lose.
func (v *Visit) redis(ctx context.Context) {
	address := v.Config.RedisURL.Reveal()
	if address == "" {
		return
	}
	o, err := goredis.ParseURL(address)
	if err != nil {
		v.bad("redis", "see redis_url in docs/configuration.md", "redis_url cannot be read")
		return
	}
	host, _, err := net.SplitHostPort(o.Addr)
	if err == nil && o.Password == "" && !loopbackName(host) {
		v.warn("redis_open", "requirepass or an ACL in Redis, and the password in redis_url", "Redis at %s asks for no password", o.Addr)
	}
	o.MaxRetries = -1
	rdb := goredis.NewClient(o)
	defer func() { _ = rdb.Close() }()
	if err = rdb.Ping(ctx).Err(); err != nil {
		v.bad("redis", "start it, or look at redis_url", "Redis at %s does not answer: %v", o.Addr, err)
		return
	}
	v.ok("redis", "Redis at %s answers", o.Addr)
	v.redisPolicy(ctx, rdb, "")
	info, err := rdb.Info(ctx).Result()
	if err != nil {
		v.warn("redis_version", "let the user of redis_url use INFO", "Redis does not tell what it is: %v", err)
		return
	}
	all := facts(info)
	if all["maxmemory"] == "0" {
		v.warn("redis_memory", "maxmemory, with room for what is kept: see docs/operations.md", "Redis has no limit of memory: the kernel ends it when there is none left")
	}
	v.redisKind(all)
	v.redisClock(ctx, rdb)
	v.redisReplicas(ctx, rdb, o, all)
}

// redisPolicy looks at what a Redis keeps; which says which one, where it is
// not that of redis_url.
func (v *Visit) redisPolicy(ctx context.Context, rdb *goredis.Client, which string) {
	for _, w := range []struct{ check, name, value, risk string }{
		{"redis_append", "appendonly", "yes", "a restart of Redis loses commits"},
		{"redis_sync", "appendfsync", "always", "a power cut loses the last second"},
		{"redis_policy", "maxmemory-policy", "noeviction", "Redis drops rows when memory is short"},
	} {
		got, failed := rdb.ConfigGet(ctx, w.name).Result()
		if failed != nil {
			v.warn(w.check, "let the user of redis_url use CONFIG GET", "%s cannot be asked for%s: %v", w.name, which, failed)
			continue
		}
		if got[w.name] != w.value {
			v.bad(w.check, "CONFIG SET "+w.name+" "+w.value+", and the same in redis.conf", "%s is %s%s: %s", w.name, got[w.name], which, w.risk)
			continue
		}
		v.ok(w.check, "%s is %s%s", w.name, w.value, which)
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

// redisKind looks whether it is one that takes our commits.
func (v *Visit) redisKind(all map[string]string) {
	first, _, _ := strings.Cut(all["redis_version"], ".")
	if n, err := strconv.Atoi(first); err != nil || n < leastRedis {
		v.bad("redis_version", "Redis 7 or newer", "Redis is version %s, which nobody has tried", all["redis_version"])
	} else {
		v.ok("redis_version", "Redis is version %s", all["redis_version"])
	}
	if all["cluster_enabled"] == "1" {
		v.bad("redis_cluster", "a Redis with cluster-enabled no; what outgrows one Redis is said in docs/scale.md", "Redis is a cluster: all rows of an install lie on one slot, and commits fail while slots move")
	}
	if role := all["role"]; role != "master" {
		v.bad("redis_role", "redis_url has to lead to the primary; where that changes, by a proxy that asks the sentinels: deploy/compose", "Redis is a %s: it takes no commits", role)
	}
}

// redisClock compares the store's clock, by which leases end, with ours.
func (v *Visit) redisClock(ctx context.Context, rdb *goredis.Client) {
	before := v.time()
	theirs, err := rdb.Time(ctx).Result()
	if err != nil {
		v.warn("redis_clock", "let the user of redis_url use TIME", "Redis does not tell the time: %v", err)
		return
	}
	v.apart("redis_clock", "Redis", theirs, before, v.time(), 0)
}

// replicaLine is a replica as INFO tells of it.
var replicaLine = regexp.MustCompile(`(?m)^slave\d+:ip=([^,]+),port=(\d+),state=(\w+)`)

// redisReplicas looks at who takes the place of a Redis that is lost.
func (v *Visit) redisReplicas(ctx context.Context, rdb *goredis.Client, o *goredis.Options, all map[string]string) {
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
		v.bad("redis_replicas", "start the replicas, or lower min-replicas-to-write", "min-replicas-to-write is %d and %d replicas are near: Redis takes no commits", least, have)
	case have > 0 && least == 0:
		v.warn("redis_replicas", "min-replicas-to-write 1, with two replicas, so that one may be away", "Redis has replicas and does not wait for any: one that is cut off goes on taking commits, which are gone when another one is made the primary")
	case have > 0 && have == least:
		v.warn("redis_replicas", "another replica", "Redis wants %d replicas near and has as many: when one is away it takes no commits", least)
	case have == 0 && v.Config.NodeAddr.IsValid():
		v.warn("redis_replicas", "two replicas, min-replicas-to-write 1 and three sentinels: deploy/compose", "Redis has no replica: with its machine all nodes are lost")
	default:
		v.ok("redis_replicas", "%d replicas are near", have)
	}
	for name, line := range all {
		if m := replicaLine.FindStringSubmatch(name + ":" + line); m != nil {
			v.replica(ctx, rdb, *o, net.JoinHostPort(m[1], m[2]), m[3])
		}
	}
}

// replica looks whether one could take the place of the primary. Leases end by
// the clock of whoever is that.
func (v *Visit) replica(ctx context.Context, primary *goredis.Client, o goredis.Options, at, state string) {
	ctx, cancel := context.WithTimeout(ctx, oneLimit)
	defer cancel()
	o.Addr = at
	rdb := goredis.NewClient(&o)
	defer func() { _ = rdb.Close() }()
	before := v.time()
	first, err := primary.Time(ctx).Result()
	between := v.time()
	if err != nil {
		return
	}
	if err = rdb.Ping(ctx).Err(); err != nil || state != "online" {
		v.warn("redis_replica", "let this machine reach it, with the same password", "the replica at %s (%s) cannot be looked at: %v", at, state, err)
		return
	}
	began := v.time()
	second, err := rdb.Time(ctx).Result()
	if err != nil {
		return
	}
	ahead, way := offset(first, before, between, 0)
	other, longer := offset(second, began, v.time(), 0)
	bound := v.Config.Lease / leaseMargin
	if apart := other - ahead; apart.Abs()-way-longer > bound {
		v.warn("redis_replica", "let chrony or systemd-timesyncd keep both clocks", "the clock of the replica at %s is %s from the primary's, more than the %s that a lease of %s leaves: when it takes over, leases end so much early or late", at, apart.Round(time.Millisecond), bound, v.Config.Lease)
	} else {
		v.ok("redis_replica", "the replica at %s is there", at)
	}
	v.redisPolicy(ctx, rdb, " at the replica "+at)
}
