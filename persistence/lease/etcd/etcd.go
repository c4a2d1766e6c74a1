// Package etcd keeps leases in an etcd (3.4 or newer), over the JSON gateway
// that each of its members serves beside gRPC. It knows no data.
//
// # Keys
//
// Each after the prefix and "lease/":
//
//	nodes/ID      JSON of a node; goes with the node's lease
//	rows/SHARD    token; "epoch|" is nobody's
//
// A shard is free when its owner's key is gone, and both are compared in the
// transaction that claims it.
package etcd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// perTxn is how many shards one transaction claims: etcd takes 128 comparisons.
const perTxn = 50

var errAnswer = errors.New("etcd: an answer that makes no sense")

// Options are how an etcd is used.
type Options struct {
	Prefix string // of every key; installs with different ones share an etcd
	lease.Options
}

// New makes the engine of a node over the members of an etcd, "http://host:port"
// or https, separated by commas. Passwords are not spoken. It connects in Join.
// etcd counts in seconds and lets no lease end before two; a shorter one ends
// for its node as it says, and for the others then.
func New(members string, o Options) (*lease.Beat, error) {
	var list []string
	for m := range strings.SplitSeq(members, ",") {
		u, err := url.Parse(strings.TrimSpace(m))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return nil, errors.New("etcd: a member is not http://host:port or https://host:port, without a password")
		}
		list = append(list, u.Scheme+"://"+u.Host)
	}
	o.Lease = min(cmp.Or(o.Lease, lease.DefaultLease), lease.MaxLease)
	w := &wire{gateway: newGateway(list), prefix: o.Prefix + "lease/", seconds: int64((o.Lease + time.Second - 1) / time.Second)}
	return lease.NewBeat(w, o.Options), nil
}

type wire struct {
	gateway *gateway
	prefix  string
	seconds int64

	mu   sync.Mutex // one Renew or Leave at a time
	id   int64      // of the lease whose end takes the node's key; 0: none
	told lease.Node // what that key says
}

var _ lease.Wire = (*wire)(nil)

func (w *wire) nodeKey(id string) []byte   { return []byte(w.prefix + "nodes/" + id) }
func (w *wire) rowKey(shard int) []byte    { return []byte(w.prefix + "rows/" + strconv.Itoa(shard)) }
func (w *wire) under(name string) keyRange { return below(w.prefix + name) }

// below is the range of all keys that begin with a text that ends in a slash.
func below(prefix string) keyRange {
	end := []byte(prefix)
	end[len(end)-1]++
	return keyRange{Key: []byte(prefix), End: end}
}

// Renew implements lease.Wire.
func (w *wire) Renew(ctx context.Context, self lease.Node, keep bool, seen lease.Seen) (news lease.News, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if keep {
		if news.Lapsed, err = w.keep(ctx, self); err != nil {
			return news, err
		}
	}
	rows := w.under("rows/")
	rows.MinMod = int64(seen.Rows) + 1 //nolint:gosec // a revision of etcd
	a, err := w.gateway.transact(ctx, txn{Success: []operation{{Range: new(w.under("nodes/"))}, {Range: &rows}}})
	if err == nil && uint64(max(a.Header.Revision, 0)) < seen.Rows {
		rows.MinMod, seen = 0, lease.Seen{} // another history
		a, err = w.gateway.transact(ctx, txn{Success: []operation{{Range: new(w.under("nodes/"))}, {Range: &rows}}})
	}
	if err != nil {
		return news, err
	}
	news.All = seen.Rows == 0
	news.Seen = lease.Seen{Nodes: sum(a.pairs(0)), Rows: uint64(max(a.Header.Revision, 0))}
	if news.Seen.Nodes != seen.Nodes {
		news.Nodes = make([]lease.Node, len(a.pairs(0)))
		for i, p := range a.pairs(0) {
			if err = json.Unmarshal(p.Value, &news.Nodes[i]); err != nil {
				return news, fmt.Errorf("%w: %w", errAnswer, err)
			}
		}
	}
	news.Rows, err = w.rows(a.pairs(1))
	return news, err
}

// keep renews the lease of a node, or makes one; the node's key stands under it.
func (w *wire) keep(ctx context.Context, self lease.Node) (lapsed bool, err error) {
	if w.id != 0 {
		var alive bool
		switch alive, err = w.gateway.keep(ctx, w.id); {
		case err != nil && !gone(err):
			return false, err
		case alive && w.told == self:
			return false, nil
		case !alive:
			w.id = 0
		}
	}
	id := w.id
	if id == 0 {
		if id, err = w.gateway.grant(ctx, w.seconds); err != nil {
			return false, err
		}
	}
	text, err := json.Marshal(self)
	if err != nil {
		return false, err
	}
	if _, err = w.gateway.transact(ctx, txn{Success: []operation{{Put: &put{Key: w.nodeKey(self.ID), Value: text, Lease: id}}}}); err != nil {
		return false, err
	}
	lapsed = w.id != id
	w.id, w.told = id, self
	return lapsed, nil
}

// sum is a number for a list of pairs, never 0.
func sum(list []pair) uint64 {
	h := fnv.New64a()
	for _, p := range list {
		_, _ = h.Write(p.Key)
		_, _ = h.Write(p.Value)
	}
	return h.Sum64() | 1
}

func (w *wire) rows(list []pair) ([]lease.Row, error) {
	var rows []lease.Row
	for _, p := range list {
		shard, err := strconv.Atoi(string(bytes.TrimPrefix(p.Key, []byte(w.prefix+"rows/"))))
		if err == nil {
			err = lease.CheckShards(shard)
		}
		if err != nil || p.Mod <= 0 {
			return nil, errors.Join(fmt.Errorf("%w: key %q", errAnswer, p.Key), err)
		}
		rows = append(rows, lease.Row{Shard: shard, Rev: uint64(p.Mod), Token: lease.Token(p.Value)})
	}
	return rows, nil
}

// Claim implements lease.Wire.
func (w *wire) Claim(ctx context.Context, self string, shards []int, ended bool, floor uint64) (taken []lease.Row, err error) {
	a, err := w.gateway.transact(ctx, txn{Success: []operation{{Range: new(w.under("nodes/"))}, {Range: new(w.under("rows/"))}}})
	if err != nil {
		return nil, err
	}
	lives := make(map[string]bool)
	for _, p := range a.pairs(0) {
		lives[string(bytes.TrimPrefix(p.Key, []byte(w.prefix+"nodes/")))] = true
	}
	if !lives[self] {
		return nil, lease.ErrLapsed
	}
	known, err := w.rows(a.pairs(1))
	if err != nil {
		return nil, err
	}
	rows := make(map[int]lease.Row, len(known))
	for _, r := range known {
		rows[r.Shard] = r
	}
	var free []lease.Row
	for _, shard := range shards {
		r := rows[shard]
		r.Shard = shard
		if owner := r.Token.Instance(); owner == "" || owner == self || ended && !lives[owner] {
			free = append(free, r)
		}
	}
	for len(free) > 0 {
		some := free[:min(perTxn, len(free))]
		free = free[len(some):]
		got, done, err := w.take(ctx, self, some, floor)
		for i := 0; err == nil && !done && i < len(some); i++ { // one of them is another's now
			var one []lease.Row
			one, _, err = w.take(ctx, self, some[i:i+1], floor)
			got = append(got, one...)
		}
		taken = append(taken, got...)
		if err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// take claims shards whose rows and owners are still as they were read, all or
// none.
func (w *wire) take(ctx context.Context, self string, rows []lease.Row, floor uint64) (taken []lease.Row, done bool, err error) {
	zero := int64(0)
	t := txn{Compare: []compare{{Result: "GREATER", Target: "CREATE", Key: w.nodeKey(self), Create: &zero}}}
	gone := map[string]bool{"": true, self: true}
	for _, r := range rows {
		mod := int64(r.Rev) //nolint:gosec // a revision of etcd
		t.Compare = append(t.Compare, compare{Result: "EQUAL", Target: "MOD", Key: w.rowKey(r.Shard), Mod: &mod})
		if owner := r.Token.Instance(); !gone[owner] {
			gone[owner] = true
			t.Compare = append(t.Compare, compare{Result: "EQUAL", Target: "CREATE", Key: w.nodeKey(owner), Create: &zero})
		}
		r.Token = lease.NewToken(max(r.Token.Epoch()+1, floor), self)
		taken = append(taken, r)
		t.Success = append(t.Success, operation{Put: &put{Key: w.rowKey(r.Shard), Value: []byte(r.Token)}})
	}
	a, err := w.gateway.transact(ctx, t)
	if err != nil || !a.Succeeded {
		return nil, false, err
	}
	for i := range taken {
		taken[i].Rev = uint64(max(a.Header.Revision, 0))
	}
	return taken, true, nil
}

// Release implements lease.Wire.
func (w *wire) Release(ctx context.Context, shard int, t lease.Token) (lease.Row, error) {
	key, freed := w.rowKey(shard), lease.NewToken(t.Epoch(), "")
	a, err := w.gateway.transact(ctx, txn{
		Compare: []compare{{Result: "EQUAL", Target: "VALUE", Key: key, Value: []byte(t)}},
		Success: []operation{{Put: &put{Key: key, Value: []byte(freed)}}},
		Failure: []operation{{Range: &keyRange{Key: key}}},
	})
	if err != nil {
		return lease.Row{}, err
	}
	if a.Succeeded {
		return lease.Row{Shard: shard, Rev: uint64(max(a.Header.Revision, 0)), Token: freed}, nil
	}
	rows, err := w.rows(a.pairs(0))
	if err != nil || len(rows) == 0 {
		return lease.Row{Shard: shard}, err
	}
	return rows[0], nil
}

// Leave implements lease.Wire.
func (w *wire) Leave(ctx context.Context, _ string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.id == 0 {
		return nil
	}
	id := w.id
	w.id = 0
	return w.gateway.revoke(ctx, id)
}

// Notices implements lease.Wire.
func (w *wire) Notices(ctx context.Context, each func()) error {
	return w.gateway.watch(ctx, below(w.prefix), each)
}

// Close implements lease.Wire.
func (w *wire) Close() error {
	w.gateway.client.CloseIdleConnections()
	return nil
}
