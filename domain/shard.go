package domain

// MaxShards is the maximum number of shards of an installation.
const MaxShards = 1024

// ShardOf returns the number, from 0, of the shard that owns a workspace. It returns 0 for an installation with one shard
// and for data without a workspace. The function must never change, because records are stored by shard. It is FNV-1a
// with 64 bits over the ID, modulo the number of shards.
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
