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

// Part is what a Store has of an install that is divided into shards: all
// workspaces for which domain.ShardOf says Shard. The zero value is the whole,
// however it is divided.
//
// # Who fences whom
//
// Each part is claimed under the name of its shard and commits under it, so the
// owners of different parts do not touch each other, and who claims a shard
// refuses who had it. A process that has the whole commits under the name of
// shard 0; it takes all shards that were ever claimed in one step with its own,
// which refuses every node of before, whatever it had. The driver remembers that
// the whole was taken: the next claim of any shard refuses that process, though
// it says the name of another shard, for the two would write the same rows. The
// epochs that were reached until then are remembered as well: a node that was
// late for so long takes nothing from anybody.
//
// # What belongs to no workspace
//
// Any part may write rows of the install (of workspace ""). They are the only
// rows that several parts write, so each such write must be guarded by the
// version of the row, or be a tally. Of two parts that write at once one hears
// domain.ErrConflict.
type Part struct{ Shard, Of int }

// ErrShards says that the store is divided into another number of shards.
var ErrShards = errors.New("the nodes of an install have the same number of shards")

// ErrElsewhere says that a workspace belongs to another part. It is a
// domain.ErrFenced that says nothing of who owns this part.
var ErrElsewhere = fmt.Errorf("%w: the workspace belongs to another shard", domain.ErrFenced)

// shardsKey holds the number of shards, as decimal text.
var shardsKey = Key{Table: table("_meta", ""), ID: "shards"}

func shardsValue(n int) []byte { return []byte(strconv.Itoa(n)) }

func (p Part) check() error {
	if p.Of < 0 || p.Of > domain.MaxShards || p.Shard < 0 || p.Shard >= max(p.Of, 1) {
		return fmt.Errorf("%w: shard %d of %d", ErrMalformed, p.Shard, p.Of)
	}
	return nil
}

func (p Part) name() string { return strconv.Itoa(p.Shard) }

// fits refuses a part of a store that is divided into have shards; 0: nobody
// has said.
func (p Part) fits(have int) error {
	if p.Of == 0 || have == 0 || have == p.Of {
		return nil
	}
	return fmt.Errorf("%w: shards is %d here, and the store is divided into %d", ErrShards, p.Of, have)
}

// mine is ErrElsewhere for a workspace of another part.
func (p Part) mine(workspace string) error {
	if p.Of <= 1 || workspace == "" {
		return nil
	}
	if of := domain.ShardOf(workspace, p.Of); of != p.Shard {
		return fmt.Errorf("%w: %q to %d, and this is %d of %d", ErrElsewhere, workspace, of, p.Shard, p.Of)
	}
	return nil
}

// allows refuses a change that touches a workspace of another part. Guards may
// look at any row.
func (p Part) allows(c *commit.Change) error {
	if p.Of <= 1 {
		return nil
	}
	if err := errors.Join(p.mine(c.Workspace), p.mine(logOf(*c))); err != nil {
		return err
	}
	touches := func(k domain.Key) error {
		if k.Workspace == c.Workspace {
			return nil
		}
		return p.mine(k.Workspace)
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

// Shards is into how many shards a store is divided: 0 while it is empty, 1 of a
// store that was never divided.
func Shards(ctx context.Context, d Driver) (int, error) {
	// In this order: whoever begins on an empty store writes both rows at once.
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
		return 0, fmt.Errorf("%w: it is divided into %q shards", ErrFormat, value)
	}
	return n, nil
}

// Divide sets into how many shards a store is divided, 1 to domain.MaxShards.
// Call it while no node lives: it takes the whole first, so that whoever lives
// nevertheless is refused from then on, and finds the new number when it claims
// anew. domain.ErrFenced: somebody came in between, and nothing was set.
func Divide(ctx context.Context, d Driver, shards int) error {
	if err := (Part{Of: shards}).check(); err != nil || shards == 0 {
		return errors.Join(err, fmt.Errorf("%w: %d shards", ErrMalformed, shards))
	}
	token := "1|" + rand.Text()
	if err := d.ClaimAll(ctx, token); err != nil {
		return fmt.Errorf("persistence: divide: %w", err)
	}
	_, err := d.Commit(ctx, Commit{Shard: Whole, Token: token, Puts: []Put{{Key: shardsKey, Value: shardsValue(shards)}}})
	if err != nil {
		return fmt.Errorf("persistence: divide: %w", err)
	}
	return nil
}
