package pebble

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/callboard/callboard/persistence"
)

// claim is what a request claims.
type claim int

const (
	noClaim claim = iota // it is a commit
	claimShard
	claimAll
)

// nobody is the token of a shard that was taken from its owner and given to
// nobody.
const nobody = "0|"

// takeShard gives a shard, or all that were ever claimed, to a token. Whoever had all
// of them has none once another one takes a single one.
func takeShard(b *draft, c *persistence.Commit, what claim) error {
	if what == claimAll {
		return takeAll(b, []byte(c.Token))
	}
	all, err := get(b, allKey)
	if err != nil {
		return err
	}
	whole := key(tokenSpace, persistence.Whole)
	if have, err := get(b, whole); err != nil {
		return err
	} else if all != nil && bytes.Equal(have, all) {
		if err = errors.Join(b.set(whole, []byte(nobody)), b.drop(allKey)); err != nil {
			return err
		}
	}
	return b.set(key(tokenSpace, c.Shard), []byte(c.Token))
}

func takeAll(b *draft, token []byte) error {
	shards := [][]byte{key(tokenSpace, persistence.Whole), allKey}
	for _, some := range []map[string][]byte{b.recent.old, b.recent.young} { // perhaps claimed in this very batch
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
