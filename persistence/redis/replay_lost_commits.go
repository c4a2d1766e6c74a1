package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/callboard/callboard/persistence"
)

// errLost reports that Redis lacks acknowledged commits that the ledger cannot restore.
var errLost = errors.New("redis lacks commits that were acknowledged")

// nextNumber as a script argument lets Redis give a commit the next number of its shard.
const nextNumber = ""

// scriptArguments returns the first arguments of every script that numbers a commit. The first is the commit number
// that Redis must have reached. force is the number that the commit must get, or nextNumber.
func (d *Driver) scriptArguments(of *history, force string) []any {
	if d.anyHistory {
		return []any{"0", force}
	}
	return []any{strconv.FormatUint(of.acked.Load(), 10), force}
}

// shardBehind is a shard of which Redis lacks acknowledged commits. have is the number of the last commit in Redis.
type shardBehind struct {
	*history
	have uint64
}

// findLacking returns the shards of which Redis lacks acknowledged commits. It marks the other shards as restored, which
// sends their held requests.
func (d *Driver) findLacking(ctx context.Context) (list []shardBehind, err error) {
	of := d.allHistories()
	acked := acknowledged(of) // read first, because the answer of Redis need not contain later commits
	have, err := d.lastNumbers(ctx, of)
	if err != nil || d.anyHistory {
		return nil, err
	}
	for i, h := range of {
		switch {
		case have[i] < acked[i]:
			if h.markBehind(); h.isRestoreDue() {
				d.log.Error("redis lacks commits that were acknowledged, because a replica without them was promoted",
					slog.String("shard", h.shard), slog.Uint64("has", have[i]), slog.Uint64("acknowledged", acked[i]))
			}
			list = append(list, shardBehind{h, have[i]})
		case h.markRestored():
			d.log.Info("redis has all commits of a shard again", slog.String("shard", h.shard))
		}
	}
	return list, nil
}

// restore replays from the ledger the acknowledged commits that Redis lacks, in order within each shard. Until the
// commits of a shard are restored, its commits and reads are refused. Other shards are not affected.
//
// Several processes restore concurrently, each from its own ledger. The order between commits of different shards
// may change. Only rows without a workspace are written by several shards, under guards: a commit is refused until
// the commits that it depends on are restored. So restore repeats the replay as long as a shard makes progress, and
// the health monitor repeats restore.
//
// A shard stays refused if one of its commits can never be replayed. Such a commit depends on a row that was written
// between the fail-over and the restore, or that was deleted and created again within the lost commits.
func (d *Driver) restore(ctx context.Context) error {
	d.restoreLock.Lock()
	defer d.restoreLock.Unlock()
	list, err := d.findLacking(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	due := false
	for _, l := range list {
		err = errors.Join(err, l.err())
		due = due || l.isRestoreDue()
	}
	if !due {
		return err
	}
	var all []ledgerEntry
	if d.ledger != nil {
		if all, err = d.ledger.read(); err != nil {
			return err
		}
	}
	for progress := true; progress; {
		progress, err = false, nil
		rest := list[:0]
		for _, l := range list {
			before := l.have
			failed := d.replay(ctx, &l, all)
			switch {
			case failed == nil:
				l.markRestored()
			case !errors.Is(failed, errLost):
				return failed
			default:
				l.recordFailure(failed)
				rest, err = append(rest, l), errors.Join(err, failed)
			}
			progress = progress || l.have > before
		}
		list = rest
	}
	return err
}

// selectEntries selects the ledger entries of the shard. done are the acknowledged commits that Redis lacks, in the
// order of their numbers. open are commits without an answer. oldest is the shard's lowest commit number in the ledger.
func (l *shardBehind) selectEntries(all []ledgerEntry) (done, open []ledgerEntry, oldest uint64) {
	for _, p := range all {
		if p.shard() != l.shard {
			continue
		}
		if p.number > 0 && (oldest == 0 || p.number < oldest) {
			oldest = p.number
		}
		switch {
		case p.number > l.have:
			done = append(done, p)
		case p.number == 0:
			open = append(open, p)
		}
	}
	slices.SortFunc(done, func(a, b ledgerEntry) int { return cmp.Compare(a.number, b.number) })
	return done, open, oldest
}

// replay executes the commits that Redis lacks in the order of their numbers, and advances l.have. If the ledger lacks
// a number, replay first tries the commits without an answer, because Redis may have given that number to one of them.
func (d *Driver) replay(ctx context.Context, l *shardBehind, all []ledgerEntry) error {
	acked := l.acked.Load()
	lost := func(format string, args ...any) error {
		return fmt.Errorf("%w: of shard %s it has %d of %d, and %s", errLost, l.shard, l.have, acked, fmt.Sprintf(format, args...))
	}
	if d.ledger == nil {
		return lost("there is no ledger")
	}
	done, open, oldest := l.selectEntries(all)
	if oldest == 0 || oldest > l.have+1 {
		return lost("the ledger begins at %d", oldest)
	}
	for _, p := range done {
		for len(open) > 0 && l.have+1 < p.number {
			ok, err := d.replayOne(ctx, open[0], l.have+1)
			if err != nil {
				return err
			}
			open = open[1:]
			if ok {
				l.have++
			}
		}
		if l.have+1 < p.number { // another process has written this commit, which is in the ledger of that process
			return lost("number %d is missing, and this ledger does not have it", l.have+1)
		}
		ok, err := d.replayOne(ctx, p, p.number)
		if err != nil {
			return err
		}
		if !ok {
			return lost("number %d does not follow from what it has", p.number)
		}
		l.have = p.number
	}
	if l.have < acked {
		return lost("the ledger ends at %d", l.have)
	}
	d.log.Warn("the commits that redis lacked were restored", slog.String("shard", l.shard), slog.Int("commits", len(done)))
	return nil
}

// replayOne executes a commit of the ledger under its number. It returns false if Redis refuses the commit.
func (d *Driver) replayOne(ctx context.Context, p ledgerEntry, number uint64) (bool, error) {
	args := make([]any, 0, len(p.args)+2)
	args = append(args, "0", strconv.FormatUint(number, 10))
	for _, a := range p.args {
		args = append(args, a)
	}
	parts, err := scriptOf(p.kind).Run(ctx, d.client, []string{d.prefix}, args...).StringSlice()
	if err != nil {
		return false, err
	}
	return len(parts) == 5 && parts[0] == "ok" && parts[4] == strconv.FormatUint(number, 10), nil
}

// recordOutcomes writes the outcomes of a batch to the ledger, before the callers get them. If the write fails, it
// replaces the successful outcomes by ErrUnavailable.
func (d *Driver) recordOutcomes(answers map[*request]outcome) {
	if d.ledger == nil || len(answers) == 0 {
		return
	}
	sure := false
	err := d.ledger.writeEntries(true, func(add func(byte, ...string) error) error {
		for r, a := range answers {
			var err error
			if a.err == nil {
				sure = true
				err = add(entryAck, r.id, strconv.FormatUint(a.number, 10))
			} else {
				err = add(entryRefused, r.id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || !sure {
		return
	}
	d.log.Error("the ledger of the commits to redis cannot be written", slog.Any("error", err))
	for r, a := range answers {
		if a.err == nil {
			answers[r] = outcome{err: fmt.Errorf("%w: %w", persistence.ErrUnavailable, err)}
		}
	}
}

// recordIntents writes commits to the ledger before they are sent.
func (d *Driver) recordIntents(batch []*request) error {
	if d.ledger == nil {
		return nil
	}
	return d.ledger.writeEntries(false, func(add func(byte, ...string) error) error {
		for _, r := range batch {
			if r.intended {
				continue
			}
			if err := add(r.kind, append([]string{r.id}, argumentTexts(r.args)...)...); err != nil {
				return err
			}
			r.intended = true
		}
		return nil
	})
}
