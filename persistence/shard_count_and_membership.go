package persistence

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Shard is the part of a store that a Store owns: all workspaces for which domain.ShardOf returns Number, of Count
// shards. The zero value is the whole store, whatever its number of shards.
//
// # Fencing
//
// The owner of a shard claims it and commits under its name, so owners of different shards do not affect each other. A new
// owner of a shard fences the previous one: its commits are refused with domain.ErrFenced.
//
// A process that owns the whole store commits under the name of shard 0. It claims every shard that was ever claimed in
// one step, which fences all nodes. The driver stores that the whole store was claimed. The next claim of any shard
// fences that process, because both would write the same rows. The driver also keeps the epochs reached so far, so that a
// delayed node cannot claim a shard with a lower epoch.
//
// # Rows without a workspace
//
// The owner of any shard may write rows of the installation (of workspace ""). They are the only rows that several shards
// write. Each such write must be guarded by the version of the row, or add to a counter row. Of two concurrent writes one
// gets domain.ErrConflict.
type Shard struct{ Number, Count int }

// ErrShardCount reports that a store is divided into another number of shards than the process is configured for.
var ErrShardCount = errors.New("all nodes of an installation must have the same number of shards")

// ErrOtherShard reports that a workspace belongs to another shard. It wraps domain.ErrFenced, although the process
// still owns its own shard.
var ErrOtherShard = fmt.Errorf("%w: the workspace belongs to another shard", domain.ErrFenced)

// shardsKey is the key of the row with the number of shards, in decimal.
var shardsKey = Key{Table: table("_meta", ""), ID: "shards"}

func shardsValue(n int) []byte { return []byte(strconv.Itoa(n)) }

func (p Shard) check() error {
	if p.Count < 0 || p.Count > domain.MaxShards || p.Number < 0 || p.Number >= max(p.Count, 1) {
		return fmt.Errorf("%w: shard %d of %d", ErrMalformed, p.Number, p.Count)
	}
	return nil
}

func (p Shard) name() string { return strconv.Itoa(p.Number) }

// checkShardCount returns ErrShardCount if the store is divided into another number of shards. have is 0 if the store
// contains no number.
func (p Shard) checkShardCount(have int) error {
	if p.Count == 0 || have == 0 || have == p.Count {
		return nil
	}
	return fmt.Errorf("%w: shards is %d here, and the store has %d shards", ErrShardCount, p.Count, have)
}

// checkWorkspace returns ErrOtherShard for a workspace of another shard.
func (p Shard) checkWorkspace(workspace string) error {
	if p.Count <= 1 || workspace == "" {
		return nil
	}
	if of := domain.ShardOf(workspace, p.Count); of != p.Number {
		return fmt.Errorf("%w: workspace %q belongs to shard %d, and this is shard %d of %d", ErrOtherShard, workspace, of, p.Number, p.Count)
	}
	return nil
}

// checkChange returns ErrOtherShard for a change that writes to a workspace of another shard. Guards may name any row.
func (p Shard) checkChange(c *commit.Change) error {
	if p.Count <= 1 {
		return nil
	}
	if err := errors.Join(p.checkWorkspace(c.Workspace), p.checkWorkspace(logName(*c))); err != nil {
		return err
	}
	touches := func(k domain.Key) error {
		if k.Workspace == c.Workspace {
			return nil
		}
		return p.checkWorkspace(k.Workspace)
	}
	for _, r := range c.Puts {
		if err := touches(r.Key()); err != nil {
			return err
		}
	}
	for _, t := range c.Adds {
		if err := touches(t.Key()); err != nil {
			return err
		}
	}
	for _, k := range c.Deletes {
		if err := touches(k); err != nil {
			return err
		}
	}
	return nil
}

// ShardCount returns the number of shards of a store. It returns 0 for an empty store and 1 for a store that was never
// divided.
func ShardCount(ctx context.Context, d Driver) (int, error) {
	// The fingerprint is read before the number of shards, because a process that initializes an empty store writes both
	// rows in one commit. If the fingerprint exists, a missing number means one shard.
	_, _, err := d.Get(ctx, fingerprintKey)
	empty := errors.Is(err, domain.ErrNotFound)
	if err != nil && !empty {
		return 0, fmt.Errorf("persistence: shards: %w", err)
	}
	value, _, err := d.Get(ctx, shardsKey)
	switch {
	case errors.Is(err, domain.ErrNotFound) && empty:
		return 0, nil
	case errors.Is(err, domain.ErrNotFound):
		return 1, nil
	case err != nil:
		return 0, fmt.Errorf("persistence: shards: %w", err)
	}
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 1 || n > domain.MaxShards {
		return 0, fmt.Errorf("%w: invalid number of shards %q in the store", ErrFormat, value)
	}
	return n, nil
}

// SetShardCount sets the number of shards of a store, 1 to domain.MaxShards. It must be called while no node is
// running. It claims the whole store first. So a node that is running nevertheless is fenced, and finds the new number
// when it claims its shards again. If another process claims a shard meanwhile, SetShardCount changes nothing and
// returns domain.ErrFenced.
func SetShardCount(ctx context.Context, d Driver, shards int) error {
	if err := (Shard{Count: shards}).check(); err != nil || shards == 0 {
		return errors.Join(err, fmt.Errorf("%w: %d shards", ErrMalformed, shards))
	}
	token := "1|" + rand.Text()
	if err := d.ClaimAll(ctx, token); err != nil {
		return fmt.Errorf("persistence: divide: %w", err)
	}
	_, err := d.Commit(ctx, Commit{Shard: WholeStore, Token: token, Puts: []Put{{Key: shardsKey, Value: shardsValue(shards)}}})
	if err != nil {
		return fmt.Errorf("persistence: divide: %w", err)
	}
	return nil
}
