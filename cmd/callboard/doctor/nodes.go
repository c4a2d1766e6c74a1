package doctor

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/callboard/callboard/configs"
)

// Node is a process of the install that lives, by the store of leases.
type Node struct {
	ID, Addr, SIP string
	Version       string
	Lease         time.Duration // 0: the same
	Shards        int           // 0: the same
}

// nodeChecker compares the nodes of the cluster with this one.
type nodeChecker struct {
	report     *report
	config     *configs.Config
	clock      clockChecker
	nodes      []Node // that live
	err        error  // why nodes is not known
	ask        func(ctx context.Context, addr string) (time.Time, error)
	stranger   error
	fileSystem int64
}

// check looks at the settings, addresses and clocks of the other nodes.
func (c *nodeChecker) check(ctx context.Context) {
	list, err := c.nodes, c.err
	if err != nil {
		c.report.bad("nodes", "look at redis_url", "which nodes live cannot be asked: %v", err)
		return
	}
	own := c.config.Node.Addr
	if !own.IsValid() {
		if len(list) > 0 {
			c.report.bad("node_alone", "set node_addr to be one of them, or stop them", "%d nodes live on this store, %s at %s among them: a process without node_addr does not start beside them", len(list), list[0].ID, list[0].Addr)
		}
		return
	}
	c.ownFolder()
	if len(list) == 0 {
		c.report.ok("nodes", "no node lives yet")
		return
	}
	c.report.ok("nodes", "%d nodes live: %s", len(list), strings.Join(each(list, func(n *Node) string { return n.ID + " at " + n.Addr }), ", "))
	c.alike(list)
	c.addressed(list)
	for i := range list {
		if list[i].Addr != own.String() {
			c.reachNode(ctx, &list[i])
		}
	}
}

func each(list []Node, of func(*Node) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = of(&list[i])
	}
	return out
}

// alike looks at what has to be the same on every node.
func (c *nodeChecker) alike(list []Node) {
	shards, version := 0, ""
	for _, n := range list {
		if n.Lease > 0 && n.Lease != c.config.Node.LeaseDuration {
			c.report.bad("node_lease", "the same lease_seconds on every node", "node %s at %s has a lease of %s, this one of %s: the longer one is believed dead while it works, or the shorter one late", n.ID, n.Addr, n.Lease, c.config.Node.LeaseDuration)
		}
		switch {
		case n.Shards == 0:
		case shards == 0:
			shards = n.Shards
		case n.Shards != shards:
			c.report.bad("node_shards", "stop all nodes, and start them with the same shards", "node %s at %s divides the workspaces into %d shards, others into %d: they do not agree on who has which", n.ID, n.Addr, n.Shards, shards)
		}
		switch {
		case version == "":
			version = n.Version
		case n.Version != version:
			c.report.warn("node_version", "end the upgrade that was begun: docs/cluster.md", "node %s at %s is version %s, others are %s: two versions side by side are for the time of an upgrade", n.ID, n.Addr, n.Version, version)
		}
	}
}

// addressed looks whether each node tells the others an address of its own that
// they can reach.
func (c *nodeChecker) addressed(list []Node) {
	for what, of := range map[string]func(*Node) string{"node_addr": func(n *Node) string { return n.Addr }, "sip_addr": func(n *Node) string { return n.SIP }} {
		all := each(list, of)
		for i, at := range all {
			if j := slices.Index(all, at); at != "" && j < i {
				c.report.bad("node_address", "an address of its own for each node", "nodes %s and %s both tell others %s as their %s", list[j].ID, list[i].ID, at, what)
			}
			a, err := netip.ParseAddrPort(at)
			elsewhere := slices.ContainsFunc(all, func(other string) bool {
				b, failed := netip.ParseAddrPort(other)
				return failed == nil && !b.Addr().IsLoopback()
			})
			if err == nil && (a.Addr().IsUnspecified() || a.Addr().IsLoopback() && elsewhere) {
				c.report.bad("node_address", "an address that the other machines reach, in "+what+" or public_ip", "node %s tells the others %s as its %s", list[i].ID, at, what)
			}
		}
	}
}

// reachNode connects to a node as the others do, and compares its clock.
func (c *nodeChecker) reachNode(ctx context.Context, n *Node) {
	if c.ask == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, oneLimit)
	defer cancel()
	before := c.clock.time()
	theirs, err := c.ask(ctx, n.Addr)
	after := c.clock.time()
	switch {
	case errors.Is(err, c.stranger) && c.stranger != nil:
		c.report.bad("node_key", "the same key in master_key_file on every node", "node %s at %s has another master key, or something else answers there", n.ID, n.Addr)
		return
	case err != nil:
		c.report.bad("node_reach", "open the port of node_addr between the nodes, and look at that machine; a node that the others do not reach gives its work away", "node %s at %s does not answer: %v", n.ID, n.Addr, err)
		return
	}
	// What an answer calls a second has begun up to one before.
	c.clock.compare("node_clock", "node "+n.ID+" at "+n.Addr, theirs.Add(time.Second/2), before, after, time.Second/2)
	c.report.ok("node_reach", "node %s at %s answers in %s", n.ID, n.Addr, after.Sub(before).Round(time.Millisecond))
}

// shared are the kinds of file systems that several machines may have at once.
var shared = map[int64]string{ //nolint:gochecknoglobals // a list
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0xc36400: "Ceph", 0x01021997: "9p", 0x7461636f: "OCFS2", 0x01161970: "GFS2", 0x0bd00bd0: "Lustre",
}

// ownFolder looks whether the data folder is this node's alone.
func (c *nodeChecker) ownFolder() {
	kind := c.fileSystem
	if kind == 0 {
		var st unix.Statfs_t
		if unix.Statfs(existing(c.config.Data), &st) != nil {
			return
		}
		kind = int64(uint32(st.Type)) //nolint:gosec // 32 bits, whatever their sign
	}
	if name, is := shared[kind]; is {
		c.report.warn("data_shared", "a folder on a disk of this machine: two nodes never share one", "the data folder %s lies on %s, where other nodes may have the same", c.config.Data, name)
	}
}
