package operator_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/operator"
)

// node is a fake node with two workspaces. The actors of ws_2 do not answer.
type node struct {
	answers *actor.PID
	asked   int
	ready   error
}

func (n *node) WorkspaceIDs() []string { n.asked++; return []string{"ws_1", "ws_2", "ws_3"} }

func (*node) Workspace(id string) *domain.Workspace {
	if id == "ws_3" { // deleted since the ids were listed
		return nil
	}
	return &domain.Workspace{Meta: domain.Meta{ID: id}, Name: "name of " + id}
}

func (n *node) pid(id string) (*actor.PID, error) {
	if id == "ws_1" {
		return n.answers, nil
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the workspace is being loaded")
}

func (n *node) OutboundLinesPID(id string, _ domain.Environment) (*actor.PID, error) {
	return n.pid(id)
}
func (n *node) InboundLinesPID(id string) (*actor.PID, error)   { return n.pid(id) }
func (n *node) TrunksPID(id string) (*actor.PID, error)         { return n.pid(id) }
func (*node) LastMinute(string, time.Time) (calls, commits int) { return 3, 4 }
func (n *node) Ready(context.Context) error                     { return n.ready }

func TestLoadReportListsSilentWorkspacesAndFailingTrunks(t *testing.T) {
	t.Parallel()
	system := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	t.Cleanup(system.Shutdown)
	n := &node{ready: errors.New("the SIP listeners are not open yet")}
	n.answers = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case lines.GetUsage:
			ctx.Respond(lines.Usage{Active: 2, Limit: 10, Waiting: 1, Live: 2})
		case trunk.GetHealth:
			ctx.Respond(trunk.Health{Spent: 500_000, SpentKnown: true, Trunks: map[string]trunk.State{
				"trunk_1": {Health: domain.TrunkHealth{Status: "up"}}, "trunk_2": {Health: domain.TrunkHealth{Status: "degraded"}},
				"trunk_3": {Health: domain.TrunkHealth{Status: "down"}},
			}})
		}
	}))
	s := operator.New(operator.Config{Workspaces: n, Actors: n, System: system, Activity: n, Node: n, DialStop: &dialStop{row: &domain.DialStop{}}, Drain: &nodeDrain{}})
	requests := func(*domain.Workspace) int { return 5 }
	report, err := s.LocalReport(t.Context(), requests)
	require.NoError(t, err)
	assert.Equal(t, []any{false, "the SIP listeners are not open yet", true}, []any{report.Node.Ready, report.Node.Reason, report.Node.Dialling.Stopped})
	require.Len(t, report.Workspaces, 2)
	silent, live := report.Workspaces[0], report.Workspaces[1]
	assert.Equal(t, []any{"ws_2", true, "ws_1", false}, []any{silent.ID, silent.Silent, live.ID, live.Silent}, "the newest comes first")
	assert.Equal(t, load.Activity{Calls: 3, Commits: 4, Requests: 5}, live.LastMinute)
	assert.Equal(t, []any{6, load.CallCapacity{Used: 2, Limit: 10, Waiting: 1}, domain.Dollars(500_000)}, []any{live.LiveCalls, live.Lines.Inbound, live.SpentToday})
	assert.Equal(t, load.TrunkCounts{Up: 1, Down: 1, Degraded: 1}, live.Trunks)
	require.Len(t, live.Troubles, 2)
	assert.Equal(t, []string{"trunk_3", "trunk_2"}, []string{live.Troubles[0].ID, live.Troubles[1].ID}, "down comes before degraded")
	_, err = s.LocalReport(t.Context(), requests)
	require.NoError(t, err)
	assert.Equal(t, 1, n.asked, "the last result is used for a second")
}
