// Package persistence stores records, their lists and the events that they cause. A change is one atomic, durable commit
// on a Driver, or nothing of it is stored.
//
// Every commit names the versions of the rows that it depends on. A conflicting commit is refused with domain.ErrConflict.
//
// # Raw layout
//
// Store lays records out on a driver as follows. Kinds that begin with "_" belong to the store itself.
//
//	content        table              id              list (sorted by).
//	record         kind/workspace     Key.ID          Record.Indexes (Record.Sort, then id).
//	data key       _key/workspace     data            –.
//	fingerprint    _meta/             master_key      –.
//	root key       _meta/             root            –.
//	shard count    _meta/             shards          –.
//	requirement    _meta/             format          –.
//	workspace of   _where/            record's id     –.
//	event          log = workspace    offset          –.
//	sequence       log = workspace    subject         –.
//
// A value is one byte and a body. The low seven bits of the byte are the schema version of the record.
// The high bit says that the body is compressed with zstd. The body is the record's JSON with sealed secret fields.
//
// A counter row (domain.Tally) has its numbers at the end of its JSON. Commits add to the numbers, so that any number of
// writers may do so concurrently.
//
// A sealed field is "s1." and the base64 of nonce, AES-256-GCM ciphertext and tag. The key is the data key of the
// record's workspace. The additional data are workspace, kind, id and field, each followed by a zero byte.
//
// A data key is 32 random bytes, encrypted in the same way by the master key. So is the root key: the first master key,
// which is kept when the master key is rotated.
package persistence
