// Package lease assigns the shards of workspaces to the nodes of an installation by leases in a shared store.
//
// Each node has one lease, which it renews about three times within the lease's duration. A shard names its owner
// by a token, "epoch|instance". The shard is free once the lease of its owner has ended. A Holder claims and
// releases the shards of one node: those that rendezvous hashing assigns to the node among all nodes that do not
// drain.
//
// Two rules keep a shard from being served by two nodes. The owner acts only before Engine.Deadline. Each commit
// carries the token, which the store compares for equality. Only the token protects against a process that is
// paused between its check and its commit; the deadline avoids useless requests.
//
// Heartbeat is the Engine over a Store. The subpackages implement Store.
package lease
