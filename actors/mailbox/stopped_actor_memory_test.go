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

// parentActor spawns children by name and records which of them have terminated. It keeps the PIDs of terminated children,
// as an application may do.
type parentActor struct {
	children   map[string]weak.Pointer[echoActor]
	terminated []string
}

type spawnChild struct{ name string }

func (m *parentActor) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case spawnChild:
		pid, err := ctx.SpawnNamed(mailbox.Props(func() actor.Actor {
			p := &echoActor{new([]string)}
			m.children[msg.name] = weak.Make(p)
			return p
		}, 10), msg.name)
		if err != nil {
			panic(err)
		}
		ctx.Respond(pid)
	case *actor.Terminated:
		m.terminated = append(m.terminated, msg.Who.GetId())
	}
}

// The actor library and the test keep the PIDs of stopped children. The stopped actors must be garbage collected anyway.
func TestStoppedActorIsGarbageCollected(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := &parentActor{children: make(map[string]weak.Pointer[echoActor])}
		parent := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return m }, 10))
		children := make(map[string]*actor.PID)
		for _, name := range []string{"stays", "stopped", "poisoned"} {
			pid, err := mailbox.Ask[*actor.PID](t.Context(), sys, parent, spawnChild{name})
			require.NoError(t, err)
			children[name] = pid
			answer, err := mailbox.Ask[string](t.Context(), sys, pid, echoRequest{"hello"})
			require.NoError(t, err)
			require.Equal(t, "hello", answer)
		}
		sys.Root.Stop(children["stopped"])
		sys.Root.Poison(children["poisoned"])
		synctest.Wait()
		assert.Len(t, m.terminated, 2)
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

// A Watch message to a process that was looked up before its actor stopped is answered with Terminated.
func TestWatchOfStoppedActorGetsTerminated(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := &parentActor{}
		watcher := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return m }, 10))
		var heard []string
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return &echoActor{&heard} }, 10))
		process, known := sys.ProcessRegistry.Get(pid)
		require.True(t, known)
		sys.Root.Stop(pid)
		synctest.Wait()
		process.SendSystemMessage(pid, &actor.Watch{Watcher: watcher})
		synctest.Wait()
		assert.Equal(t, []string{pid.GetId()}, m.terminated)
		sys.Root.Stop(watcher)
		synctest.Wait()
	})
}
