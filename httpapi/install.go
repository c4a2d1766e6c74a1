package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

const (
	// partRoute is where a part tells another one how it does.
	partRoute    = "/node/part"
	partWithin   = 3 * time.Second // that all may take: their workspaces have two
	partsAtOnce  = 256             // one that does not answer holds up no others
	installFor   = time.Second
	soloNode     = "node_alone"
	drainRoute   = "POST /v1/operator/drain"
	undrainRoute = "POST /v1/operator/undrain"
)

// Place is a node that lives, and the parts of the install that it has.
type Place struct {
	load.NodeNow
	Parts []int
}

// install is the last look at all parts: however many operators look, they are
// asked once in a second. The zero value is ready.
type install struct {
	mu    sync.Mutex
	at    time.Time
	whole *load.Report
	nodes []*load.NodeNow
	round chan struct{} // closed when the look that is under way is over; nil: none is
	turn  int           // counts what has made a look old
}

// forget has all parts be asked anew: something was done that they tell of.
func (in *install) forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.turn++
	in.whole = nil
}

// load returns the load of all shards and of the nodes, at most installFor old.
// Concurrent callers share one query. The results are read only.
func (o *otherNodes) load(ctx context.Context) (*load.Report, []*load.NodeNow, error) {
	in := &o.loads
	for {
		in.mu.Lock()
		if in.whole != nil && time.Since(in.at) < installFor {
			defer in.mu.Unlock()
			return in.whole, in.nodes, nil
		}
		round := in.round
		if round == nil {
			in.round = make(chan struct{})
			turn := in.turn
			in.mu.Unlock()
			return o.loadFromAll(ctx, turn)
		}
		in.mu.Unlock()
		select {
		case <-round:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (o *otherNodes) loadFromAll(ctx context.Context, turn int) (whole *load.Report, nodes []*load.NodeNow, err error) {
	in := &o.loads
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if err == nil && whole != nil && turn == in.turn {
			in.at, in.whole, in.nodes = time.Now(), whole, nodes
		}
		close(in.round)
		in.round = nil
	}()
	own, err := o.operators.Part(ctx, o.requests)
	if err != nil {
		return nil, nil, err
	}
	told, others, err := o.shardLoads(ctx, own)
	if err != nil {
		return nil, nil, err
	}
	return load.Merge(own, others...), o.nodeLoads(own, told), nil
}

// shardLoads returns the load of each shard that answers. others lists those of the other
// shards, with one for the workspaces of shards that do not answer.
func (o *otherNodes) shardLoads(ctx context.Context, own *load.Report) (told map[int]*load.Report, others []*load.Report, err error) {
	e := o.shards
	if e == nil {
		return map[int]*load.Report{0: own}, nil, nil
	}
	v := router.RequestOf(ctx)
	bound, cancel := context.WithTimeout(ctx, partWithin)
	defer cancel()
	told = askShards(bound, o, o.owned(e.Others()), func(ctx context.Context) (*http.Request, error) {
		r, _, no := o.forwardedRequest(ctx, v, http.MethodGet, partRoute, nil)
		return r, no
	}, func(p *load.Report) bool { return p.Node != nil })
	for _, p := range told {
		others = append(others, p)
	}
	told[e.Own()] = own
	if err = ctx.Err(); err == nil && len(told) <= len(e.Others()) {
		var silent *load.Report
		silent, err = o.unansweredLoad(ctx, own, told)
		others = append(others, silent)
	}
	return told, others, err
}

// askShards asks other shards, at most partsAtOnce at a time. Shards without an answer
// that good accepts are missing in the result.
func askShards[T any](ctx context.Context, o *otherNodes, parts []int, question func(context.Context) (*http.Request, error), good func(*T) bool) map[int]*T {
	told := make(map[int]*T, len(parts)+1)
	var mu sync.Mutex
	var wait sync.WaitGroup
	room := make(chan struct{}, partsAtOnce)
	for _, part := range parts {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			answer, err := askShard[T](ctx, o, part, question)
			if err == nil && !good(answer) {
				err = errors.New("it tells nothing")
			}
			if err != nil {
				o.Log.Debug("a part of the install does not answer", slog.Int("shard", part), slog.Any("error", err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			told[part] = answer
		})
	}
	wait.Wait()
	return told
}

// owned returns those of the shards that a live node owns: the others cannot answer.
func (o *otherNodes) owned(parts []int) []int {
	if o.nodes == nil {
		return parts
	}
	has := make(map[int]bool)
	for _, n := range o.nodes() {
		for _, part := range n.Parts {
			has[part] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(part int) bool { return !has[part] })
}

func askShard[T any](ctx context.Context, o *otherNodes, part int, question func(context.Context) (*http.Request, error)) (*T, error) {
	r, err := question(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := o.shards.AskPart(ctx, part, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostElsewhere))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %d", resp.StatusCode)
	}
	answer := new(T)
	return answer, json.Unmarshal(text, answer)
}

// unansweredLoad lists the workspaces of shards that have not answered.
func (o *otherNodes) unansweredLoad(ctx context.Context, own *load.Report, told map[int]*load.Report) (*load.Report, error) {
	out := &load.Report{Node: own.Node}
	for q := (record.PageQuery{Limit: 100}); ; {
		l, err := o.tenants.ListWorkspaces(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, w := range l.Data {
			if told[o.shards.PartOf(w.ID)] == nil {
				out.Workspaces = append(out.Workspaces, &load.WorkspaceLoad{
					Object: "workspace_load", ID: w.ID, Name: w.Name, Plan: w.Plan, CallsPerMinute: w.Limits.CallsPerMinute, Silent: true,
					SpentToday: domain.Dollars(0), DailySpendCap: w.Calling.DailySpendCap, Troubles: []load.TrunkTrouble{},
				})
			}
		}
		if q.Cursor = l.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// liveNodes returns the live nodes, this one alone where there is no cluster.
func (o *otherNodes) liveNodes() []Place {
	if o.nodes == nil {
		return []Place{{NodeNow: load.NodeNow{ID: soloNode, Version: o.version, Here: true}, Parts: []int{0}}}
	}
	return o.nodes()
}

// nodeLoads sums the loads of the shards of each node.
func (o *otherNodes) nodeLoads(own *load.Report, told map[int]*load.Report) []*load.NodeNow {
	all := o.liveNodes()
	out := make([]*load.NodeNow, len(all))
	for i := range all {
		n := all[i].NodeNow
		n.Object, n.Shards, n.Ready = "node", len(all[i].Parts), true
		for _, part := range all[i].Parts {
			p := told[part]
			if p == nil {
				n.Silent++
				continue
			}
			n.Workspaces += len(p.Workspaces)
			for _, w := range p.Workspaces {
				n.LiveCalls += w.LiveCalls
				n.LastMinute.Add(w.LastMinute)
			}
			if n.Drain = p.Node.Drain; !p.Node.Ready {
				n.Ready, n.Reason = false, p.Node.Reason
			}
		}
		if n.Here { // it is known without its parts
			n.Drain = own.Node.Drain
		}
		out[i] = &n
	}
	return out
}

// shardsOfNode returns the shards that a node owns; here: it is this node.
func (o *otherNodes) shardsOfNode(id string) (parts []int, here bool, err error) {
	for _, n := range o.liveNodes() {
		switch {
		case n.ID != id:
		case n.Here:
			return n.Parts, true, nil
		case len(n.Parts) == 0:
			return nil, false, domain.Errorf(domain.CodeInvalidState, "The node has no part of the work: it takes no calls.")
		default:
			return n.Parts, false, nil
		}
	}
	return nil, false, domain.Errorf(domain.CodeNotFound, "No such node lives.").With("param", "node_id")
}

// askAnyShard sends a request to the shards of a node, one after the other, until one
// answers. The request has to be idempotent.
func (o *otherNodes) askAnyShard(ctx context.Context, parts []int, r *http.Request) (*http.Response, error) {
	var last error
	for _, part := range parts {
		resp, err := o.askShardWithin(ctx, part, r)
		if err == nil && resp.StatusCode != http.StatusServiceUnavailable {
			return resp, nil
		}
		if last = err; err == nil {
			last = fmt.Errorf("it answers %d", resp.StatusCode)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// askShardWithin sends a request to a shard and reads the whole response.
func (o *otherNodes) askShardWithin(ctx context.Context, part int, r *http.Request) (*http.Response, error) {
	bound, cancel := context.WithTimeout(ctx, partWithin)
	defer cancel()
	again := r.Clone(bound)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	resp, err := o.shards.AskPart(bound, part, again)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostElsewhere))
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// registerLoad serves the load of this shard to other nodes only.
func (o *otherNodes) registerLoad() {
	o.App.Get(partRoute, func(c *fiber.Ctx) error {
		if !router.IsForwarded(c) {
			return c.Next()
		}
		if err := o.acceptForwarded(c); err != nil {
			return o.RespondError(c, err)
		}
		ctx := c.UserContext()
		if err := router.RequireOperator(router.RequestOf(ctx).Principal); err != nil {
			return o.RespondError(c, err)
		}
		p, err := o.operators.Part(ctx, o.requests)
		if err != nil {
			return o.RespondError(c, err)
		}
		return c.JSON(p)
	})
}
