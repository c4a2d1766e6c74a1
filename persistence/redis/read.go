package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// read asks Redis something in one round trip, and believes it only where it
// has all that was acknowledged before: one that was promoted without would
// show a key that is revoked, or a log without its last events. The answer
// stands in the command that ask queues.
func (d *Driver) read(ctx context.Context, ask func(ctx context.Context, to redis.Pipeliner)) error {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	for again := false; ; again = true {
		acked := d.acked.Load() // before Redis is asked
		pipe := d.client.Pipeline()
		number := pipe.Get(ctx, d.prefix+"n")
		ask(ctx, pipe)
		_, err := pipe.Exec(ctx)
		have, noNumber := number.Uint64()
		switch {
		case redis.HasErrorPrefix(err, "NOSCRIPT") && !again:
			if err = d.load(ctx); err != nil {
				return away(err)
			}
			continue
		case noNumber != nil && !errors.Is(noNumber, redis.Nil):
			return away(noNumber)
		case have < acked && !d.anyHistory:
			return away(errStale)
		case err != nil && !errors.Is(err, redis.Nil):
			return away(err)
		}
		return nil
	}
}

// Get returns a row, or domain.ErrNotFound.
func (d *Driver) Get(ctx context.Context, k persistence.Key) (value []byte, version uint64, err error) {
	var found *redis.SliceCmd
	if err = d.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		found = to.HMGet(ctx, d.prefix+"r:"+k.Table+"\x00"+k.ID, "v", "d")
	}); err != nil {
		return nil, 0, err
	}
	var row struct {
		Version uint64 `redis:"v"`
		Value   []byte `redis:"d"`
	}
	err = found.Scan(&row)
	switch {
	case err != nil:
		return nil, 0, away(err)
	case row.Version == 0:
		return nil, 0, domain.ErrNotFound
	}
	return row.Value, row.Version, nil
}

// Scan returns one page of a table or of a list.
func (d *Driver) Scan(ctx context.Context, r persistence.Range) (persistence.Page, error) {
	low, high := r.Bounds()
	if high != "" && low >= high {
		return persistence.Page{}, nil
	}
	from, to, reverse := "["+low, "("+high, "0"
	if low == "" {
		from = "-"
	}
	if high == "" {
		to = "+"
	}
	if r.Reverse {
		reverse = "1"
	}
	parts, err := d.run(ctx, scanScript, r.Table, r.List, from, to, r.Clamp(), reverse, persistence.PageBytes)
	if err != nil {
		return persistence.Page{}, err
	}
	page := persistence.Page{More: parts[0] == "1"}
	for parts = parts[1:]; len(parts) >= 3; parts = parts[3:] {
		row := persistence.Row{ID: parts[0], Place: parts[0], Value: []byte(parts[2])}
		if r.List != "" {
			_, row.ID, _ = strings.Cut(row.Place, "\x00")
		}
		if row.Version, err = number(parts[1]); err != nil {
			return persistence.Page{}, err
		}
		page.Rows = append(page.Rows, row)
	}
	return page, nil
}

// run reads by a script.
func (d *Driver) run(ctx context.Context, script *redis.Script, args ...any) ([]string, error) {
	var answered *redis.Cmd
	if err := d.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		answered = script.EvalSha(ctx, to, []string{d.prefix}, args...)
	}); err != nil {
		return nil, err
	}
	parts, err := answered.StringSlice()
	return parts, away(err)
}

// LastOffset is the offset of the last entry of a log; 0: it has none.
func (d *Driver) LastOffset(ctx context.Context, log string) (uint64, error) {
	var found *redis.StringCmd
	if err := d.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		found = to.Get(ctx, d.prefix+"o:"+log)
	}); err != nil {
		return 0, err
	}
	last, err := found.Uint64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return last, away(err)
}

// Events returns entries of a log with offset > after, in order.
func (d *Driver) Events(ctx context.Context, log string, after uint64, limit int) ([]persistence.LogEntry, error) {
	parts, err := d.run(ctx, eventsScript, log, fmt.Sprintf("0-%d", after+1), limit, persistence.PageBytes)
	if err != nil {
		return nil, err
	}
	entries := make([]persistence.LogEntry, 0, len(parts)/4)
	for ; len(parts) >= 4; parts = parts[4:] {
		e := persistence.LogEntry{Subject: parts[2], Payload: []byte(parts[3])}
		if e.Offset, err = number(parts[0]); err != nil {
			return nil, err
		}
		if e.Sequence, err = number(parts[1]); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// globbed is a text that a pattern of Redis takes for itself.
var globbed = strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[", "]", "\\]")

// Tables are the names of the tables that have rows and end in a text. It looks
// through all keys.
func (d *Driver) Tables(ctx context.Context, ending string) ([]string, error) {
	before := d.prefix + "k:"
	found := make(map[string]bool) // a key may come twice
	for cursor := uint64(0); ; {
		var page *redis.ScanCmd
		if err := d.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
			page = to.Scan(ctx, cursor, globbed.Replace(before)+"*"+globbed.Replace(ending), 1000)
		}); err != nil {
			return nil, err
		}
		keys, next := page.Val()
		for _, k := range keys {
			found[strings.TrimPrefix(k, before)] = true
		}
		if cursor = next; cursor == 0 {
			return slices.Collect(maps.Keys(found)), nil
		}
	}
}
