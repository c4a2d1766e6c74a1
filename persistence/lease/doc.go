// Package lease assigns the shards of workspaces to the nodes of an installation by leases in a shared store.
//
// Each node has one lease, which it renews about three times within the lease's duration. A shard names its owner
// by a token, "epoch|instance". The shard is free once the lease of its owner has ended. A Holder claims and
// releases the shards for one node. Rendezvous hashing assigns each shard to one of the nodes that do not drain.
//
// Two rules keep a shard from being served by two nodes. The owner acts only before Engine.Deadline. Each commit
// carries the token, which the store compares for equality. Only the token protects against a process that is
// paused between its check and its commit. The deadline avoids requests that the store would refuse.
//
// Heartbeat implements Engine with a Store. The subpackages implement Store.
package lease
