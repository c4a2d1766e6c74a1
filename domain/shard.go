package domain

// MaxShards is into how many shards an install can be divided at most.
const MaxShards = 1024

// ShardOf is the shard, from 0, that a workspace belongs to where an install is
// divided into so many; 0 where it is not divided, and of what belongs to no
// workspace. It must never change: rows and routes of every install depend on
// it. It is FNV-1a, 64 bits, over the bytes of the id, modulo the shards.
func ShardOf(workspaceID string, shards int) int {
	if shards <= 1 || workspaceID == "" {
		return 0
	}
	h := uint64(14695981039346656037)
	for i := range len(workspaceID) {
		h ^= uint64(workspaceID[i])
		h *= 1099511628211
	}
	return int(h % uint64(shards)) //nolint:gosec // below shards
}
