package pebble

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/callboard/callboard/persistence"
)

// claimKind says whether a request is a commit, a claim of one shard or a claim of all shards.
type claimKind int

const (
	noClaim claimKind = iota // the request is a commit
	claimShard
	claimAll
)

// noOwner is the token of a shard that was taken from its owner and has no new owner.
const noOwner = "0|"

// applyClaim stores token c.Token as the owner of shard c.Shard, or of all shards that were ever claimed. A claim of
// one shard ends the ownership of a process that claimed all shards.
func applyClaim(b *batchDraft, c *persistence.Commit, what claimKind) error {
	if what == claimAll {
		return claimAllShards(b, []byte(c.Token))
	}
	all, err := get(b, allKey)
	if err != nil {
		return err
	}
	whole := key(tokenSpace, persistence.WholeStore)
	if have, err := get(b, whole); err != nil {
		return err
	} else if all != nil && bytes.Equal(have, all) {
		if err = errors.Join(b.set(whole, []byte(noOwner)), b.delete(allKey)); err != nil {
			return err
		}
	}
	return b.set(key(tokenSpace, c.Shard), []byte(c.Token))
}

func claimAllShards(b *batchDraft, token []byte) error {
	shards := [][]byte{key(tokenSpace, persistence.WholeStore), allKey}
	for _, some := range []map[string][]byte{b.recent.older, b.recent.newer} { // shards may have been claimed in this batch
		for k, v := range some {
			if k[0] == tokenSpace && v != nil {
				shards = append(shards, []byte(k))
			}
		}
	}
	it, err := b.db.NewIter(&pebble.IterOptions{LowerBound: []byte{tokenSpace}, UpperBound: []byte{tokenSpace + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		shards = append(shards, bytes.Clone(it.Key()))
	}
	if err = it.Close(); err != nil {
		return err
	}
	for _, k := range shards {
		if err = b.set(k, token); err != nil {
			return err
		}
	}
	return nil
}
