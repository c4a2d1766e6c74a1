package operator

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
)

// Limits for reading the load of all workspaces.
const (
	maxLoadAge     = time.Second     // age up to which the last result is used again
	readTimeout    = 2 * time.Second // limit for all workspaces
	maxReadsAtOnce = 16              // workspaces that are read at the same time
	maxTroubles    = 20              // trunks that are listed per workspace
)

// Config holds the dependencies of a Service.
type Config struct {
	Workspaces workspaces
	Actors     workspaceActors
	System     *actor.ActorSystem
	Activity   activity
	Node       node
	DialStop   dialStop
	Drain      nodeDrain
}

// workspaces gives access to the workspaces whose actors run on this node.
type workspaces interface {
	WorkspaceIDs() []string
	// Workspace returns a workspace, or nil if the workspace is unknown on this node.
	Workspace(id string) *domain.Workspace
}

// workspaceActors returns the actors of a workspace. Errors: not_found, unavailable.
type workspaceActors interface {
	OutboundLinesPID(workspaceID string, env domain.Environment) (*actor.PID, error)
	InboundLinesPID(workspaceID string) (*actor.PID, error)
	TrunksPID(workspaceID string) (*actor.PID, error)
}

// activity counts the calls and commits of workspaces.
type activity interface {
	// LastMinute returns how many calls began and how many commits were made in the minute before now.
	LastMinute(workspaceID string, now time.Time) (calls, commits int)
}

// node reports whether this node can serve requests.
type node interface {
	// Ready returns the reason why the node cannot serve requests, or nil if it can.
	Ready(ctx context.Context) error
}

// Service reads the load of this node, stops dialing in the installation and drains the node.
type Service struct {
	workspaces workspaces
	actors     workspaceActors
	system     *actor.ActorSystem
	activity   activity
	node       node
	dialStop   dialStop
	drain      nodeDrain

	mu     sync.Mutex            // guards the last result, which is used for maxLoadAge
	readAt time.Time             // time of the last result
	rows   []*load.WorkspaceLoad // newest workspace first; read only
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{workspaces: c.Workspaces, actors: c.Actors, system: c.System, activity: c.Activity, node: c.Node, dialStop: c.DialStop, drain: c.Drain}
}

// LocalReport returns the load of this node and of its workspaces. The function requests returns the number of API
// requests of a workspace in the last minute. The caller must not change the workspace loads, because they are cached.
func (s *Service) LocalReport(ctx context.Context, requests func(*domain.Workspace) int) (*load.Report, error) {
	rows, at, err := s.readAll(ctx, requests)
	if err != nil {
		return nil, err
	}
	l := &load.NodeLoad{Object: "node_load", AsOf: at, Ready: true, Dialling: s.dialStop.Current(), Drain: s.drain.Current()}
	if reason := s.node.Ready(ctx); reason != nil {
		l.Ready, l.Reason = false, reason.Error()
	}
	return &load.Report{Node: l, Workspaces: rows}, nil
}

// readAll reads the load of all workspaces. It returns the last result if that is younger than maxLoadAge.
func (s *Service) readAll(ctx context.Context, requests func(*domain.Workspace) int) ([]*load.WorkspaceLoad, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows != nil && time.Since(s.readAt) < maxLoadAge {
		return s.rows, s.readAt.UTC().Truncate(time.Millisecond), nil
	}
	var all []*domain.Workspace
	for _, id := range s.workspaces.WorkspaceIDs() {
		if w := s.workspaces.Workspace(id); w != nil {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *domain.Workspace) int { return cmp.Compare(b.ID, a.ID) })
	now := time.Now()
	readCtx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	rows := make([]*load.WorkspaceLoad, len(all))
	slots := make(chan struct{}, maxReadsAtOnce)
	var wait sync.WaitGroup
	for i, w := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			rows[i] = s.readWorkspace(readCtx, w, now, requests)
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, now, err
	}
	s.rows, s.readAt = rows, now
	return rows, now.UTC().Truncate(time.Millisecond), nil
}

// readWorkspace reads the load of one workspace.
func (s *Service) readWorkspace(ctx context.Context, w *domain.Workspace, now time.Time, requests func(*domain.Workspace) int) *load.WorkspaceLoad {
	row := &load.WorkspaceLoad{
		Object: "workspace_load", ID: w.ID, Name: w.Name, Plan: w.Plan, CallsPerMinute: w.Limits.CallsPerMinute,
		SpentToday: domain.Dollars(0), DailySpendCap: w.Calling.DailySpendCap, Troubles: []load.UnhealthyTrunk{},
	}
	row.LastMinute.Calls, row.LastMinute.Commits = s.activity.LastMinute(w.ID, now)
	row.LastMinute.Requests = requests(w)
	complete := s.readPermits(ctx, w.ID, row)
	health, err := requestFromActor[trunk.Health](ctx, s.system, s.actors.TrunksPID, w.ID, trunk.GetHealth{})
	if err != nil {
		row.Silent = true
		return row
	}
	row.Silent = !complete
	row.SpentToday, row.SpentKnown = domain.Dollars(health.Spent), health.SpentKnown
	for id, t := range health.Trunks {
		switch t.Health.Status {
		case "up":
			row.Trunks.Up++
			continue
		case "down":
			row.Trunks.Down++
		default:
			row.Trunks.Degraded++
		}
		row.Troubles = append(row.Troubles, load.UnhealthyTrunk{ID: id, Name: t.Name, Environment: t.Environment, Status: t.Health.Status, LastError: t.Health.LastError})
	}
	slices.SortFunc(row.Troubles, func(a, b load.UnhealthyTrunk) int { // down before degraded
		return cmp.Or(cmp.Compare(b.Status, a.Status), cmp.Compare(a.ID, b.ID))
	})
	row.Troubles = row.Troubles[:min(maxTroubles, len(row.Troubles))]
	return row
}

// readPermits reads the numbers of concurrent calls of a workspace. It returns false if an actor does not answer.
func (s *Service) readPermits(ctx context.Context, workspaceID string, row *load.WorkspaceLoad) bool {
	outbound := func(env domain.Environment) func(string) (*actor.PID, error) {
		return func(id string) (*actor.PID, error) { return s.actors.OutboundLinesPID(id, env) }
	}
	for _, one := range []struct {
		use *load.CallCapacity
		pid func(string) (*actor.PID, error)
	}{{&row.Lines.Outbound, outbound(domain.Live)}, {&row.Lines.Inbound, s.actors.InboundLinesPID}, {&row.Lines.Test, outbound(domain.Test)}} {
		used, err := requestFromActor[lines.Usage](ctx, s.system, one.pid, workspaceID, lines.GetUsage{})
		if err != nil {
			return false
		}
		*one.use = load.CallCapacity{Used: used.Active, Limit: used.Limit, Waiting: used.Waiting}
		row.LiveCalls += used.Live
	}
	return true
}

// requestFromActor sends a request to an actor of a workspace.
func requestFromActor[T any](ctx context.Context, system *actor.ActorSystem, find func(string) (*actor.PID, error), workspaceID string, query any) (T, error) {
	pid, err := find(workspaceID)
	if err != nil {
		var zero T
		return zero, err
	}
	return mailbox.Ask[T](ctx, system, pid, query)
}
