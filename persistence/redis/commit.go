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
	workers     = 2   // concurrent round trips
	batchCount  = 128 // commits per round trip
	batchBytes  = 4 << 20
	retryFirst  = 20 * time.Millisecond
	maxRetry    = 500 * time.Millisecond
)

var errAnswer = errors.New("redis: unexpected answer of a script")

type outcome struct {
	result persistence.Result
	number uint64 // number of the commit among the commits of its shard
	err    error
}

type request struct {
	ctx      context.Context //nolint:containedctx // the context of the caller, valid while the caller waits
	id       string
	of       *history
	kind     byte // entryIntent, entryClaim or entryAll
	args     []any
	intended bool // the ledger contains the entry of this request
	size     int
	events   int
	puts     int
	answer   chan outcome // buffered, as there is exactly one outcome
}

// Commit runs the commit script with c and returns once Redis has applied it. While Redis is unavailable, the driver
// sends the commit again with the same id, until ctx ends or Options.Wait has passed.
func (d *Driver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	if err := c.Check(); err != nil {
		return persistence.Result{}, err
	}
	if c.ID == "" {
		c.ID = rand.Text()
	}
	return d.submit(ctx, &request{id: c.ID, of: d.history(c.Shard), kind: entryIntent, args: arguments(c), size: c.Size(), events: len(c.Events), puts: len(c.Puts)})
}

// submit queues a request and waits for its outcome.
func (d *Driver) submit(ctx context.Context, r *request) (persistence.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	r.ctx, r.answer = ctx, make(chan outcome, 1)
	if err := d.enqueue(r); err != nil {
		return persistence.Result{}, err
	}
	select {
	case a := <-r.answer:
		return a.result, a.err
	case <-ctx.Done():
		return persistence.Result{}, unavailableError(cmp.Or(r.of.err(), ctx.Err()))
	}
}

func (d *Driver) enqueue(r *request) error {
	d.lifecycle.RLock()
	defer d.lifecycle.RUnlock()
	if d.closed {
		return persistence.ErrClosed
	}
	select {
	case d.queue <- r:
		return nil
	case <-r.ctx.Done():
		return unavailableError(r.ctx.Err())
	}
}

func arguments(c persistence.Commit) []any {
	a := []any{c.ID, c.Shard, c.Token, c.Log, resultTTL.Milliseconds(), len(c.Guards)}
	for _, g := range c.Guards {
		a = append(a, g.Key.Table, g.Key.ID, strconv.FormatUint(g.Version, 10))
	}
	a = append(a, len(c.CounterAdds))
	for _, t := range c.CounterAdds {
		a = append(a, t.Key.Table, t.Key.ID, t.Prefix, t.DeltaText())
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
	a = append(a, c.DeleteLog, strconv.FormatUint(c.TrimUpTo, 10))
	a = append(a, len(c.DeleteEvents))
	for _, offset := range c.DeleteEvents {
		a = append(a, "0-"+strconv.FormatUint(offset, 10))
	}
	a = append(a, len(c.DeleteSubjects))
	for _, subject := range c.DeleteSubjects {
		a = append(a, subject)
	}
	return a
}

// commitLoop takes commits from the queue and sends all waiting ones in one round trip to Redis.
func (d *Driver) commitLoop() {
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

// deliver sends a batch until each of its commits is answered or the context of its caller has ended.
func (d *Driver) deliver(batch []*request) {
	for delay := retryFirst; ; delay = min(2*delay, maxRetry) {
		batch = d.attempt(batch)
		if len(batch) == 0 {
			return
		}
		t := time.NewTimer(delay)
		select {
		case <-t.C:
		case <-batch[len(batch)-1].ctx.Done(): // the last request of the batch
		}
		t.Stop()
	}
}

// attempt sends a batch once and returns the requests that have to be sent again.
func (d *Driver) attempt(batch []*request) (again []*request) {
	var waiting []*request
	var until time.Time
	for _, r := range batch {
		if r.ctx.Err() != nil || d.holdUntilRestored(r) {
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
	if err := d.recordIntents(waiting); err != nil {
		d.setHealth(err)
		return waiting
	}
	pipe := d.client.Pipeline()
	commands := make([]*redis.Cmd, len(waiting))
	for i, r := range waiting {
		commands[i] = scriptOf(r.kind).EvalSha(ctx, pipe, []string{d.prefix}, append(d.scriptArguments(r.of, nextNumber), r.args...)...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	return append(again, d.handleAnswers(ctx, waiting, commands)...)
}

// scriptOf returns the Lua script that executes a ledger entry of a kind.
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

// handleAnswers records the outcomes of a batch in the ledger and then answers the callers. It returns the requests
// that have to be sent again.
func (d *Driver) handleAnswers(ctx context.Context, waiting []*request, commands []*redis.Cmd) (again []*request) {
	unloaded := false
	answers := make(map[*request]outcome, len(waiting))
	for i, r := range waiting {
		err := commands[i].Err()
		var refused redis.Error
		switch {
		case err == nil:
			a := parseAnswer(commands[i], r)
			if errors.Is(a.err, errStale) {
				r.of.markBehind()
				d.triggerRestore()
				if !d.holdUntilRestored(r) { // restored meanwhile: send it again
					again = append(again, r)
				}
				continue
			}
			d.setHealth(nil)
			answers[r] = a
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			unloaded = true
			again = append(again, r)
		case errors.As(err, &refused) && !isTransient(err):
			r.answer <- outcome{err: unavailableError(err)}
		default:
			d.setHealth(err)
			again = append(again, r)
		}
	}
	d.recordOutcomes(answers)
	for r, a := range answers {
		r.of.recordAcknowledged(a.number)
		r.answer <- a
	}
	if unloaded {
		d.setHealthIf(d.load(ctx))
	}
	return again
}

// isTransient reports whether an error of Redis may disappear without action of an operator.
func isTransient(err error) bool {
	for _, p := range []string{"LOADING", "MISCONF", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "OOM"} {
		if redis.HasErrorPrefix(err, p) {
			return true
		}
	}
	return false
}

// errStale reports that Redis lacks acknowledged commits of a shard.
var errStale = errors.New("redis lacks commits that were acknowledged; a replica may have been promoted")

func parseAnswer(cmd *redis.Cmd, r *request) (a outcome) {
	parts, err := cmd.StringSlice()
	if err != nil || len(parts) == 0 {
		return outcome{err: errors.Join(errAnswer, err)}
	}
	switch {
	case parts[0] == "stale":
		return outcome{err: errStale}
	case parts[0] == "fenced":
		return outcome{err: domain.ErrFenced}
	case parts[0] == "conflict":
		return outcome{err: domain.ErrConflict}
	case parts[0] == "malformed":
		return outcome{err: fmt.Errorf("%w: a row is not a counter row with this prefix", persistence.ErrMalformed)}
	case parts[0] != "ok" || len(parts) != 5:
		return outcome{err: fmt.Errorf("%w: %q", errAnswer, parts)}
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
