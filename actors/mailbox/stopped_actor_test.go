package mailbox_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
)

// mother has children by their names, and is told of their ends. Of those whose
// ends she watched she still has the PIDs.
type mother struct {
	children map[string]weak.Pointer[parrot]
	ended    []string
}

type birth struct{ name string }

func (m *mother) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case birth:
		pid, err := ctx.SpawnNamed(mailbox.Props(func() actor.Actor {
			p := &parrot{new([]string)}
			m.children[msg.name] = weak.Make(p)
			return p
		}, 10), msg.name)
		if err != nil {
			panic(err)
		}
		ctx.Respond(pid)
	case *actor.Terminated:
		m.ended = append(m.ended, msg.Who.GetId())
	}
}

// TestOfAnActorThatHasEndedNothingStaysButItsName: the library's sets keep the
// PIDs of the children that have ended, and so does whoever knew them.
func TestOfAnActorThatHasEndedNothingStaysButItsName(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := &mother{children: make(map[string]weak.Pointer[parrot])}
		parent := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return m }, 10))
		children := make(map[string]*actor.PID)
		for _, name := range []string{"stays", "stopped", "poisoned"} {
			pid, err := mailbox.Ask[*actor.PID](t.Context(), sys, parent, birth{name})
			require.NoError(t, err)
			children[name] = pid
			answer, err := mailbox.Ask[string](t.Context(), sys, pid, echo{"hello"})
			require.NoError(t, err)
			require.Equal(t, "hello", answer)
		}
		sys.Root.Stop(children["stopped"])
		sys.Root.Poison(children["poisoned"])
		synctest.Wait()
		assert.Len(t, m.ended, 2)
		for range 2 {
			runtime.GC()
		}
		assert.NotNil(t, m.children["stays"].Value())
		assert.Nil(t, m.children["stopped"].Value())
		assert.Nil(t, m.children["poisoned"].Value())
		runtime.KeepAlive(children)
		sys.Root.Stop(parent)
		synctest.Wait()
	})
}

// TestWhoeverLooksAfterAnActorTooLateHearsOfItsEnd: the process of a stopped
// actor, which was looked up while it lived, answers a watch.
func TestWhoeverLooksAfterAnActorTooLateHearsOfItsEnd(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := &mother{}
		watcher := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return m }, 10))
		var heard []string
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return &parrot{&heard} }, 10))
		process, known := sys.ProcessRegistry.Get(pid)
		require.True(t, known)
		sys.Root.Stop(pid)
		synctest.Wait()
		process.SendSystemMessage(pid, &actor.Watch{Watcher: watcher})
		synctest.Wait()
		assert.Equal(t, []string{pid.GetId()}, m.ended)
		sys.Root.Stop(watcher)
		synctest.Wait()
	})
}
