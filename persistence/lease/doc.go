// Package lease says which node of an install owns which shard of workspaces.
// It knows no workspace, no commit and no actor: it hands out tokens, tells
// when they may no longer be used, and calls who starts and stops a shard.
//
// A node has one lease, which it renews about three times in its length by one
// call. A shard names its owner by a token, "epoch|instance", and is free when
// that owner's lease has ended. A Holder keeps the shards of one node: those
// that rendezvous hashing gives to it among the nodes that do not drain.
//
// Two things keep a shard from being served twice: its owner acts only before
// Engine.Deadline, and each commit carries the token, which the store compares
// for equality. The first keeps the wire quiet, the second is the proof: a
// process that is stopped between asking and acting is caught by it alone.
//
// Alone is the engine of one process. Beat is that of several, over a Wire;
// the folders below are wires.
package lease
