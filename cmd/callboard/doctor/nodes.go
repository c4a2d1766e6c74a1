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

// Node is a live node of the cluster, as the lease store lists it.
type Node struct {
	ID, Addr, SIP string
	Version       string
	Lease         time.Duration // 0: the node does not publish the duration
	Shards        int           // 0: the node does not publish the number
}

// nodeChecker compares the settings and clocks of the cluster's other nodes with those of this node.
type nodeChecker struct {
	report        *report
	config        *configs.Config
	clock         clockChecker
	liveNodes     []Node // live nodes of the cluster
	err           error  // error of the list of live nodes
	probeNode     func(ctx context.Context, addr string) (time.Time, error)
	wrongKeyError error
	fileSystem    int64
}

// check checks the settings, the addresses and the clocks of the other nodes.
func (c *nodeChecker) check(ctx context.Context) {
	list, err := c.liveNodes, c.err
	if err != nil {
		c.report.bad("nodes", "check redis_url", "the list of live nodes cannot be read: %v", err)
		return
	}
	own := c.config.Node.Addr
	if !own.IsValid() {
		if len(list) > 0 {
			c.report.bad("node_addr_missing", "set node_addr to join the cluster, or stop the other nodes", "%d live nodes use this store, such as %s at %s: a process without node_addr does not start beside them", len(list), list[0].ID, list[0].Addr)
		}
		return
	}
	c.checkDataFolder()
	if len(list) == 0 {
		c.report.ok("nodes", "there are no live nodes")
		return
	}
	c.report.ok("nodes", "%d live nodes: %s", len(list), strings.Join(mapNodes(list, func(n *Node) string { return n.ID + " at " + n.Addr }), ", "))
	c.checkSettingsMatch(list)
	c.checkAdvertisedAddresses(list)
	for i := range list {
		if list[i].Addr != own.String() {
			c.reachNode(ctx, &list[i])
		}
	}
}

func mapNodes(list []Node, of func(*Node) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = of(&list[i])
	}
	return out
}

// checkSettingsMatch reports nodes whose lease duration, number of shards or version differs.
func (c *nodeChecker) checkSettingsMatch(list []Node) {
	shards, version := 0, ""
	for _, n := range list {
		if n.Lease > 0 && n.Lease != c.config.Node.LeaseDuration {
			c.report.bad("node_lease", "set the same lease_seconds on every node", "node %s at %s has a lease of %s, this node %s: other nodes may take shards over too early or too late", n.ID, n.Addr, n.Lease, c.config.Node.LeaseDuration)
		}
		switch {
		case n.Shards == 0:
		case shards == 0:
			shards = n.Shards
		case n.Shards != shards:
			c.report.bad("node_shards", "stop all nodes, and start them with the same shards", "node %s at %s has %d shards, other nodes %d: they disagree about the owners of workspaces", n.ID, n.Addr, n.Shards, shards)
		}
		switch {
		case version == "":
			version = n.Version
		case n.Version != version:
			c.report.warn("node_version", "finish the upgrade, see docs/cluster.md", "node %s at %s has version %s, other nodes %s: run different versions only during an upgrade", n.ID, n.Addr, n.Version, version)
		}
	}
}

// checkAdvertisedAddresses checks that the nodes announce different addresses, which other machines can reach.
func (c *nodeChecker) checkAdvertisedAddresses(list []Node) {
	for what, of := range map[string]func(*Node) string{"node_addr": func(n *Node) string { return n.Addr }, "sip_addr": func(n *Node) string { return n.SIP }} {
		all := mapNodes(list, of)
		for i, at := range all {
			if j := slices.Index(all, at); at != "" && j < i {
				c.report.bad("node_address", "set a different address on each node", "nodes %s and %s both announce %s as their %s", list[j].ID, list[i].ID, at, what)
			}
			a, err := netip.ParseAddrPort(at)
			elsewhere := slices.ContainsFunc(all, func(other string) bool {
				b, failed := netip.ParseAddrPort(other)
				return failed == nil && !b.Addr().IsLoopback()
			})
			if err == nil && (a.Addr().IsUnspecified() || a.Addr().IsLoopback() && elsewhere) {
				c.report.bad("node_address", "set an address that the other machines can reach in "+what+" or public_ip", "node %s announces %s as its %s", list[i].ID, at, what)
			}
		}
	}
}

// reachNode probes a node at its node_addr and compares the node's clock with the clock of this machine.
func (c *nodeChecker) reachNode(ctx context.Context, n *Node) {
	if c.probeNode == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	before := c.clock.now()
	theirs, err := c.probeNode(ctx, n.Addr)
	after := c.clock.now()
	switch {
	case errors.Is(err, c.wrongKeyError) && c.wrongKeyError != nil:
		c.report.bad("node_key", "use the same key in master_key_file on every node", "node %s at %s has another master key, or another program answers there", n.ID, n.Addr)
		return
	case err != nil:
		c.report.bad("node_reach", "open the port of node_addr between the nodes, and check that machine; an unreachable node loses its shards", "node %s at %s does not answer: %v", n.ID, n.Addr, err)
		return
	}
	// The node truncates its clock to seconds. Adding half a second therefore gives the best estimate of its time.
	c.clock.compare("node_clock", "node "+n.ID+" at "+n.Addr, theirs.Add(time.Second/2), before, after, time.Second/2)
	c.report.ok("node_reach", "node %s at %s answered in %s", n.ID, n.Addr, after.Sub(before).Round(time.Millisecond))
}

// sharedFileSystems maps the type numbers of file systems that several machines can mount to their names.
var sharedFileSystems = map[int64]string{ //nolint:gochecknoglobals // a list
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0xc36400: "Ceph", 0x01021997: "9p", 0x7461636f: "OCFS2", 0x01161970: "GFS2", 0x0bd00bd0: "Lustre",
}

// checkDataFolder warns if the data folder is on a file system that other nodes may mount too.
func (c *nodeChecker) checkDataFolder() {
	kind := c.fileSystem
	if kind == 0 {
		var st unix.Statfs_t
		if unix.Statfs(nearestExistingFolder(c.config.Data), &st) != nil {
			return
		}
		kind = int64(uint32(st.Type)) //nolint:gosec // the type has 32 bits on all platforms
	}
	if name, is := sharedFileSystems[kind]; is {
		c.report.warn("data_shared", "use a folder on a local disk: nodes must not share a data folder", "the data folder %s is on %s, which other nodes may mount too", c.config.Data, name)
	}
}
