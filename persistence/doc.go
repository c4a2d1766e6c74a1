// Package persistence keeps nouns, their lists and the events they caused: one
// change is one atomic, durable commit on a Driver, or nothing. It knows no
// campaign, no call and no clock; it is told what to write and against which
// versions.
//
// # Raw layout
//
// Store lays nouns out on a driver as follows. Kinds that begin with "_" are
// the store's own.
//
//	what           table              id              list (sorted by)
//	noun           kind/workspace     Key.ID          Record.Indexes (Record.Sort, then id)
//	data key       _key/workspace     data            –
//	fingerprint    _meta/             master_key      –
//	root           _meta/             root            –
//	shards         _meta/             shards          –
//	requirement    _meta/             format          –
//	workspace of   _where/            noun's id       –
//	event          log = workspace    offset          –
//	sequence       log = workspace    subject         –
//
// A value is one byte, a body. The low seven bits of the byte are the schema
// version of the record, the high bit says that the body is zstd; the body is
// the noun's JSON, its secret fields sealed.
//
// A noun that counts is a tally: commits add to its numbers, which stand at the
// end of its JSON, so that any number of writers may do so at once.
//
// A sealed field is "s1." and the base64 of nonce, AES-256-GCM ciphertext and
// tag under the data key of the noun's workspace; the additional data are
// workspace, kind, id and field, each followed by a zero byte. A data key is 32
// random bytes wrapped in the same way by the master key, and so is the root,
// which is the first master key and is kept once another one took its place.
package persistence
