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

// reader reads for the owners of some shards.
type reader struct {
	d  *Driver
	of func() []*history
}

// read asks Redis something in one round trip, and believes it only where it
// has all that was acknowledged before in the reader's shards: one that was
// promoted without would show a key that is revoked, or a log without its last
// events. The answer stands in the command that ask queues.
func (r reader) read(ctx context.Context, ask func(ctx context.Context, to redis.Pipeliner)) error {
	d := r.d
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	for again := false; ; again = true {
		of := r.of()
		acked := acknowledged(of) // before Redis is asked
		pipe := d.client.Pipeline()
		numbers := func() ([]uint64, error) { return nil, nil }
		if len(of) > 0 {
			numbers = askNumbers(ctx, pipe, of)
		}
		ask(ctx, pipe)
		_, err := pipe.Exec(ctx)
		have, noNumber := numbers()
		switch {
		case redis.HasErrorPrefix(err, "NOSCRIPT") && !again:
			if err = d.load(ctx); err != nil {
				return away(err)
			}
			continue
		case noNumber != nil:
			return away(noNumber)
		}
		for i, h := range of {
			if have[i] < acked[i] && !d.anyHistory {
				if h.lacks() {
					d.wake()
				}
				return away(h.err())
			}
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return away(err)
		}
		return nil
	}
}

// acknowledged is how far histories go as far as is known here.
func acknowledged(of []*history) []uint64 {
	list := make([]uint64, len(of))
	for i, h := range of {
		list[i] = h.acked.Load()
	}
	return list
}

// Get returns a row, or domain.ErrNotFound.
func (r reader) Get(ctx context.Context, k persistence.Key) (value []byte, version uint64, err error) {
	var found *redis.SliceCmd
	if err = r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		found = askRow(ctx, to, r.d.prefix, k)
	}); err != nil {
		return nil, 0, err
	}
	return rowOf(found)
}

// askRow asks for a row.
func askRow(ctx context.Context, to redis.Cmdable, prefix string, k persistence.Key) *redis.SliceCmd {
	return to.HMGet(ctx, prefix+"r:"+k.Table+"\x00"+k.ID, "v", "d")
}

// rowOf is the row that was asked for, or domain.ErrNotFound.
func rowOf(found *redis.SliceCmd) (value []byte, version uint64, err error) {
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

// ReadRow reads a row of the Redis of a URL, and changes nothing there; or is
// domain.ErrNotFound.
func ReadRow(ctx context.Context, url string, k persistence.Key) (value []byte, version uint64, err error) {
	settings, err := settingsOf(url, 0)
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
	return rowOf(askRow(ctx, client, tag, k))
}

// Scan returns one page of a table or of a list.
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
	parts, err := r.run(ctx, scanScript, want.Table, want.List, from, to, want.Clamp(), reverse, persistence.PageBytes)
	if err != nil {
		return persistence.Page{}, err
	}
	page := persistence.Page{More: parts[0] == "1"}
	for parts = parts[1:]; len(parts) >= 3; parts = parts[3:] {
		row := persistence.Row{ID: parts[0], Place: parts[0], Value: []byte(parts[2])}
		if want.List != "" {
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
func (r reader) run(ctx context.Context, script *redis.Script, args ...any) ([]string, error) {
	var answered *redis.Cmd
	if err := r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
		answered = script.EvalSha(ctx, to, []string{r.d.prefix}, args...)
	}); err != nil {
		return nil, err
	}
	parts, err := answered.StringSlice()
	return parts, away(err)
}

// LastOffset is the offset of the last entry of a log; 0: it has none.
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
	return last, away(err)
}

// Events returns entries of a log with offset > after, in order.
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

// globbed is a text that a pattern of Redis takes for itself.
var globbed = strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[", "]", "\\]")

// Tables are the names of the tables that have rows and end in a text. It looks
// through all keys.
func (r reader) Tables(ctx context.Context, ending string) ([]string, error) {
	before := r.d.prefix + "k:"
	found := make(map[string]bool) // a key may come twice
	for cursor := uint64(0); ; {
		var page *redis.ScanCmd
		if err := r.read(ctx, func(ctx context.Context, to redis.Pipeliner) {
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
