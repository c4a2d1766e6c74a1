package redis

import (
	"cmp"
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
	number uint64 // of the commit in the history of Redis
	err    error
}

type request struct {
	ctx      context.Context //nolint:containedctx // it is the caller's, for as long as the caller waits
	id       string
	of       *history
	kind     byte // entryIntent, entryClaim or entryAll
	args     []any
	intended bool // it stands in the ledger
	size     int
	events   int
	puts     int
	answer   chan answer // room for the one answer
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
	return d.submit(ctx, &request{id: c.ID, of: d.history(c.Shard), kind: entryIntent, args: arguments(c), size: c.Size(), events: len(c.Events), puts: len(c.Puts)})
}

// submit queues a request and waits for its answer.
func (d *Driver) submit(ctx context.Context, r *request) (persistence.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	r.ctx, r.answer = ctx, make(chan answer, 1)
	if err := d.enqueue(r); err != nil {
		return persistence.Result{}, err
	}
	select {
	case a := <-r.answer:
		return a.result, a.err
	case <-ctx.Done():
		return persistence.Result{}, away(cmp.Or(r.of.err(), ctx.Err()))
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
	a = append(a, c.Forget, strconv.FormatUint(c.Trim, 10))
	a = append(a, len(c.DeleteEvents))
	for _, offset := range c.DeleteEvents {
		a = append(a, "0-"+strconv.FormatUint(offset, 10))
	}
	a = append(a, len(c.ForgetSubjects))
	for _, subject := range c.ForgetSubjects {
		a = append(a, subject)
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
		if r.ctx.Err() != nil || d.rests(r) {
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
	if err := d.intend(waiting); err != nil {
		d.setHealth(err)
		return waiting
	}
	pipe := d.client.Pipeline()
	commands := make([]*redis.Cmd, len(waiting))
	for i, r := range waiting {
		commands[i] = scriptOf(r.kind).EvalSha(ctx, pipe, []string{d.prefix}, append(d.lead(r.of, unforced), r.args...)...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	return append(again, d.hear(ctx, waiting, commands)...)
}

// scriptOf is what runs an entry of the ledger.
func scriptOf(kind byte) *redis.Script {
	switch kind {
	case entryClaim:
		return claimScript
	case entryAll:
		return claimAllScript
	default:
		return commitScript
	}
}

// hear gives the answers out, once the ledger has them, and returns what has
// to be sent again.
func (d *Driver) hear(ctx context.Context, waiting []*request, commands []*redis.Cmd) (again []*request) {
	unloaded := false
	answers := make(map[*request]answer, len(waiting))
	for i, r := range waiting {
		err := commands[i].Err()
		var refused redis.Error
		switch {
		case err == nil:
			a := parse(commands[i], r)
			if errors.Is(a.err, errStale) {
				r.of.lacks()
				d.wake()
				if !d.rests(r) { // it is over already
					again = append(again, r)
				}
				continue
			}
			d.setHealth(nil)
			answers[r] = a
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
	d.recordOutcomes(answers)
	for r, a := range answers {
		r.of.reached(a.number)
		r.answer <- a
	}
	if unloaded {
		d.setHealthIf(d.load(ctx))
	}
	return again
}

// passing says whether Redis itself may recover from an error by waiting.
func passing(err error) bool {
	for _, p := range []string{"LOADING", "MISCONF", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "OOM"} {
		if redis.HasErrorPrefix(err, p) {
			return true
		}
	}
	return false
}

// errStale: Redis has not reached what was acknowledged.
var errStale = errors.New("redis: a replica answers that lacks commits")

func parse(cmd *redis.Cmd, r *request) (a answer) {
	parts, err := cmd.StringSlice()
	if err != nil || len(parts) == 0 {
		return answer{err: errors.Join(errAnswer, err)}
	}
	switch {
	case parts[0] == "stale":
		return answer{err: errStale}
	case parts[0] == "fenced":
		return answer{err: domain.ErrFenced}
	case parts[0] == "conflict":
		return answer{err: domain.ErrConflict}
	case parts[0] == "malformed":
		return answer{err: fmt.Errorf("%w: a row is no tally of this kind", persistence.ErrMalformed)}
	case parts[0] != "ok" || len(parts) != 5:
		return answer{err: fmt.Errorf("%w: %q", errAnswer, parts)}
	}
	if a.number, a.err = number(parts[4]); a.err != nil {
		return a
	}
	if a.result.Offset, a.err = number(parts[2]); a.err != nil {
		return a
	}
	if a.result.Versions, a.err = numbers(parts[1], r.puts); a.err != nil {
		return a
	}
	a.result.Sequences, a.err = numbers(parts[3], r.events)
	return a
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
