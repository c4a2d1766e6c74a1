package dnc_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/dnc"
)

// optOutNode is a fake node that collects background functions, which the test then runs.
type optOutNode struct {
	tasks     []func()
	committed []string
}

func (n *optOutNode) RunInBackground(f func())     { n.tasks = append(n.tasks, f) }
func (*optOutNode) IsStopping() bool               { return false }
func (n *optOutNode) Committed(workspaceID string) { n.committed = append(n.committed, workspaceID) }

func TestCallOptOutIsEffectiveBeforeItIsStored(t *testing.T) {
	t.Parallel()
	ctx, store, n := t.Context(), pebbletest.Open(t), &optOutNode{}
	r := register.New(store, func(string, uint64) string { return "" }, nil)
	o := dnc.NewOptOuts(r, n, n, slog.New(slog.DiscardHandler))
	meta := domain.Meta{ID: "call_1", WorkspaceID: "ws_1", Environment: domain.Live}
	scrub := lists.DefaultScrub("ws_1", domain.Live)
	o.OptOut(domain.Call{Meta: meta, To: "100", Direction: domain.Outbound}, "dtmf", "9")
	assert.Empty(t, n.tasks, "an extension is not added to a list")

	o.OptOut(domain.Call{Meta: meta, From: "+12025550155", To: "+12025550100", Direction: domain.Inbound}, "speech", "stop")
	for range 2 {
		hit, err := r.MatchPhone(ctx, "ws_1", scrub, "+12025550155")
		require.NoError(t, err)
		assert.NotNil(t, hit)
		if len(n.tasks) > 0 {
			n.tasks[0]()
			n.tasks = nil
		}
	}
	assert.Equal(t, []string{"ws_1"}, n.committed)
	events, err := store.Events(ctx, "ws_1", 0, 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, event.ContactOptedOut, events[0].Type)
	own, err := r.MatchPhone(ctx, "ws_1", scrub, "+12025550100")
	require.NoError(t, err)
	assert.Nil(t, own, "the own number of the workspace is not added")
}
