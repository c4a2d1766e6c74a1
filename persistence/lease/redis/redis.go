// Package redis keeps leases in the Redis that holds the data: one script a
// call, by Redis's clock, beside the keys of the store and under the same hash
// tag. It knows no data.
//
// # Keys
//
// Each after the prefix, the hash tag {cb} and "lease:"; the tag is that of the
// store, so that an install stays on one slot:
//
//	nodes      sorted set: node → end of its lease, milliseconds of Redis's clock
//	who        hash: node → its JSON
//	rows       hash: shard → token; "epoch|" is nobody's
//	changed    sorted set: shard → number of its last change
//	n          hash: rows, nodes: number of the last change; sum: of changed, by 2^32
//	parameters hash: setting → its value on all nodes that live (lease.Parameter)
//	news       channel: something of this has changed
//
// A number of changes is one more than the one before, or a clock in
// milliseconds where that is more; that of a claim is its epoch. A replica that
// lacks changes shows by the sum.
package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/callboard/callboard/persistence/lease"
)

const (
	tag = "{cb}"
	// quiet is how long nothing need be heard before Redis is asked whether it
	// still speaks.
	quiet = 10 * time.Second
)

// Options are how a Redis is used.
type Options struct {
	Prefix string // of every key; that of the store
	lease.Options
}

// New makes the engine of a node over the Redis of a URL
// (redis://[user:password@]host:port/db). It connects in Join.
func New(url string, o Options) (*lease.Beat, error) {
	w, err := dial(url, &o)
	if err != nil {
		return nil, err
	}
	return lease.NewBeat(w, o.Options), nil
}

func dial(url string, o *Options) (*wire, error) {
	settings, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("redis: the URL is not redis://[user:password@]host:port/db") // err may hold the password
	}
	o.Lease = min(cmp.Or(o.Lease, lease.DefaultLease), lease.MaxLease)
	settings.MaxRetries = -1 // a beat tries again by itself, and counts its time from then
	settings.ContextTimeoutEnabled = true
	settings.DialTimeout = min(o.Lease/3, time.Second)
	settings.DialerRetries = 1
	settings.ReadTimeout, settings.WriteTimeout = o.Lease, o.Lease
	settings.PoolSize = 8
	settings.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &wire{client: redis.NewClient(settings), prefix: o.Prefix + tag, length: o.Lease}, nil
}

type wire struct {
	client *redis.Client
	prefix string
	length time.Duration
}

var _ lease.Wire = (*wire)(nil)

var errAnswer = errors.New("redis: an answer that no script gives")

func (w *wire) run(ctx context.Context, s *redis.Script, args ...any) ([]string, error) {
	list, err := s.Run(ctx, w.client, []string{w.prefix}, args...).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return list, nil
}

// Renew implements lease.Wire.
func (w *wire) Renew(ctx context.Context, self lease.Node, keep bool, seen lease.Seen) (news lease.News, err error) {
	var who []byte
	if keep {
		if who, err = json.Marshal(self); err != nil {
			return news, err
		}
	}
	args := []any{self.ID, who, w.length.Milliseconds(), seen.Nodes, seen.Rows, lease.MaxLease.Milliseconds()}
	for _, p := range self.Parameters() {
		args = append(args, p.Setting, p.Value)
	}
	list, err := w.run(ctx, renewScript, args...)
	switch {
	case err != nil:
		return news, err
	case len(list) > 0 && list[0] == differs:
		return news, parseDifference(list, self)
	}
	return parse(list)
}

// differs is the first word of an answer that refuses a lease.
const differs = "differs"

// parseDifference reads the answer of renewScript that refuses a lease.
func parseDifference(list []string, self lease.Node) error {
	if len(list) != 5 {
		return fmt.Errorf("%w: %q", errAnswer, list)
	}
	e := &lease.ParameterMismatchError{Stored: list[2]}
	for _, p := range self.Parameters() {
		if p.Setting == list[1] {
			e.Parameter = p
		}
	}
	var one lease.Node
	var err error
	if e.Living, err = strconv.Atoi(list[3]); err == nil && list[4] != "" {
		err = json.Unmarshal([]byte(list[4]), &one)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	e.Addr = one.Addr
	return e
}

// parse reads the answer of renewScript.
func parse(list []string) (news lease.News, err error) {
	const head = 7
	if len(list) < head {
		return news, fmt.Errorf("%w: %q", errAnswer, list)
	}
	var n [head - 1]uint64
	for i := range n {
		if n[i], err = strconv.ParseUint(list[i], 10, 63); err != nil {
			return news, fmt.Errorf("%w: %w", errAnswer, err)
		}
	}
	texts, err := strconv.Atoi(list[head-1])
	if err != nil || texts > len(list)-head {
		return news, fmt.Errorf("%w: %q nodes", errAnswer, list[head-1])
	}
	news = lease.News{
		Seen: lease.Seen{Nodes: n[0], Rows: n[1]}, Sum: uint32(n[2]), Summed: true, //nolint:gosec // the script bounds it
		Lapsed: n[3] == 1, Next: time.Duration(n[4]) * time.Millisecond, All: n[5] == 1, //nolint:gosec // 63 bits
	}
	list = list[head:]
	if texts >= 0 {
		news.Nodes = make([]lease.Node, texts)
		for i := range news.Nodes {
			if err = json.Unmarshal([]byte(list[i]), &news.Nodes[i]); err != nil {
				return news, fmt.Errorf("%w: %w", errAnswer, err)
			}
		}
		list = list[texts:]
	}
	for ; len(list) >= 3; list = list[3:] {
		r, err := parseRow(list[0], list[1], list[2])
		if err != nil {
			return news, err
		}
		news.Rows = append(news.Rows, r)
	}
	return news, nil
}

func parseRow(shard, rev, token string) (r lease.Row, err error) {
	r.Token = lease.Token(token)
	if r.Shard, err = strconv.Atoi(shard); err == nil {
		r.Rev, err = strconv.ParseUint(rev, 10, 63)
	}
	if err == nil {
		err = lease.CheckShards(r.Shard)
	}
	if err != nil {
		return r, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return r, nil
}

// Claim implements lease.Wire.
func (w *wire) Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) ([]lease.Row, error) {
	args := make([]any, 0, 3+len(shards))
	args = append(args, self, ended, floor)
	for _, shard := range shards {
		args = append(args, shard)
	}
	list, err := w.run(ctx, claimScript, args...)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, lease.ErrLapsed
	}
	var rows []lease.Row
	for _, shard := range list[1:] {
		r, err := parseRow(shard, list[0], list[0]+"|"+self)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// Release implements lease.Wire.
func (w *wire) Release(ctx context.Context, shard int, t lease.Token) (lease.Row, error) {
	list, err := w.run(ctx, releaseScript, shard, string(t))
	if err != nil {
		return lease.Row{}, err
	}
	if len(list) != 2 {
		return lease.Row{}, fmt.Errorf("%w: %q", errAnswer, list)
	}
	return parseRow(strconv.Itoa(shard), list[0], list[1])
}

// Leave implements lease.Wire.
func (w *wire) Leave(ctx context.Context, id string) error {
	_, err := w.run(ctx, leaveScript, id)
	return err
}

// Notices implements lease.Wire.
func (w *wire) Notices(ctx context.Context, each func()) error {
	sub := w.client.Subscribe(ctx, w.prefix+"lease:news")
	defer func() { _ = sub.Close() }()
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	for asked := false; ; {
		message, err := sub.ReceiveTimeout(ctx, quiet)
		var slow net.Error
		switch {
		case err == nil:
			asked = false
			if _, pong := message.(*redis.Pong); !pong {
				each()
			}
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &slow) && slow.Timeout() && !asked:
			if err = sub.Ping(ctx); err != nil {
				return err
			}
			asked = true
		default:
			return err
		}
	}
}

// Close implements lease.Wire.
func (w *wire) Close() error { return w.client.Close() }
