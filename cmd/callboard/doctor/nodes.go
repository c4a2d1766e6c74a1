package doctor

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Node is a process of the install that lives, by the store of leases.
type Node struct {
	ID, Addr, SIP string
	Version       string
	Lease         time.Duration // 0: the same
	Shards        int           // 0: the same
}

// clockApart is how far two clocks of an install may be from each other: what
// is due (calling hours, retries, calls per minute) goes by that of the node
// that has the workspace, and moves by the difference when another one has it.
const clockApart = 2 * time.Second

// live asks who lives. Where one of them is at this machine's address it runs
// here: a node that has not the work has no local socket that would tell.
func (v *Visit) live(ctx context.Context) {
	v.alive, v.unknown = nil, nil
	if v.Nodes == nil || v.Config == nil {
		return
	}
	if v.alive, v.unknown = v.Nodes(ctx); v.unknown != nil {
		return
	}
	own := v.Config.NodeAddr
	if own.IsValid() && slices.ContainsFunc(v.alive, func(n Node) bool { return n.Addr == own.String() }) {
		v.Running = true
	}
}

// nodes looks at the other processes of the install.
func (v *Visit) nodes(ctx context.Context) {
	if v.Nodes == nil {
		return
	}
	list, err := v.alive, v.unknown
	if err != nil {
		v.bad("nodes", "look at redis_url", "which nodes live cannot be asked: %v", err)
		return
	}
	own := v.Config.NodeAddr
	if !own.IsValid() {
		if len(list) > 0 {
			v.bad("node_alone", "set node_addr to be one of them, or stop them", "%d nodes live on this store, %s at %s among them: a process without node_addr does not start beside them", len(list), list[0].ID, list[0].Addr)
		}
		return
	}
	v.ownFolder()
	if len(list) == 0 {
		v.ok("nodes", "no node lives yet")
		return
	}
	v.ok("nodes", "%d nodes live: %s", len(list), strings.Join(each(list, func(n *Node) string { return n.ID + " at " + n.Addr }), ", "))
	v.alike(list)
	v.addressed(list)
	for i := range list {
		if list[i].Addr != own.String() {
			v.reachNode(ctx, &list[i])
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
func (v *Visit) alike(list []Node) {
	shards, version := 0, ""
	for _, n := range list {
		if n.Lease > 0 && n.Lease != v.Config.Lease {
			v.bad("node_lease", "the same lease_seconds on every node", "node %s at %s has a lease of %s, this one of %s: the longer one is believed dead while it works, or the shorter one late", n.ID, n.Addr, n.Lease, v.Config.Lease)
		}
		switch {
		case n.Shards == 0:
		case shards == 0:
			shards = n.Shards
		case n.Shards != shards:
			v.bad("node_shards", "stop all nodes, and start them with the same shards", "node %s at %s divides the workspaces into %d shards, others into %d: they do not agree on who has which", n.ID, n.Addr, n.Shards, shards)
		}
		switch {
		case version == "":
			version = n.Version
		case n.Version != version:
			v.warn("node_version", "end the upgrade that was begun: docs/cluster.md", "node %s at %s is version %s, others are %s: two versions side by side are for the time of an upgrade", n.ID, n.Addr, n.Version, version)
		}
	}
}

// addressed looks whether each node tells the others an address of its own that
// they can reach.
func (v *Visit) addressed(list []Node) {
	for what, of := range map[string]func(*Node) string{"node_addr": func(n *Node) string { return n.Addr }, "sip_addr": func(n *Node) string { return n.SIP }} {
		all := each(list, of)
		for i, at := range all {
			if j := slices.Index(all, at); at != "" && j < i {
				v.bad("node_address", "an address of its own for each node", "nodes %s and %s both tell others %s as their %s", list[j].ID, list[i].ID, at, what)
			}
			a, err := netip.ParseAddrPort(at)
			elsewhere := slices.ContainsFunc(all, func(other string) bool {
				b, failed := netip.ParseAddrPort(other)
				return failed == nil && !b.Addr().IsLoopback()
			})
			if err == nil && (a.Addr().IsUnspecified() || a.Addr().IsLoopback() && elsewhere) {
				v.bad("node_address", "an address that the other machines reach, in "+what+" or public_ip", "node %s tells the others %s as its %s", list[i].ID, at, what)
			}
		}
	}
}

// reachNode connects to a node as the others do, and compares its clock.
func (v *Visit) reachNode(ctx context.Context, n *Node) {
	if v.Ask == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, oneLimit)
	defer cancel()
	before := v.time()
	theirs, err := v.Ask(ctx, n.Addr)
	after := v.time()
	switch {
	case errors.Is(err, v.Stranger) && v.Stranger != nil:
		v.bad("node_key", "the same key in master_key_file on every node", "node %s at %s has another master key, or something else answers there", n.ID, n.Addr)
		return
	case err != nil:
		v.bad("node_reach", "open the port of node_addr between the nodes, and look at that machine; a node that the others do not reach gives its work away", "node %s at %s does not answer: %v", n.ID, n.Addr, err)
		return
	}
	// What an answer calls a second has begun up to one before.
	v.apart("node_clock", "node "+n.ID+" at "+n.Addr, theirs.Add(time.Second/2), before, after, time.Second/2)
	v.ok("node_reach", "node %s at %s answers in %s", n.ID, n.Addr, after.Sub(before).Round(time.Millisecond))
}

// apart compares another clock, read at some time between two of ours and true
// to unsure, with this machine's.
func (v *Visit) apart(check, whose string, theirs, before, after time.Time, unsure time.Duration) {
	off, unsure := offset(theirs, before, after, unsure)
	const mend = "let chrony or systemd-timesyncd keep both clocks"
	switch known := off.Abs() - unsure; {
	case known > clockSlack:
		v.bad(check, mend, "the clock of %s is %s from this machine's: tokens and signatures that one node makes are old or early on the other", whose, off.Round(time.Millisecond))
	case known > clockApart:
		v.warn(check, mend, "the clock of %s is %s from this machine's: calling hours, retries and calls per minute move by that when a workspace changes nodes", whose, off.Round(time.Millisecond))
	default:
		v.ok(check, "the clock of %s is within %s of this machine's", whose, clockApart)
	}
}

// offset is how far another clock is ahead, and what of that may be the way.
func offset(theirs, before, after time.Time, unsure time.Duration) (ahead, most time.Duration) {
	trip := after.Sub(before)
	return theirs.Sub(before.Add(trip / 2)), trip/2 + unsure
}

// time is what the clock of this machine says.
func (v *Visit) time() time.Time {
	if v.Wall != nil {
		return v.Wall()
	}
	return time.Now()
}

// shared are the kinds of file systems that several machines may have at once.
var shared = map[int64]string{ //nolint:gochecknoglobals // a list
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0xc36400: "Ceph", 0x01021997: "9p", 0x7461636f: "OCFS2", 0x01161970: "GFS2", 0x0bd00bd0: "Lustre",
}

// ownFolder looks whether the data folder is this node's alone.
func (v *Visit) ownFolder() {
	kind := v.FileSystem
	if kind == 0 {
		var st unix.Statfs_t
		if unix.Statfs(existing(v.Config.Data), &st) != nil {
			return
		}
		kind = int64(uint32(st.Type)) //nolint:gosec // 32 bits, whatever their sign
	}
	if name, is := shared[kind]; is {
		v.warn("data_shared", "a folder on a disk of this machine: two nodes never share one", "the data folder %s lies on %s, where other nodes may have the same", v.Config.Data, name)
	}
}
