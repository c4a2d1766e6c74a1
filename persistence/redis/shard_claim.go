package redis

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/callboard/callboard/persistence"
)

// Claim makes the process with this token the owner of a shard. Later commits to the shard with another token are
// refused.
func (d *Driver) Claim(ctx context.Context, shard, token string) error {
	if err := (persistence.Commit{Shard: shard, Token: token}).Check(); err != nil {
		return err
	}
	_, err := d.submit(ctx, &request{id: rand.Text(), of: d.history(shard), kind: entryClaim, args: []any{shard, token}})
	return err
}

// ClaimAll makes the process with this token the owner of all shards. It passes the highest epoch that it has read to
// the script. So a claim that is replayed after a fail-over takes no shard from a node with a later claim.
func (d *Driver) ClaimAll(ctx context.Context, token string) error {
	if err := (persistence.Commit{Token: token}).Check(); err != nil {
		return err
	}
	var tokens *redis.StringSliceCmd
	if err := d.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		tokens = to.HVals(ctx, d.prefix+"t")
	}); err != nil {
		return err
	}
	highest := uint64(0)
	for _, t := range tokens.Val() {
		highest = max(highest, tokenEpoch(t))
	}
	_, err := d.submit(ctx, &request{id: rand.Text(), of: d.history(persistence.WholeStore), kind: entryAll, args: []any{token, strconv.FormatUint(highest, 10)}})
	return err
}

// tokenEpoch returns the epoch, the number before "|" in a token, or 0 if there is none.
func tokenEpoch(token string) uint64 {
	first, _, _ := strings.Cut(token, "|")
	n, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
