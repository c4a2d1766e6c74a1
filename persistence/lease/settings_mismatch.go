package lease

import (
	"fmt"
	"strconv"
	"time"
)

// Names of the settings that must have the same value in all processes on a store.
const (
	settingNodeAddr = "node_addr"
	settingLease    = "lease_seconds"
	settingShards   = "shards"
)

// Parameter is the value of a setting that must be the same in all processes on a store.
type Parameter struct{ Setting, Value string }

// Parameters returns the parameters of a node. The value of node_addr is the node ID for a process that must be
// alone on the store, and "" for a node of a cluster.
func (n Node) Parameters() []Parameter {
	single := ""
	if n.Single {
		single = n.ID
	}
	list := []Parameter{{settingNodeAddr, single}}
	if n.Lease > 0 {
		seconds := (time.Duration(n.Lease) * time.Millisecond).Seconds()
		list = append(list, Parameter{settingLease, strconv.FormatFloat(seconds, 'f', -1, 64)})
	}
	if n.Shards > 0 {
		list = append(list, Parameter{settingShards, strconv.Itoa(n.Shards)})
	}
	return list
}

// ParameterMismatchError says that a process may not join the live processes on a store, because its value of a setting
// differs.
type ParameterMismatchError struct {
	Parameter        // of the joining process
	Stored    string // the value in the store
	LiveNodes int    // number of live processes on the store
	Addr      string // address of one of them; "": unknown
}

// ShardCountMismatch returns the error for a store that live nodes use with another number of shards. If the live
// process has no node_addr, the error reports that instead.
func ShardCountMismatch(shards, stored int, nodes []Node) *ParameterMismatchError {
	if nodes[0].Single {
		return &ParameterMismatchError{Parameter{Setting: settingNodeAddr}, nodes[0].ID, len(nodes), ""}
	}
	return &ParameterMismatchError{Parameter{settingShards, strconv.Itoa(shards)}, strconv.Itoa(stored), len(nodes), nodes[0].Addr}
}

// Error returns a sentence with the setting, both values and the remedy.
func (e *ParameterMismatchError) Error() string {
	liveNodes := fmt.Sprintf("%d nodes live on this store", e.LiveNodes)
	if e.LiveNodes == 1 {
		liveNodes = "a node lives on this store"
	}
	if e.Addr != "" {
		liveNodes += " (" + e.Addr + ")"
	}
	switch {
	case e.Setting != settingNodeAddr:
		return fmt.Sprintf("%s is %s here and %s in the store, and %s: set %s to %s, or stop all nodes before starting them with another value",
			e.Setting, e.Value, e.Stored, liveNodes, e.Setting, e.Stored)
	case e.Value == "":
		return "node_addr is set here, and a process without node_addr uses this store: stop that process, or wait for its lease to end if it was killed"
	case e.Stored == "":
		return "node_addr is not set here, and " + liveNodes + ": set node_addr to be one of the nodes, or stop all of them first; run commands on the node that owns the shards"
	default:
		return "node_addr is not set here, and a process without node_addr uses this store: stop it, wait for its lease to end, or run commands on its machine"
	}
}
