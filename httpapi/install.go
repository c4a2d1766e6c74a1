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
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/httpapi/router"
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
	ask.NodeNow
	Parts []int
}

// install is the last look at all parts: however many operators look, they are
// asked once in a second. The zero value is ready.
type install struct {
	mu    sync.Mutex
	at    time.Time
	whole *ask.Part
	nodes []*ask.NodeNow
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

// look asks all parts how they do, unless somebody has just done so, or is about
// it. Nobody changes what it answers with.
func (s *Server) look(ctx context.Context) (*ask.Part, []*ask.NodeNow, error) {
	in := &s.installs
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
			return s.lookAnew(ctx, turn)
		}
		in.mu.Unlock()
		select {
		case <-round:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (s *Server) lookAnew(ctx context.Context, turn int) (whole *ask.Part, nodes []*ask.NodeNow, err error) {
	in := &s.installs
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if err == nil && whole != nil && turn == in.turn {
			in.at, in.whole, in.nodes = time.Now(), whole, nodes
		}
		close(in.round)
		in.round = nil
	}()
	own, err := s.ports.Operators.Part(ctx, s.requestsOf)
	if err != nil {
		return nil, nil, err
	}
	told, others, err := s.parts(ctx, own)
	if err != nil {
		return nil, nil, err
	}
	return ask.Together(own, others...), s.nodesNow(own, told), nil
}

// parts are what the parts tell, this one too; others are in a list as well, one
// for those that do not answer among them.
func (s *Server) parts(ctx context.Context, own *ask.Part) (told map[int]*ask.Part, others []*ask.Part, err error) {
	e := s.cfg.Elsewhere
	if e == nil {
		return map[int]*ask.Part{0: own}, nil, nil
	}
	v := router.RequestOf(ctx)
	bound, cancel := context.WithTimeout(ctx, partWithin)
	defer cancel()
	told = askParts(bound, s, s.held(e.Others()), func(ctx context.Context) (*http.Request, error) {
		r, _, no := s.order(ctx, v, http.MethodGet, partRoute, nil)
		return r, no
	}, func(p *ask.Part) bool { return p.Node != nil })
	for _, p := range told {
		others = append(others, p)
	}
	told[e.Own()] = own
	if err = ctx.Err(); err == nil && len(told) <= len(e.Others()) {
		var silent *ask.Part
		silent, err = s.silent(ctx, own, told)
		others = append(others, silent)
	}
	return told, others, err
}

// askParts asks other parts, some at a time, for what good says is an answer;
// those that do not give one are missing.
func askParts[T any](ctx context.Context, s *Server, parts []int, question func(context.Context) (*http.Request, error), good func(*T) bool) map[int]*T {
	told := make(map[int]*T, len(parts)+1)
	var mu sync.Mutex
	var wait sync.WaitGroup
	room := make(chan struct{}, partsAtOnce)
	for _, part := range parts {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			answer, err := askPart[T](ctx, s, part, question)
			if err == nil && !good(answer) {
				err = errors.New("it tells nothing")
			}
			if err != nil {
				s.Log.Debug("a part of the install does not answer", slog.Int("shard", part), slog.Any("error", err))
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

// held are those of some parts that a node has: nobody waits for the others.
func (s *Server) held(parts []int) []int {
	if s.cfg.Nodes == nil {
		return parts
	}
	has := make(map[int]bool)
	for _, n := range s.cfg.Nodes() {
		for _, part := range n.Parts {
			has[part] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(parts), func(part int) bool { return !has[part] })
}

func askPart[T any](ctx context.Context, s *Server, part int, question func(context.Context) (*http.Request, error)) (*T, error) {
	r, err := question(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := s.cfg.Elsewhere.AskPart(ctx, part, r)
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

// silent are the workspaces of the parts that have told nothing.
func (s *Server) silent(ctx context.Context, own *ask.Part, told map[int]*ask.Part) (*ask.Part, error) {
	out := &ask.Part{Node: own.Node}
	for q := (ask.Page{Limit: 100}); ; {
		l, err := s.ports.Tenants.ListWorkspaces(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, w := range l.Data {
			if told[s.cfg.Elsewhere.PartOf(w.ID)] == nil {
				out.Workspaces = append(out.Workspaces, &ask.WorkspaceLoad{
					Object: "workspace_load", ID: w.ID, Name: w.Name, Plan: w.Plan, CallsPerMinute: w.Limits.CallsPerMinute, Silent: true,
					SpentToday: domain.Dollars(0), DailySpendCap: w.Calling.DailySpendCap, Troubles: []ask.TrunkTrouble{},
				})
			}
		}
		if q.Cursor = l.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// places are the nodes that live.
func (s *Server) places() []Place {
	if s.cfg.Nodes == nil {
		return []Place{{NodeNow: ask.NodeNow{ID: soloNode, Version: s.cfg.Version, Here: true}, Parts: []int{0}}}
	}
	return s.cfg.Nodes()
}

// nodesNow are the nodes, each with what its parts tell.
func (s *Server) nodesNow(own *ask.Part, told map[int]*ask.Part) []*ask.NodeNow {
	all := s.places()
	out := make([]*ask.NodeNow, len(all))
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

// nodeNamed are the parts that a node has, and whether it is this one.
func (s *Server) nodeNamed(id string) (parts []int, here bool, err error) {
	for _, n := range s.places() {
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

// askAny sends an order to a node by one of the parts that it has, the first one
// that answers. It must do no harm twice.
func (s *Server) askAny(ctx context.Context, parts []int, r *http.Request) (*http.Response, error) {
	var last error
	for _, part := range parts {
		resp, err := s.askOne(ctx, part, r)
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

// askOne sends an order to a part, and reads all of the answer.
func (s *Server) askOne(ctx context.Context, part int, r *http.Request) (*http.Response, error) {
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
	resp, err := s.cfg.Elsewhere.AskPart(bound, part, again)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostElsewhere))
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// partDoor tells another node of the install how this part does. Nobody else
// gets an answer here.
func (s *Server) partDoor() {
	s.App.Get(partRoute, func(c *fiber.Ctx) error {
		if !router.IsForwarded(c) {
			return c.Next()
		}
		if err := s.borrow(c); err != nil {
			return s.RespondError(c, err)
		}
		ctx := c.UserContext()
		if err := router.RequireOperator(router.RequestOf(ctx).Principal); err != nil {
			return s.RespondError(c, err)
		}
		p, err := s.ports.Operators.Part(ctx, s.requestsOf)
		if err != nil {
			return s.RespondError(c, err)
		}
		return c.JSON(p)
	})
}
