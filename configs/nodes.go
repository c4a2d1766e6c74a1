package configs

import (
	"net/netip"
	"strconv"
	"time"
)

// nodeSettings are the settings of a node of a cluster.
func nodeSettings() []Setting {
	return []Setting{
		{
			Key:  "node_addr",
			Rule: "an IP address at which the other nodes reach this one and a port, such as 10.0.0.7:8090, and a port that nothing else here listens on",
			Doc:  "Be one node of several on the Redis of `redis_url`: one of them has the work, the others pass requests on to it and take the work up where it dies. Here the others connect, over TLS with a key made of the master key. Needs `redis_url` and `master_key_file`, and `blobs_url` for recordings and exports. Empty: this process is the only one. See [several nodes](cluster.md).",
			set:  setField(func(c *Config) *addrPort { return (*addrPort)(&c.Node.Addr) }, parseNodeAddr),
			rule: &crossRule{[]string{"redis_url", "master_key_file", "http_addr"}, checkNodeAddr},
		},
		{
			Key: "shards", Default: "1",
			Rule: "a whole number from 1 to 1024, the same on every node",
			Doc:  "Into how many parts the workspaces are divided among the nodes. With 1 one node has all of the work and the others stand by; some times as many as nodes spread it. It is kept in the store: a node with another value starts only while no node lives. See [several nodes](cluster.md#changing-a-parameter).",
			set: setField(func(c *Config) *int { return &c.Node.Shards }, func(s string) (int, bool) {
				n, err := strconv.Atoi(s)
				return n, err == nil && n >= 1 && n <= 1024
			}),
			rule: &crossRule{[]string{"node_addr"}, checkShards},
		},
		{
			Key: "lease_seconds", Default: "2",
			Rule: "a whole number of seconds from 1 to 30, the same on every node",
			Doc:  "How long the node that has the work may be silent until another one takes it. It is kept in the Redis: a node with another value starts only while no node lives. See [several nodes](cluster.md#changing-a-parameter).",
			set: setField(func(c *Config) *seconds { return (*seconds)(&c.Node.Lease) }, func(s string) (seconds, bool) {
				n, ok := parseSeconds(s)
				return n, ok && time.Duration(n) >= time.Second && time.Duration(n) <= 30*time.Second
			}),
		},
		{
			Key:  "survive_calls",
			Rule: "true or false",
			Doc:  "Whether another process goes on with the live calls of one that is stopped or has died. What it needs is stored during each call. Empty: true with `node_addr`, false without. See [several nodes](cluster.md#calls-that-outlive-their-node).",
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
		return "set together with redis_url: the embedded store has one process"
	case c.MasterKeyFile == "":
		return "set together with master_key_file, the same key on every node"
	case c.Node.Addr == c.HTTP.Addr:
		return "another address than http_addr"
	}
	return ""
}

func checkShards(c *Config) string {
	if c.Node.Shards > 1 && !c.Node.Addr.IsValid() {
		return "1 unless node_addr is set: a process that is the only one has all shards"
	}
	return ""
}
