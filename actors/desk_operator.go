package actors

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

// Bounds of what an operator sees: how old a look at all workspaces may be, how
// long their actors may take to answer, how many are asked at a time, and how
// many troubled trunks are named.
const (
	loadsFor     = time.Second
	loadsWithin  = 2 * time.Second
	loadsAtOnce  = 16
	troublesMost = 20
)

// loads is the last look at all workspaces: however many operators look, the
// actors are asked once in a second. The zero value is ready.
type loads struct {
	mu   sync.Mutex
	at   time.Time
	rows []*load.WorkspaceLoad // newest workspace first
}

// Part tells how the node does, and each workspace that it has. requests counts
// those of a workspace within the last minute. What all of them do is not added
// up: see load.Merge. Nobody changes the rows any more.
func (d *Desk) Part(ctx context.Context, requests func(*domain.Workspace) int) (*load.Report, error) {
	rows, at, err := d.node.look(ctx, requests)
	if err != nil {
		return nil, err
	}
	l := &load.NodeLoad{Object: "node_load", AsOf: at, Ready: true, Dialling: diallingOf(d.node.halts.stopped.Load())}
	if now := d.node.halts.drained.Load(); now != nil {
		l.Drain = *now
	}
	if why := d.node.Ready(ctx); why != nil {
		l.Ready, l.Reason = false, why.Error()
	}
	return &load.Report{Node: l, Workspaces: rows}, nil
}

// look asks every workspace how it does, unless somebody has just looked. Nobody
// changes the rows any more.
func (n *Node) look(ctx context.Context, requests func(*domain.Workspace) int) ([]*load.WorkspaceLoad, time.Time, error) {
	n.loads.mu.Lock()
	defer n.loads.mu.Unlock()
	if n.loads.rows != nil && time.Since(n.loads.at) < loadsFor {
		return n.loads.rows, n.loads.at.UTC().Truncate(time.Millisecond), nil
	}
	n.mu.RLock()
	trees := make([]*tree, 0, len(n.spaces))
	for _, t := range n.spaces {
		trees = append(trees, t)
	}
	n.mu.RUnlock()
	slices.SortFunc(trees, func(a, b *tree) int { return cmp.Compare(b.record.Load().ID, a.record.Load().ID) })
	now := time.Now()
	bound, cancel := context.WithTimeout(ctx, loadsWithin)
	defer cancel()
	rows := make([]*load.WorkspaceLoad, len(trees))
	room := make(chan struct{}, loadsAtOnce)
	var wait sync.WaitGroup
	for i, t := range trees {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			rows[i] = n.loadOf(bound, t, now, requests)
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, now, err
	}
	n.loads.rows, n.loads.at = rows, now
	return rows, now.UTC().Truncate(time.Millisecond), nil
}

func (n *Node) loadOf(ctx context.Context, t *tree, now time.Time, requests func(*domain.Workspace) int) *load.WorkspaceLoad {
	w := t.record.Load()
	row := &load.WorkspaceLoad{
		Object: "workspace_load", ID: w.ID, Name: w.Name, Plan: w.Plan, CallsPerMinute: w.Limits.CallsPerMinute,
		SpentToday: domain.Dollars(0), DailySpendCap: w.Calling.DailySpendCap, Troubles: []load.TrunkTrouble{},
	}
	row.LastMinute.Calls, row.LastMinute.Commits = n.desk.store.of(w.ID).lately(now)
	row.LastMinute.Requests = requests(w)
	fine := n.linesInto(ctx, t, row)
	health, err := mailbox.Ask[trunk.HealthNow](ctx, n.sys, t.trunks, trunk.Health{})
	if err != nil {
		row.Silent = true
		return row
	}
	row.Silent = !fine
	row.SpentToday, row.SpentKnown = domain.Dollars(health.Spent), health.SpentKnown
	for id, s := range health.Trunks {
		switch s.Health.Status {
		case "up":
			row.Trunks.Up++
			continue
		case "down":
			row.Trunks.Down++
		default:
			row.Trunks.Degraded++
		}
		row.Troubles = append(row.Troubles, load.TrunkTrouble{ID: id, Name: s.Name, Environment: s.Environment, Status: s.Health.Status, LastError: s.Health.LastError})
	}
	slices.SortFunc(row.Troubles, func(a, b load.TrunkTrouble) int { // down comes before degraded
		return cmp.Or(cmp.Compare(b.Status, a.Status), cmp.Compare(a.ID, b.ID))
	})
	row.Troubles = row.Troubles[:min(troublesMost, len(row.Troubles))]
	return row
}

// linesInto tells how the lines of a workspace are used.
func (n *Node) linesInto(ctx context.Context, t *tree, row *load.WorkspaceLoad) bool {
	for _, one := range []struct {
		into *load.LineUse
		pid  *actor.PID
	}{{&row.Lines.Outbound, t.outbound}, {&row.Lines.Inbound, t.inbound}, {&row.Lines.Test, t.tests}} {
		used, err := mailbox.Ask[lines.UsageNow](ctx, n.sys, one.pid, lines.Usage{})
		if err != nil {
			return false
		}
		*one.into = load.LineUse{Used: used.Active, Limit: used.Limit, Waiting: used.Waiting}
		row.LiveCalls += used.Live
	}
	return true
}
