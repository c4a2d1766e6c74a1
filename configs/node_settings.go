package configs

import (
	"net/netip"
	"strconv"
	"time"
)

// nodeSettings returns the settings of a node in a cluster.
func nodeSettings() []Setting {
	return []Setting{
		{
			Key:  "node_addr",
			Rule: "an IP address at which the other nodes reach this one and a port, such as 10.0.0.7:8090, and a port that nothing else here listens on",
			Doc:  "Address at which the other nodes of the cluster connect to this node, over TLS with a key derived from the master key. The nodes share the Redis of `redis_url`. One node owns each shard; the others forward requests to the owner and take the shard over when the owner dies. Requires `redis_url` and `master_key_file`; recordings and exports also require `blobs_url`. Empty: a single node without a cluster. See [several nodes](cluster.md).",
			set:  setField(func(c *Config) *addrPort { return (*addrPort)(&c.Node.Addr) }, parseNodeAddr),
			rule: &crossRule{[]string{"redis_url", "master_key_file", "http_addr"}, checkNodeAddr},
		},
		{
			Key: "shards", Default: "1",
			Rule: "a whole number from 1 to 1024, the same on every node",
			Doc:  "Number of shards that divide the workspaces among the nodes. With 1, one node serves all workspaces and the others stand by. To distribute the load, set several times the number of nodes. The store keeps the value: a node with another value starts only while no other node runs. See [several nodes](cluster.md#changing-a-parameter).",
			set: setField(func(c *Config) *int { return &c.Node.Shards }, func(s string) (int, bool) {
				n, err := strconv.Atoi(s)
				return n, err == nil && n >= 1 && n <= 1024
			}),
			rule: &crossRule{[]string{"node_addr"}, checkShards},
		},
		{
			Key: "lease_seconds", Default: "2",
			Rule: "a whole number of seconds from 1 to 30, the same on every node",
			Doc:  "Lifetime of a shard lease. Another node takes a shard over when its owner has not renewed the lease for this time. Redis keeps the value: a node with another value starts only while no other node runs. See [several nodes](cluster.md#changing-a-parameter).",
			set: setField(func(c *Config) *seconds { return (*seconds)(&c.Node.LeaseDuration) }, func(s string) (seconds, bool) {
				n, ok := parseSeconds(s)
				return n, ok && time.Duration(n) >= time.Second && time.Duration(n) <= 30*time.Second
			}),
		},
		{
			Key:  "survive_calls",
			Rule: "true or false",
			Doc:  "Whether another process resumes the live calls of a process that stops or dies. Each call then stores its state while it runs. Default: true with `node_addr`, false without it. See [several nodes](cluster.md#calls-that-outlive-their-node).",
			set:  setField(func(c *Config) *bool { return &c.Node.SurviveCalls }, parseBool),
			derive: func(c *Config) string {
				c.Node.SurviveCalls = c.Node.Addr.IsValid()
				return strconv.FormatBool(c.Node.SurviveCalls)
			},
		},
	}
}

func parseNodeAddr(s string) (addrPort, bool) {
	a, ok := parseAddrPort(s)
	at := netip.AddrPort(a)
	return a, ok && at.Port() != 0 && !at.Addr().IsUnspecified() && !at.Addr().IsMulticast()
}

func checkNodeAddr(c *Config) string {
	switch {
	case !c.Node.Addr.IsValid():
		return ""
	case c.RedisURL.Reveal() == "":
		return "set together with redis_url: only one process can use the embedded store"
	case c.MasterKeyFile == "":
		return "set together with master_key_file, the same key on every node"
	case c.Node.Addr == c.HTTP.Addr:
		return "another address than http_addr"
	}
	return ""
}

func checkShards(c *Config) string {
	if c.Node.Shards > 1 && !c.Node.Addr.IsValid() {
		return "1 unless node_addr is set: a single process owns all shards"
	}
	return ""
}
