package ask

import (
	"cmp"
	"slices"

	"github.com/callboard/callboard/domain"
)

const noisyMost = 10 // that are named

// Part is how one part of the install does: the node that has it, and each of
// its workspaces.
type Part struct {
	Node       *NodeLoad        `json:"node"`
	Workspaces []*WorkspaceLoad `json:"workspaces"`
}

// Together is how the install does whose parts are told of: the node of own, the
// workspaces of all, the newest first, and what they do in sum. Nothing of the
// parts is changed.
func Together(own *Part, others ...*Part) *Part {
	node := *own.Node
	rows := slices.Clone(own.Workspaces)
	for _, p := range others {
		rows = append(rows, p.Workspaces...)
		if p.Node.AsOf.Before(node.AsOf) {
			node.AsOf = p.Node.AsOf
		}
	}
	slices.SortFunc(rows, func(a, b *WorkspaceLoad) int { return cmp.Compare(b.ID, a.ID) })
	rows = shared(rows)
	node.sumUp(rows)
	node.Noisy = noisy(rows)
	return &Part{Node: &node, Workspaces: rows}
}

// Page is a page of the workspaces.
func (p *Part) Page(q Page) List[*WorkspaceLoad] {
	from := 0
	if q.Cursor != "" {
		from, _ = slices.BinarySearchFunc(p.Workspaces, q.Cursor, func(w *WorkspaceLoad, id string) int { return cmp.Compare(id, w.ID) })
		if from < len(p.Workspaces) && p.Workspaces[from].ID == q.Cursor {
			from++
		}
	}
	out := List[*WorkspaceLoad]{Data: p.Workspaces[from:min(from+q.Limit, len(p.Workspaces))]}
	if from+q.Limit < len(p.Workspaces) {
		out.Next = out.Data[len(out.Data)-1].ID
	}
	return out
}

// sumUp adds up what all workspaces do.
func (l *NodeLoad) sumUp(rows []*WorkspaceLoad) {
	l.Workspaces, l.SpentKnown = len(rows), true
	spent := domain.Amount(0)
	for _, w := range rows {
		l.SpentKnown = l.SpentKnown && w.SpentKnown
		if w.Silent {
			l.Silent++
		}
		l.LiveCalls += w.LiveCalls
		l.Lines.Outbound.Add(w.Lines.Outbound)
		l.Lines.Inbound.Add(w.Lines.Inbound)
		l.Lines.Test.Add(w.Lines.Test)
		l.LastMinute.Add(w.LastMinute)
		l.Trunks.Up += w.Trunks.Up
		l.Trunks.Degraded += w.Trunks.Degraded
		l.Trunks.Down += w.Trunks.Down
		if micros, err := domain.Micros(w.SpentToday.Amount); err == nil {
			spent = spent.Plus(micros)
		}
	}
	l.SpentToday = domain.Dollars(spent)
}

// shared are the rows with the part that each takes of what all do.
func shared(rows []*WorkspaceLoad) []*WorkspaceLoad {
	var all Activity
	for _, w := range rows {
		all.Add(w.LastMinute)
	}
	part := func(of, all int) float64 {
		if all == 0 {
			return 0
		}
		return float64(of) / float64(all)
	}
	out := make([]*WorkspaceLoad, len(rows))
	for i, w := range rows {
		row := *w
		row.Share = Shares{
			Calls: part(w.LastMinute.Calls, all.Calls), Commits: part(w.LastMinute.Commits, all.Commits), Requests: part(w.LastMinute.Requests, all.Requests),
		}
		out[i] = &row
	}
	return out
}

// noisy are the workspaces that take the largest part of anything, the largest
// first.
func noisy(rows []*WorkspaceLoad) []NoisyShare {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *WorkspaceLoad) int { return cmp.Compare(b.Share.Most(), a.Share.Most()) })
	out := []NoisyShare{}
	for _, w := range sorted[:min(noisyMost, len(sorted))] {
		if w.Share.Most() == 0 {
			break
		}
		out = append(out, NoisyShare{WorkspaceID: w.ID, Name: w.Name, Shares: w.Share})
	}
	return out
}
