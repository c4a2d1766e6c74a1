// Package redis stores leases in the Redis database of the data store, with one Lua script for each call.
//
// It uses the clock of Redis.
//
// # Keys
//
// Each key follows the prefix and the hash tag {cb}. The data store has the same tag, so that all keys of an installation
// are in one hash slot.
//
//	lease:nodes      sorted set: node → end of its lease in milliseconds of Redis's clock.
//	lease:who        hash: node → its JSON.
//	lease:rows       hash: shard → token; "epoch|": the shard is free.
//	lease:changed    sorted set: shard → number of its last change.
//	lease:n          hash: rows, nodes: number of the last change; sum: of the numbers in changed, modulo 2^32.
//	lease:parameters hash: setting → its value on all live nodes (lease.Parameter).
//	lease:news       channel: announces changes.
//
// The number of a change is one more than the previous number, or Redis's clock in milliseconds if that is higher. The
// number of a claim is its epoch. By the sum a node detects that a replica lacks changes.
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
	// pingAfterSilence is the time without a message after which a ping checks whether the subscription still works.
	pingAfterSilence = 10 * time.Second
)

// Options configure the lease store.
type Options struct {
	Prefix string // prefix of every key; the same as in the data store
	lease.Options
}

// New returns a lease engine on the Redis at a URL (redis://[user:password@]host:port/db). The engine connects in
// Join.
func New(url string, o Options) (*lease.Heartbeat, error) {
	w, err := connect(url, &o)
	if err != nil {
		return nil, err
	}
	return lease.NewHeartbeat(w, o.Options), nil
}

func connect(url string, o *Options) (*store, error) {
	settings, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("redis: the URL is not redis://[user:password@]host:port/db") // err may contain the password
	}
	o.Lease = min(cmp.Or(o.Lease, lease.DefaultLease), lease.MaxLease)
	settings.MaxRetries = -1 // Heartbeat retries by itself and measures its deadline from each attempt
	settings.ContextTimeoutEnabled = true
	settings.DialTimeout = min(o.Lease/3, time.Second)
	settings.DialerRetries = 1
	settings.ReadTimeout, settings.WriteTimeout = o.Lease, o.Lease
	settings.PoolSize = 8
	settings.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &store{client: redis.NewClient(settings), prefix: o.Prefix + tag, length: o.Lease}, nil
}

type store struct {
	client *redis.Client
	prefix string
	length time.Duration
}

var _ lease.Store = (*store)(nil)

var errAnswer = errors.New("redis: unexpected answer of a script")

func (w *store) run(ctx context.Context, s *redis.Script, args ...any) ([]string, error) {
	list, err := s.Run(ctx, w.client, []string{w.prefix}, args...).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return list, nil
}

// Renew implements lease.Store.
func (w *store) Renew(ctx context.Context, self lease.Node, keep bool, seen lease.Revision) (news lease.Changes, err error) {
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
	case len(list) > 0 && list[0] == mismatchAnswer:
		return news, parseMismatch(list, self)
	}
	return parse(list)
}

// mismatchAnswer is the first word of renewScript's answer if it refuses a lease because of another parameter value.
const mismatchAnswer = "differs"

// parseMismatch converts an answer of renewScript that refuses a lease to a *lease.ParameterMismatchError.
func parseMismatch(list []string, self lease.Node) error {
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
	if e.LiveNodes, err = strconv.Atoi(list[3]); err == nil && list[4] != "" {
		err = json.Unmarshal([]byte(list[4]), &one)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	e.Addr = one.Addr
	return e
}

// parse converts an answer of renewScript to lease.Changes.
func parse(list []string) (news lease.Changes, err error) {
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
	news = lease.Changes{
		Revision: lease.Revision{Nodes: n[0], Rows: n[1]}, Sum: uint32(n[2]), HasSum: true, //nolint:gosec // bounded by the script
		LeaseEnded: n[3] == 1, NextLeaseEnd: time.Duration(n[4]) * time.Millisecond, AllRows: n[5] == 1, //nolint:gosec // 63 bits
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
		r.Revision, err = strconv.ParseUint(rev, 10, 63)
	}
	if err == nil {
		err = lease.CheckShards(r.Shard)
	}
	if err != nil {
		return r, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return r, nil
}

// Claim implements lease.Store.
func (w *store) Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) ([]lease.Row, error) {
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
		return nil, lease.ErrLeaseEnded
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

// Release implements lease.Store.
func (w *store) Release(ctx context.Context, shard int, t lease.Token) (lease.Row, error) {
	list, err := w.run(ctx, releaseScript, shard, string(t))
	if err != nil {
		return lease.Row{}, err
	}
	if len(list) != 2 {
		return lease.Row{}, fmt.Errorf("%w: %q", errAnswer, list)
	}
	return parseRow(strconv.Itoa(shard), list[0], list[1])
}

// Leave implements lease.Store.
func (w *store) Leave(ctx context.Context, id string) error {
	_, err := w.run(ctx, leaveScript, id)
	return err
}

// Notices implements lease.Store.
func (w *store) Notices(ctx context.Context, each func()) error {
	sub := w.client.Subscribe(ctx, w.prefix+"lease:news")
	defer func() { _ = sub.Close() }()
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	for asked := false; ; {
		message, err := sub.ReceiveTimeout(ctx, pingAfterSilence)
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

// Close implements lease.Store.
func (w *store) Close() error { return w.client.Close() }
