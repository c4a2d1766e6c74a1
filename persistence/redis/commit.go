package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

const (
	queueLength = 1024
	workers     = 2   // round trips at once
	batchCount  = 128 // commits in one of them
	batchBytes  = 4 << 20
	retryFirst  = 20 * time.Millisecond
	retryMost   = 500 * time.Millisecond
)

var errAnswer = errors.New("redis: a script answered in a way that this version does not know")

type answer struct {
	result persistence.Result
	err    error
}

type request struct {
	ctx    context.Context //nolint:containedctx // it is the caller's, for as long as the caller waits
	args   []any
	size   int
	events int
	puts   int
	answer chan answer // room for the one answer
}

// Commit runs c's script and returns once Redis has it. While Redis is away it
// is tried again, always under the same id, until ctx or Options.Wait ends it.
func (d *Driver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	if err := c.Check(); err != nil {
		return persistence.Result{}, err
	}
	if c.ID == "" {
		c.ID = rand.Text()
	}
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	r := &request{
		ctx: ctx, args: arguments(c), size: c.Size(), events: len(c.Events), puts: len(c.Puts),
		answer: make(chan answer, 1),
	}
	if err := d.enqueue(r); err != nil {
		return persistence.Result{}, err
	}
	select {
	case a := <-r.answer:
		return a.result, a.err
	case <-ctx.Done():
		return persistence.Result{}, away(ctx.Err())
	}
}

func (d *Driver) enqueue(r *request) error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return persistence.ErrClosed
	}
	select {
	case d.queue <- r:
		return nil
	case <-r.ctx.Done():
		return away(r.ctx.Err())
	}
}

func arguments(c persistence.Commit) []any {
	a := []any{c.ID, c.Shard, c.Token, c.Log, rememberFor.Milliseconds(), len(c.Guards)}
	for _, g := range c.Guards {
		a = append(a, g.Key.Table, g.Key.ID, strconv.FormatUint(g.Version, 10))
	}
	a = append(a, len(c.Adds))
	for _, t := range c.Adds {
		a = append(a, t.Key.Table, t.Key.ID, t.Head, t.Text())
	}
	a = append(a, len(c.Puts))
	for _, p := range c.Puts {
		keep := 1
		if p.Value == nil {
			keep = 0
		}
		a = append(a, p.Key.Table, p.Key.ID, keep, p.Value, p.Sort, strings.Join(p.Lists, "\x00"))
	}
	a = append(a, len(c.Events))
	for _, e := range c.Events {
		a = append(a, e.Subject, e.Payload)
	}
	return a
}

// work sends what waits, several commits in one round trip.
func (d *Driver) work() {
	for r := range d.queue {
		batch, size := []*request{r}, r.size
	collect:
		for len(batch) < batchCount && size < batchBytes {
			select {
			case next, ok := <-d.queue:
				if !ok {
					break collect
				}
				batch = append(batch, next)
				size += next.size
			default:
				break collect
			}
		}
		d.deliver(batch)
	}
}

// deliver tries a batch until each of its commits is answered or given up.
func (d *Driver) deliver(batch []*request) {
	for delay := retryFirst; ; delay = min(2*delay, retryMost) {
		batch = d.attempt(batch)
		if len(batch) == 0 {
			return
		}
		t := time.NewTimer(delay)
		select {
		case <-t.C:
		case <-batch[len(batch)-1].ctx.Done(): // the last to come
		}
		t.Stop()
	}
}

// attempt sends a batch and returns what has to be sent again.
func (d *Driver) attempt(batch []*request) (again []*request) {
	var waiting []*request
	var until time.Time
	for _, r := range batch {
		if r.ctx.Err() != nil {
			continue
		}
		waiting = append(waiting, r)
		if at, ok := r.ctx.Deadline(); ok && at.After(until) {
			until = at
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(waiting[0].ctx), until)
	defer cancel()
	pipe := d.client.Pipeline()
	commands := make([]*redis.Cmd, len(waiting))
	for i, r := range waiting {
		commands[i] = commitScript.EvalSha(ctx, pipe, []string{d.prefix}, r.args...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	unloaded := false
	for i, r := range waiting {
		err := commands[i].Err()
		var refused redis.Error
		switch {
		case err == nil:
			d.setHealth(nil)
			result, refusal := parse(commands[i], r)
			r.answer <- answer{result: result, err: refusal}
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			unloaded = true
			again = append(again, r)
		case errors.As(err, &refused) && !passing(err):
			r.answer <- answer{err: away(err)}
		default:
			d.setHealth(err)
			again = append(again, r)
		}
	}
	if unloaded {
		if err := commitScript.Load(ctx, d.client).Err(); err != nil {
			d.setHealth(err)
		}
	}
	return again
}

// passing says whether Redis itself may recover from an error by waiting.
func passing(err error) bool {
	for _, p := range []string{"LOADING", "MISCONF", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS"} {
		if redis.HasErrorPrefix(err, p) {
			return true
		}
	}
	return false
}

func parse(cmd *redis.Cmd, r *request) (persistence.Result, error) {
	parts, err := cmd.StringSlice()
	if err != nil || len(parts) == 0 {
		return persistence.Result{}, errors.Join(errAnswer, err)
	}
	switch {
	case parts[0] == "fenced":
		return persistence.Result{}, domain.ErrFenced
	case parts[0] == "conflict":
		return persistence.Result{}, domain.ErrConflict
	case parts[0] == "malformed":
		return persistence.Result{}, fmt.Errorf("%w: a row is no tally of this kind", persistence.ErrMalformed)
	case parts[0] != "ok" || len(parts) != 4:
		return persistence.Result{}, fmt.Errorf("%w: %q", errAnswer, parts)
	}
	var result persistence.Result
	if result.Offset, err = number(parts[2]); err != nil {
		return persistence.Result{}, err
	}
	if result.Versions, err = numbers(parts[1], r.puts); err != nil {
		return persistence.Result{}, err
	}
	result.Sequences, err = numbers(parts[3], r.events)
	return result, err
}

func number(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return n, nil
}

func numbers(s string, want int) ([]uint64, error) {
	fields := strings.Fields(s)
	if len(fields) != want {
		return nil, fmt.Errorf("%w: %d numbers instead of %d", errAnswer, len(fields), want)
	}
	list := make([]uint64, want)
	for i, f := range fields {
		n, err := number(f)
		if err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}
