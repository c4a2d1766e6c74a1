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

// errLost: Redis lacks commits that were acknowledged, and the ledger cannot
// give them back.
var errLost = errors.New("redis lacks commits that were acknowledged")

// unforced numbers a commit in turn.
const unforced = ""

// lead are the arguments that each numbered script begins with: the number
// that Redis must have reached, and the number to give, where that is known.
func (d *Driver) lead(of *history, force string) []any {
	if d.anyHistory {
		return []any{"0", force}
	}
	return []any{strconv.FormatUint(of.acked.Load(), 10), force}
}

// lacking is a shard of which Redis lacks acknowledged commits.
type lacking struct {
	*history
	have uint64
}

// behind are the shards of which Redis lacks commits. Those of which it lacks
// none any more may go on.
func (d *Driver) behind(ctx context.Context) (list []lacking, err error) {
	of := d.known()
	acked := acknowledged(of) // before Redis is asked: what is acknowledged meanwhile it need not have said
	have, err := d.numbers(ctx, of)
	if err != nil || d.anyHistory {
		return nil, err
	}
	for i, h := range of {
		switch {
		case have[i] < acked[i]:
			if h.lacks(); h.due() {
				d.log.Error("redis lacks commits that were acknowledged: a replica that had not seen them was promoted",
					slog.String("shard", h.shard), slog.Uint64("has", have[i]), slog.Uint64("acknowledged", acked[i]))
			}
			list = append(list, lacking{h, have[i]})
		case h.found():
			d.log.Info("redis has all commits of a shard again", slog.String("shard", h.shard))
		}
	}
	return list, nil
}

// restore gives a Redis that lacks acknowledged commits what it lacks, from
// the ledger, in order within each shard. Until that is done every commit and
// read of the shard is refused; others go on.
//
// Several processes do so at once, each with its own commits. In what order the
// commits of different shards come to stand is not what it was; only rows of the
// install are written by several shards, under guards, so what came later is
// refused until that stands which it follows from. Therefore whoever is refused
// is tried again as long as another one gets on, and from time to time after
// that. What never follows keeps its shard refused, and is told: a row of the
// install that was taken anew between the fail-over and the restoring, or that
// came, went and came again within what was lost.
func (d *Driver) restore(ctx context.Context) error {
	d.restoring.Lock()
	defer d.restoring.Unlock()
	list, err := d.behind(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	due := false
	for _, l := range list {
		err = errors.Join(err, l.err())
		due = due || l.due()
	}
	if !due {
		return err
	}
	var all []past
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
			failed := d.redo(ctx, &l, all)
			switch {
			case failed == nil:
				l.found()
			case !errors.Is(failed, errLost):
				return failed
			default:
				l.failed(failed)
				rest, err = append(rest, l), errors.Join(err, failed)
			}
			progress = progress || l.have > before
		}
		list = rest
	}
	return err
}

// from is what a ledger has of the shard: what Redis lacks in the order of its
// numbers, what was never answered, and the first number of all.
func (l *lacking) from(all []past) (done, open []past, oldest uint64) {
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
	slices.SortFunc(done, func(a, b past) int { return cmp.Compare(a.number, b.number) })
	return done, open, oldest
}

// redo runs what follows l.have, which moves along. What was never answered may
// stand in between: where a number is missing, it is tried first.
func (d *Driver) redo(ctx context.Context, l *lacking, all []past) error {
	acked := l.acked.Load()
	lost := func(format string, args ...any) error {
		return fmt.Errorf("%w: of shard %s it has %d of %d, and %s", errLost, l.shard, l.have, acked, fmt.Sprintf(format, args...))
	}
	if d.ledger == nil {
		return lost("there is no ledger")
	}
	done, open, oldest := l.from(all)
	if oldest == 0 || oldest > l.have+1 {
		return lost("the ledger begins at %d", oldest)
	}
	for _, p := range done {
		for len(open) > 0 && l.have+1 < p.number {
			ok, err := d.again(ctx, open[0], l.have+1)
			if err != nil {
				return err
			}
			open = open[1:]
			if ok {
				l.have++
			}
		}
		if l.have+1 < p.number { // another process has written it, whose ledger has it
			return lost("number %d is missing, and this ledger does not have it", l.have+1)
		}
		ok, err := d.again(ctx, p, p.number)
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
	d.log.Warn("redis was given the commits that it lacked", slog.String("shard", l.shard), slog.Int("commits", len(done)))
	return nil
}

// again runs one commit under a number; false: it is refused.
func (d *Driver) again(ctx context.Context, p past, number uint64) (bool, error) {
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

// recordOutcomes writes what became of a batch before anybody hears of it.
func (d *Driver) recordOutcomes(answers map[*request]answer) {
	if d.ledger == nil || len(answers) == 0 {
		return
	}
	sure := false
	err := d.ledger.note(true, func(add func(byte, ...string) error) error {
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
	d.log.Error("the ledger beside redis cannot be written", slog.Any("error", err))
	for r, a := range answers {
		if a.err == nil {
			answers[r] = answer{err: fmt.Errorf("%w: %w", persistence.ErrUnavailable, err)}
		}
	}
}

// intend writes what is about to be sent.
func (d *Driver) intend(batch []*request) error {
	if d.ledger == nil {
		return nil
	}
	return d.ledger.note(false, func(add func(byte, ...string) error) error {
		for _, r := range batch {
			if r.intended {
				continue
			}
			if err := add(r.kind, append([]string{r.id}, texts(r.args)...)...); err != nil {
				return err
			}
			r.intended = true
		}
		return nil
	})
}
