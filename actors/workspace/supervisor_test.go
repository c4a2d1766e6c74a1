package workspace_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/workspace"
)

type (
	panicRequest struct{}
	countRequest struct{}
)

// countingActor counts its starts and the requests that it has answered.
type countingActor struct{ starts, requests *int }

func (c *countingActor) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		*c.starts++
	case panicRequest:
		panic("boom")
	case countRequest:
		*c.requests++
		ctx.Respond(*c.requests)
	}
}

func TestFailedChildIsRestartedOrResumed(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		log := slog.New(slog.DiscardHandler)
		lives, heard := map[string]*int{}, map[string]*int{}
		props := func(id string) *actor.Props {
			if lives[id] == nil {
				lives[id], heard[id] = new(int), new(int)
			}
			return mailbox.Props(func() actor.Actor { return &countingActor{lives[id], heard[id]} }, 10)
		}
		ws, err := sys.Root.SpawnNamed(workspace.Props(workspace.Config{Log: log, Children: []workspace.Child{
			{Name: workspace.Calls, Props: props("calls")},
			{Name: workspace.OutboundLines, Props: props("lines")},
			{Name: workspace.Campaigns, Props: workspace.SupervisorProps([]string{"a"}, props, log, nil)},
		}}), "ws")
		require.NoError(t, err)
		synctest.Wait()
		for _, path := range [][]string{{workspace.Calls}, {workspace.OutboundLines}, {workspace.Campaigns, "a"}} {
			pid := workspace.PID(sys, "ws", path...)
			_, err = mailbox.Ask[int](t.Context(), sys, pid, countRequest{})
			require.NoError(t, err, path)
			sys.Root.Send(pid, panicRequest{})
			time.Sleep(time.Second)
			_, err = mailbox.Ask[int](t.Context(), sys, pid, countRequest{})
			require.NoError(t, err, path)
		}
		assert.Equal(t, []int{1, 2, 2}, []int{*lives["calls"], *lives["lines"], *lives["a"]}, "parents resume, leaves restart")
		_, err = mailbox.Ask[workspace.ChildSpawned](t.Context(), sys, workspace.PID(sys, "ws", workspace.Campaigns), workspace.SpawnChild{ID: "b"})
		require.NoError(t, err)
		_, err = mailbox.Ask[int](t.Context(), sys, workspace.PID(sys, "ws", workspace.Campaigns, "b"), countRequest{})
		require.NoError(t, err)
		sys.Root.Poison(ws)
	})
}
