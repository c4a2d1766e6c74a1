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
	"github.com/callboard/callboard/domain/ask"
)

// Bounds of what an operator sees: how old a look at all workspaces may be, how
// long their actors may take to answer, how many are asked at a time, and how
// many noisy workspaces and troubled trunks are named.
const (
	loadsFor     = time.Second
	loadsWithin  = 2 * time.Second
	loadsAtOnce  = 16
	noisyMost    = 10
	troublesMost = 20
)

// loads is the last look at all workspaces: however many operators look, the
// actors are asked once in a second. The zero value is ready.
type loads struct {
	mu   sync.Mutex
	at   time.Time
	rows []*ask.WorkspaceLoad // newest workspace first
}

// Load tells how the node does, over all workspaces. requests counts those of a
// workspace within the last minute.
func (d *Desk) Load(ctx context.Context, requests func(*domain.Workspace) int) (*ask.NodeLoad, error) {
	rows, at, err := d.node.look(ctx, requests)
	if err != nil {
		return nil, err
	}
	l := &ask.NodeLoad{Object: "node_load", AsOf: at, Ready: true, Workspaces: len(rows), Dialling: diallingOf(d.node.halts.stopped.Load())}
	if now := d.node.halts.drained.Load(); now != nil {
		l.Drain = *now
	}
	if why := d.node.Ready(ctx); why != nil {
		l.Ready, l.Reason = false, why.Error()
	}
	sumUp(l, rows)
	l.Noisy = noisy(rows)
	return l, nil
}

// sumUp adds up what all workspaces do.
func sumUp(l *ask.NodeLoad, rows []*ask.WorkspaceLoad) {
	l.SpentKnown = true
	spent := int64(0)
	for _, w := range rows {
		l.SpentKnown = l.SpentKnown && w.SpentKnown
		if w.Silent {
			l.Silent++
		}
		l.LiveCalls += w.LiveCalls
		l.Lines.Outbound.Add(w.Lines.Outbound)
		l.Lines.Inbound.Add(w.Lines.Inbound)
		l.Lines.Test.Add(w.Lines.Test)
		l.LastMinute.Calls += w.LastMinute.Calls
		l.LastMinute.Commits += w.LastMinute.Commits
		l.LastMinute.Requests += w.LastMinute.Requests
		l.Trunks.Up += w.Trunks.Up
		l.Trunks.Degraded += w.Trunks.Degraded
		l.Trunks.Down += w.Trunks.Down
		if micros, err := domain.Micros(w.SpentToday.Amount); err == nil {
			spent += micros
		}
	}
	l.SpentToday = domain.Dollars(spent)
}

// ListLoads reads a page of the workspaces, the newest first.
func (d *Desk) ListLoads(ctx context.Context, q ask.Page, requests func(*domain.Workspace) int) (ask.List[*ask.WorkspaceLoad], error) {
	rows, _, err := d.node.look(ctx, requests)
	if err != nil {
		return ask.List[*ask.WorkspaceLoad]{}, err
	}
	from := 0
	if q.Cursor != "" {
		from, _ = slices.BinarySearchFunc(rows, q.Cursor, func(w *ask.WorkspaceLoad, id string) int { return cmp.Compare(id, w.ID) })
		if from < len(rows) && rows[from].ID == q.Cursor {
			from++
		}
	}
	out := ask.List[*ask.WorkspaceLoad]{Data: rows[from:min(from+q.Limit, len(rows))]}
	if from+q.Limit < len(rows) {
		out.Next = out.Data[len(out.Data)-1].ID
	}
	return out, nil
}

// noisy are the workspaces that take the largest part of anything, the largest
// first.
func noisy(rows []*ask.WorkspaceLoad) []ask.NoisyShare {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *ask.WorkspaceLoad) int { return cmp.Compare(b.Share.Most(), a.Share.Most()) })
	out := []ask.NoisyShare{}
	for _, w := range sorted[:min(noisyMost, len(sorted))] {
		if w.Share.Most() == 0 {
			break
		}
		out = append(out, ask.NoisyShare{WorkspaceID: w.ID, Name: w.Name, Shares: w.Share})
	}
	return out
}

// look asks every workspace how it does, unless somebody has just looked. Nobody
// changes the rows any more.
func (n *Node) look(ctx context.Context, requests func(*domain.Workspace) int) ([]*ask.WorkspaceLoad, time.Time, error) {
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
	rows := make([]*ask.WorkspaceLoad, len(trees))
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
	share(rows)
	n.loads.rows, n.loads.at = rows, now
	return rows, now.UTC().Truncate(time.Millisecond), nil
}

func (n *Node) loadOf(ctx context.Context, t *tree, now time.Time, requests func(*domain.Workspace) int) *ask.WorkspaceLoad {
	w := t.record.Load()
	row := &ask.WorkspaceLoad{
		Object: "workspace_load", ID: w.ID, Name: w.Name, Plan: w.Plan, CallsPerMinute: w.Limits.CallsPerMinute,
		SpentToday: domain.Dollars(0), DailySpendCap: w.Calling.DailySpendCap, Troubles: []ask.TrunkTrouble{},
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
		row.Troubles = append(row.Troubles, ask.TrunkTrouble{ID: id, Name: s.Name, Environment: s.Environment, Status: s.Health.Status, LastError: s.Health.LastError})
	}
	slices.SortFunc(row.Troubles, func(a, b ask.TrunkTrouble) int { // down comes before degraded
		return cmp.Or(cmp.Compare(b.Status, a.Status), cmp.Compare(a.ID, b.ID))
	})
	row.Troubles = row.Troubles[:min(troublesMost, len(row.Troubles))]
	return row
}

// linesInto tells how the lines of a workspace are used.
func (n *Node) linesInto(ctx context.Context, t *tree, row *ask.WorkspaceLoad) bool {
	for _, one := range []struct {
		into *ask.LineUse
		pid  *actor.PID
	}{{&row.Lines.Outbound, t.outbound}, {&row.Lines.Inbound, t.inbound}, {&row.Lines.Test, t.tests}} {
		used, err := mailbox.Ask[lines.UsageNow](ctx, n.sys, one.pid, lines.Usage{})
		if err != nil {
			return false
		}
		*one.into = ask.LineUse{Used: used.Active, Limit: used.Limit, Waiting: used.Waiting}
		row.LiveCalls += used.Live
	}
	return true
}

// share tells each row which part it takes of what all do.
func share(rows []*ask.WorkspaceLoad) {
	var all ask.Activity
	for _, w := range rows {
		all.Calls += w.LastMinute.Calls
		all.Commits += w.LastMinute.Commits
		all.Requests += w.LastMinute.Requests
	}
	part := func(of, all int) float64 {
		if all == 0 {
			return 0
		}
		return float64(of) / float64(all)
	}
	for _, w := range rows {
		w.Share = ask.Shares{
			Calls: part(w.LastMinute.Calls, all.Calls), Commits: part(w.LastMinute.Commits, all.Commits), Requests: part(w.LastMinute.Requests, all.Requests),
		}
	}
}
