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

// reader reads from Redis. of returns the shards whose acknowledged commits Redis must have for a read to succeed.
type reader struct {
	d  *Driver
	of func() []*history
}

// read executes the commands that ask queues in one round trip. It returns an error if Redis lacks commits of the
// reader's shards that were acknowledged before the read. A promoted replica that lacks commits would show a revoked
// key as valid, or a log without its last events.
func (r reader) read(ctx context.Context, ask func(ctx context.Context, to redis.Pipeliner)) error {
	d := r.d
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	for again := false; ; again = true {
		of := r.of()
		acked := acknowledged(of) // the numbers acknowledged before the read
		pipe := d.client.Pipeline()
		numbers := func() ([]uint64, error) { return nil, nil }
		if len(of) > 0 {
			numbers = queueLastNumbers(ctx, pipe, of)
		}
		ask(ctx, pipe)
		_, err := pipe.Exec(ctx)
		have, noNumber := numbers()
		switch {
		case redis.HasErrorPrefix(err, "NOSCRIPT") && !again:
			if err = d.load(ctx); err != nil {
				return unavailableError(err)
			}
			continue
		case noNumber != nil:
			return unavailableError(noNumber)
		}
		for i, h := range of {
			if have[i] < acked[i] && !d.anyHistory {
				if h.markBehind() {
					d.triggerRestore()
				}
				return unavailableError(h.err())
			}
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return unavailableError(err)
		}
		return nil
	}
}

// acknowledged returns the highest acknowledged commit number of each shard in of.
func acknowledged(of []*history) []uint64 {
	list := make([]uint64, len(of))
	for i, h := range of {
		list[i] = h.acked.Load()
	}
	return list
}

// Get returns the value and the version of a row, or domain.ErrNotFound.
func (r reader) Get(ctx context.Context, k persistence.Key) (value []byte, version uint64, err error) {
	var found *redis.SliceCmd
	if err = r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		found = queueRowRead(ctx, to, r.d.prefix, k)
	}); err != nil {
		return nil, 0, err
	}
	return parseRow(found)
}

// queueRowRead queues the read of a row's version and value.
func queueRowRead(ctx context.Context, to redis.Cmdable, prefix string, k persistence.Key) *redis.SliceCmd {
	return to.HMGet(ctx, prefix+"r:"+k.Table+"\x00"+k.ID, "v", "d")
}

// parseRow returns the value and the version that queueRowRead has read, or domain.ErrNotFound.
func parseRow(found *redis.SliceCmd) (value []byte, version uint64, err error) {
	var row struct {
		Version uint64 `redis:"v"`
		Value   []byte `redis:"d"`
	}
	err = found.Scan(&row)
	switch {
	case err != nil:
		return nil, 0, unavailableError(err)
	case row.Version == 0:
		return nil, 0, domain.ErrNotFound
	}
	return row.Value, row.Version, nil
}

// ReadRow reads a row of the Redis at a URL without changing anything. It returns domain.ErrNotFound if there is no
// such row.
func ReadRow(ctx context.Context, url string, k persistence.Key) (value []byte, version uint64, err error) {
	settings, err := connectionOptions(url, 0)
	if err != nil {
		return nil, 0, err
	}
	client := redis.NewClient(settings)
	defer func() { err = errors.Join(err, client.Close()) }()
	if err = checkLayout(ctx, client, tag); errors.Is(err, redis.Nil) {
		return nil, 0, domain.ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	return parseRow(queueRowRead(ctx, client, tag, k))
}

// Scan returns one page of the rows of a table, or of a list if want.List is set.
func (r reader) Scan(ctx context.Context, want persistence.Range) (persistence.Page, error) {
	low, high := want.Bounds()
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
	if want.Reverse {
		reverse = "1"
	}
	parts, err := r.run(ctx, scanScript, want.Table, want.List, from, to, want.PageLimit(), reverse, persistence.PageBytes)
	if err != nil {
		return persistence.Page{}, err
	}
	page := persistence.Page{More: parts[0] == "1"}
	for parts = parts[1:]; len(parts) >= 3; parts = parts[3:] {
		row := persistence.Row{ID: parts[0], Position: parts[0], Value: []byte(parts[2])}
		if want.List != "" {
			_, row.ID, _ = strings.Cut(row.Position, "\x00")
		}
		if row.Version, err = number(parts[1]); err != nil {
			return persistence.Page{}, err
		}
		page.Rows = append(page.Rows, row)
	}
	return page, nil
}

// run executes a read-only Lua script and returns its answer.
func (r reader) run(ctx context.Context, script *redis.Script, args ...any) ([]string, error) {
	var answered *redis.Cmd
	if err := r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		answered = script.EvalSha(ctx, to, []string{r.d.prefix}, args...)
	}); err != nil {
		return nil, err
	}
	parts, err := answered.StringSlice()
	return parts, unavailableError(err)
}

// LastOffset returns the offset of the last entry of an event log, or 0 if the log is empty.
func (r reader) LastOffset(ctx context.Context, log string) (uint64, error) {
	var found *redis.StringCmd
	if err := r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		found = to.Get(ctx, r.d.prefix+"o:"+log)
	}); err != nil {
		return 0, err
	}
	last, err := found.Uint64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return last, unavailableError(err)
}

// Events returns at most limit entries of an event log, in order, beginning after the offset after.
func (r reader) Events(ctx context.Context, log string, after uint64, limit int) ([]persistence.LogEntry, error) {
	parts, err := r.run(ctx, eventsScript, log, fmt.Sprintf("0-%d", after+1), limit, persistence.PageBytes)
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

// globEscaper escapes the special characters of a Redis pattern.
var globEscaper = strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[", "]", "\\]")

// Tables returns the names of all tables that have rows and whose name ends in ending. It scans all keys of Redis.
func (r reader) Tables(ctx context.Context, ending string) ([]string, error) {
	before := r.d.prefix + "k:"
	found := make(map[string]bool) // SCAN may return a key twice
	for cursor := uint64(0); ; {
		var page *redis.ScanCmd
		if err := r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
			page = to.Scan(ctx, cursor, globEscaper.Replace(before)+"*"+globEscaper.Replace(ending), 1000)
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
