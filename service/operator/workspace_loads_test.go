package operator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/operator"
	"github.com/callboard/callboard/service/record"
)

func row(id string, calls int, spent domain.Amount) *load.WorkspaceLoad {
	return &load.WorkspaceLoad{
		ID: id, LiveCalls: calls, Lines: load.ConcurrentCalls{Outbound: load.CallCapacity{Used: calls, Limit: 10}}, SpentToday: domain.Dollars(spent), SpentKnown: true,
		LastMinute: load.Activity{Calls: calls, Commits: 10, Requests: 1}, Trunks: load.TrunkCounts{Up: 1, Down: 1},
	}
}

func TestLoadReportsOfShardsAreMerged(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	quiet := row("ws_0", 0, 0)
	quiet.Silent, quiet.SpentKnown, quiet.LastMinute = true, false, load.Activity{}
	own := &load.Report{Node: &load.NodeLoad{AsOf: at, Ready: false, Reason: "full"}, Workspaces: []*load.WorkspaceLoad{row("ws_3", 3, 1_000_000), row("ws_1", 1, 0)}}
	whole := load.Merge(own,
		&load.Report{Node: &load.NodeLoad{AsOf: at.Add(-time.Second), Ready: true}, Workspaces: []*load.WorkspaceLoad{row("ws_2", 4, 500_000)}},
		&load.Report{Node: &load.NodeLoad{AsOf: at.Add(time.Second), Ready: true}, Workspaces: []*load.WorkspaceLoad{quiet}})
	l := whole.Node
	assert.Equal(t, []any{at.Add(-time.Second), "full", 4, 1, 8, 8, 30, false}, []any{l.AsOf, l.Reason, l.Workspaces, l.Silent, l.LiveCalls, l.Lines.Outbound.Used, l.Lines.Outbound.Limit - 10, l.SpentKnown})
	assert.Equal(t, load.Activity{Calls: 8, Commits: 30, Requests: 3}, l.LastMinute)
	assert.Equal(t, []any{domain.Dollars(1_500_000), load.TrunkCounts{Up: 4, Down: 4}}, []any{l.SpentToday, l.Trunks})
	assert.Len(t, l.Noisy, 3, "a workspace without activity is not noisy")
	assert.Equal(t, "ws_2", l.Noisy[0].WorkspaceID)
	assert.InDelta(t, 0.5, l.Noisy[0].Calls, 0.001, "share of all calls")
	assert.Zero(t, own.Workspaces[0].Share, "Merge does not change the reports of shards")
	assert.Zero(t, own.Node.Workspaces)

	var ids []string
	for q := (record.PageQuery{Limit: 3}); ; {
		l := operator.PageWorkspaceLoads(whole, q)
		for _, w := range l.Data {
			ids = append(ids, w.ID)
		}
		if q.Cursor = l.Next; q.Cursor == "" {
			break
		}
	}
	assert.Equal(t, []string{"ws_3", "ws_2", "ws_1", "ws_0"}, ids, "the newest comes first")
}
