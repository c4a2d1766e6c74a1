package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/callboard/callboard/persistence"
)

// errLost: Redis lacks commits that were acknowledged, and the ledger cannot
// give them back.
var errLost = errors.New("redis lacks commits that were acknowledged")

// unforced numbers a commit in turn.
const unforced = ""

// lead are the arguments that each numbered script begins with: the number
// that Redis must have reached, and the number to give, where that is known.
func (d *Driver) lead(force string) []any {
	if d.anyHistory {
		return []any{"0", force}
	}
	return []any{strconv.FormatUint(d.acked.Load(), 10), force}
}

// reached remembers the highest number that was acknowledged.
func (d *Driver) reached(n uint64) {
	for {
		old := d.acked.Load()
		if n <= old || d.acked.CompareAndSwap(old, n) {
			return
		}
	}
}

// number is how far the history of the Redis that answers now goes.
func (d *Driver) number(ctx context.Context) (uint64, error) {
	n, err := d.client.Get(ctx, d.prefix+"n").Uint64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}

// restore gives a Redis that lacks acknowledged commits what it lacks, from
// the ledger and in order. Until that is done every commit is refused.
func (d *Driver) restore(ctx context.Context) error {
	d.restoring.Lock()
	defer d.restoring.Unlock()
	if d.anyHistory {
		return nil
	}
	acked := d.acked.Load() // before Redis is asked
	have, err := d.number(ctx)
	if err != nil || have >= acked {
		return err
	}
	d.log.Error("redis lacks commits that were acknowledged: a replica that had not seen them was promoted",
		slog.Uint64("has", have), slog.Uint64("acknowledged", acked))
	if d.ledger == nil {
		return fmt.Errorf("%w: it has %d of %d, and there is no ledger", errLost, have, acked)
	}
	all, err := d.ledger.read()
	if err != nil {
		return err
	}
	return d.redo(ctx, have, all)
}

// redo runs what follows have. What was never answered may stand in between:
// where a number is missing, it is tried first.
func (d *Driver) redo(ctx context.Context, have uint64, all []past) error {
	var done, open []past
	oldest := uint64(0)
	for _, p := range all {
		if p.number > 0 && (oldest == 0 || p.number < oldest) {
			oldest = p.number
		}
		switch {
		case p.number > have:
			done = append(done, p)
		case p.number == 0:
			open = append(open, p)
		}
	}
	if oldest == 0 || oldest > have+1 {
		return fmt.Errorf("%w: it has %d of %d, and the ledger begins at %d", errLost, have, d.acked.Load(), oldest)
	}
	slices.SortFunc(done, func(a, b past) int { return cmp.Compare(a.number, b.number) })
	for _, p := range done {
		for len(open) > 0 && have+1 < p.number {
			ok, err := d.again(ctx, open[0], have+1)
			if err != nil {
				return err
			}
			open = open[1:]
			if ok {
				have++
			}
		}
		if have+1 < p.number { // another process has written it, whose ledger has it
			return fmt.Errorf("%w: number %d is missing, and this ledger does not have it", errLost, have+1)
		}
		ok, err := d.again(ctx, p, p.number)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%w: number %d does not follow from what it has", errLost, p.number)
		}
		have = p.number
	}
	d.log.Warn("redis was given the commits that it lacked", slog.Int("commits", len(done)))
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

// settle writes what became of a batch before anybody hears of it.
func (d *Driver) settle(answers map[*request]answer) {
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
