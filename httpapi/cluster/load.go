package cluster

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
	loadRoute    = "/node/load"    // returns the load of a shard to other shards
	loadTimeout  = 3 * time.Second // to query all shards
	maxQueries   = 256             // concurrent requests to other shards
	loadMaxAge   = time.Second
	singleNodeID = "node_alone"
)

// loadCache holds the last load report of all shards. The shards are queried at most once per second, even if many
// operators view the load. The zero value is ready to use.
type loadCache struct {
	mu         sync.Mutex
	at         time.Time
	report     *load.Report
	nodes      []*load.NodeNow
	query      chan struct{} // closed at the end of the running query; nil: no query runs
	generation int           // incremented by changes that make a load outdated
}

// reset drops the cached load report, which a change has made outdated.
func (l *loadCache) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.report = nil
}

// ResetLoad drops the cached load report. Call it after a change that the report must show.
func (cl *Cluster) ResetLoad() { cl.loads.reset() }

// Load returns the load report of all shards and the load of each node, at most loadMaxAge old. Concurrent callers
// share one query. Callers must not change the results.
func (cl *Cluster) Load(ctx context.Context) (*load.Report, []*load.NodeNow, error) {
	l := &cl.loads
	for {
		l.mu.Lock()
		if l.report != nil && time.Since(l.at) < loadMaxAge {
			defer l.mu.Unlock()
			return l.report, l.nodes, nil
		}
		query := l.query
		if query == nil {
			l.query = make(chan struct{})
			generation := l.generation
			l.mu.Unlock()
			return cl.queryLoad(ctx, generation)
		}
		l.mu.Unlock()
		select {
		case <-query:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (cl *Cluster) queryLoad(ctx context.Context, generation int) (report *load.Report, nodes []*load.NodeNow, err error) {
	l := &cl.loads
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil && report != nil && generation == l.generation {
			l.at, l.report, l.nodes = time.Now(), report, nodes
		}
		close(l.query)
		l.query = nil
	}()
	own, err := cl.load.LocalReport(ctx, cl.requests)
	if err != nil {
		return nil, nil, err
	}
	reports, others, err := cl.shardLoads(ctx, own)
	if err != nil {
		return nil, nil, err
	}
	return load.Merge(own, others...), cl.nodeLoads(own, reports), nil
}

// shardLoads returns the report of each shard that answers. others are the reports of the other shards, plus one
// report that lists the workspaces of shards that did not answer.
func (cl *Cluster) shardLoads(ctx context.Context, own *load.Report) (reports map[int]*load.Report, others []*load.Report, err error) {
	e := cl.shards
	if e == nil {
		return map[int]*load.Report{0: own}, nil, nil
	}
	v := router.RequestOf(ctx)
	bound, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	reports = queryShards(bound, cl, cl.ownedShards(e.Others()), func(ctx context.Context) (*http.Request, error) {
		r, _, no := cl.forwardedRequest(ctx, v, http.MethodGet, loadRoute, nil)
		return r, no
	}, func(p *load.Report) bool { return p.Node != nil })
	for _, p := range reports {
		others = append(others, p)
	}
	reports[e.Own()] = own
	if err = ctx.Err(); err == nil && len(reports) <= len(e.Others()) {
		var silent *load.Report
		silent, err = cl.unansweredLoad(ctx, own, reports)
		others = append(others, silent)
	}
	return reports, others, err
}

// queryShards sends a request to each of the given shards, at most maxQueries at a time. It returns the responses that
// isValid accepts, by shard.
func queryShards[T any](ctx context.Context, cl *Cluster, shards []int, newRequest func(context.Context) (*http.Request, error), isValid func(*T) bool) map[int]*T {
	responses := make(map[int]*T, len(shards)+1)
	var mu sync.Mutex
	var wait sync.WaitGroup
	room := make(chan struct{}, maxQueries)
	for _, shard := range shards {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			response, err := queryShard[T](ctx, cl, shard, newRequest)
			if err == nil && !isValid(response) {
				err = errors.New("it tells nothing")
			}
			if err != nil {
				cl.Log.Debug("shard does not respond", slog.Int("shard", shard), slog.Any("error", err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			responses[shard] = response
		})
	}
	wait.Wait()
	return responses
}

// ownedShards returns those of the given shards that a live node owns. A shard without an owner cannot answer.
func (cl *Cluster) ownedShards(shards []int) []int {
	if cl.nodes == nil {
		return shards
	}
	has := make(map[int]bool)
	for _, n := range cl.nodes() {
		for _, shard := range n.OwnedShards {
			has[shard] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(shards), func(shard int) bool { return !has[shard] })
}

func queryShard[T any](ctx context.Context, cl *Cluster, shard int, newRequest func(context.Context) (*http.Request, error)) (*T, error) {
	r, err := newRequest(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := cl.shards.SendToShard(ctx, shard, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %d", resp.StatusCode)
	}
	response := new(T)
	return response, json.Unmarshal(text, response)
}

// unansweredLoad returns a load report that lists the workspaces of the shards that did not answer.
func (cl *Cluster) unansweredLoad(ctx context.Context, own *load.Report, reports map[int]*load.Report) (*load.Report, error) {
	out := &load.Report{Node: own.Node}
	for q := (record.PageQuery{Limit: 100}); ; {
		l, err := cl.workspaces.ListWorkspaces(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, w := range l.Data {
			if reports[cl.shards.ShardOf(w.ID)] == nil {
				out.Workspaces = append(out.Workspaces, &load.WorkspaceLoad{
					Object: "workspace_load", ID: w.ID, Name: w.Name, Plan: w.Plan, CallsPerMinute: w.Limits.CallsPerMinute, Silent: true,
					SpentToday: domain.Dollars(0), DailySpendCap: w.Calling.DailySpendCap, Troubles: []load.UnhealthyTrunk{},
				})
			}
		}
		if q.Cursor = l.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// liveNodes returns the live nodes of the installation, or only this node if the installation has no others.
func (cl *Cluster) liveNodes() []Node {
	if cl.nodes == nil {
		return []Node{{NodeNow: load.NodeNow{ID: singleNodeID, Version: cl.version, Here: true}, OwnedShards: []int{0}}}
	}
	return cl.nodes()
}

// nodeLoads returns the load of each node: the sum of the loads of its shards.
func (cl *Cluster) nodeLoads(own *load.Report, reports map[int]*load.Report) []*load.NodeNow {
	all := cl.liveNodes()
	out := make([]*load.NodeNow, len(all))
	for i := range all {
		n := all[i].NodeNow
		n.Object, n.Shards, n.Ready = "node", len(all[i].OwnedShards), true
		for _, shard := range all[i].OwnedShards {
			p := reports[shard]
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
		if n.Here { // the load of this node is known without a query
			n.Drain = own.Node.Drain
		}
		out[i] = &n
	}
	return out
}

// OwnsNode reports whether id is the id of this node. Errors: not_found for an unknown node, invalid_state for another
// node that owns no shard.
func (cl *Cluster) OwnsNode(id string) (bool, error) {
	_, here, err := cl.shardsOfNode(id)
	return here, err
}

// shardsOfNode returns the shards that a node owns. here reports whether the node is this one.
func (cl *Cluster) shardsOfNode(id string) (shards []int, here bool, err error) {
	for _, n := range cl.liveNodes() {
		switch {
		case n.ID != id:
		case n.Here:
			return n.OwnedShards, true, nil
		case len(n.OwnedShards) == 0:
			return nil, false, domain.Errorf(domain.CodeInvalidState, "The node owns no shard, so it handles no calls.")
		default:
			return n.OwnedShards, false, nil
		}
	}
	return nil, false, domain.Errorf(domain.CodeNotFound, "There is no live node with this id.").With("param", "node_id")
}

// sendToAny sends a request to the shards of a node one after the other until one answers. The request must be
// idempotent.
func (cl *Cluster) sendToAny(ctx context.Context, shards []int, r *http.Request) (*http.Response, error) {
	var last error
	for _, shard := range shards {
		resp, err := cl.sendWithTimeout(ctx, shard, r)
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

// sendWithTimeout sends a request to a shard and reads the whole response.
func (cl *Cluster) sendWithTimeout(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	bound, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	again := r.Clone(bound)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	resp, err := cl.shards.SendToShard(bound, shard, again)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// registerLoad registers the route that returns the load of this shard. The route accepts requests from nodes only.
func (cl *Cluster) registerLoad() {
	cl.App.Get(loadRoute, func(c *fiber.Ctx) error {
		if !router.IsForwarded(c) {
			return c.Next()
		}
		if err := cl.AcceptForwarded(c); err != nil {
			return cl.RespondError(c, err)
		}
		ctx := c.UserContext()
		if err := router.RequireOperator(router.RequestOf(ctx).Principal); err != nil {
			return cl.RespondError(c, err)
		}
		p, err := cl.load.LocalReport(ctx, cl.requests)
		if err != nil {
			return cl.RespondError(c, err)
		}
		return c.JSON(p)
	})
}
