package mailbox_test

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
)

type (
	echoRequest    struct{ Text string }
	controlRequest struct{ Text string }
	panicRequest   struct{}
	blockRequest   struct{ until chan struct{} }
)

func (controlRequest) Control() {}

type echoActor struct{ received *[]string }

func (p *echoActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case echoRequest:
		*p.received = append(*p.received, m.Text)
		ctx.Respond(m.Text)
	case controlRequest:
		*p.received = append(*p.received, m.Text)
		ctx.Respond(m.Text)
	case panicRequest:
		panic("boom")
	case blockRequest:
		<-m.until
	}
}

func spawnSupervised(sys *actor.ActorSystem, capacity int, heard *[]string, s actor.SupervisorStrategy) *actor.PID {
	parent := sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(string); ok {
			ctx.Respond(ctx.Spawn(mailbox.Props(func() actor.Actor { return &echoActor{heard} }, capacity)))
		}
	}, actor.WithSupervisor(s)))
	pid, err := mailbox.Ask[*actor.PID](context.Background(), sys, parent, "spawn")
	if err != nil {
		panic(err)
	}
	return pid
}

func poison(sys *actor.ActorSystem, pid *actor.PID) { sys.Root.Poison(pid) }

func TestFullMailboxRejectsAllButControlMessages(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		pid := spawnSupervised(sys, 2, &heard, mailbox.StopStrategy(slog.New(slog.DiscardHandler), nil))
		until := make(chan struct{})
		sys.Root.Send(pid, blockRequest{until})
		synctest.Wait() // the actor is busy with the block request, so its mailbox is empty
		sys.Root.Send(pid, echoRequest{"a"})
		sys.Root.Send(pid, echoRequest{"b"})
		sys.Root.Send(pid, controlRequest{"c"})
		_, err := mailbox.Ask[string](t.Context(), sys, pid, echoRequest{"d"})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		close(until)
		answer, err := mailbox.Ask[string](t.Context(), sys, pid, controlRequest{"e"})
		require.NoError(t, err)
		assert.Equal(t, "e", answer)
		assert.Equal(t, []string{"a", "b", "c", "e"}, heard)
		poison(sys, pid)
	})
}

func TestPanicDoesNotLeakMailboxCapacity(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		pid := spawnSupervised(sys, 2, &heard, mailbox.ResumeStrategy(slog.New(slog.DiscardHandler), nil))
		for range 5 {
			sys.Root.Send(pid, panicRequest{})
			synctest.Wait()
		}
		for _, text := range []string{"a", "b"} {
			_, err := mailbox.Ask[string](t.Context(), sys, pid, echoRequest{text})
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"a", "b"}, heard)
		poison(sys, pid)
	})
}

func TestRestartStrategyBacksOffThenStopsActor(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		stopped := make(chan string, 1)
		pid := spawnSupervised(sys, 20, &heard, mailbox.RestartStrategy(slog.New(slog.DiscardHandler), func(p *actor.PID, _ any) { stopped <- p.Id }))
		start := time.Now()
		for range 13 { // each message is delivered after the restart that the previous one caused
			sys.Root.Send(pid, panicRequest{})
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		select {
		case id := <-stopped:
			assert.Equal(t, pid.Id, id)
		default:
			t.Fatal("still restarted after thirteen failures in", time.Since(start))
		}
		_, err := mailbox.Ask[string](t.Context(), sys, pid, echoRequest{"x"})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	})
}

func TestAskUnknownActorFailsAtOnce(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		start := time.Now()
		_, err := mailbox.Ask[string](t.Context(), sys, sys.NewLocalPID("nobody"), echoRequest{"x"})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		assert.Zero(t, time.Since(start))
	})
}

func TestAskSilentActorFailsAtDeadline(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		pid := spawnSupervised(sys, 2, &heard, mailbox.StopStrategy(slog.New(slog.DiscardHandler), nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mailbox.Ask[string](ctx, sys, pid, blockRequest{until: closedChannel()})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		poison(sys, pid)
	})
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestNewIDsSortInCreationOrder(t *testing.T) {
	last := ""
	for range 10_000 {
		id := mailbox.NewID(domain.PrefixCall)
		require.Greater(t, id, last)
		last = id
	}
}

func TestAskFailsAtOnceWhenActorPanics(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		heard := []string{}
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return &echoActor{received: &heard} }, 10))
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := mailbox.Ask[string](ctx, sys, pid, panicRequest{})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		assert.Less(t, time.Since(begun), time.Second)
		sys.Root.Poison(pid)
		synctest.Wait()
	})
}

// panickingActor panics at messages for which matches returns true.
type panickingActor struct{ matches func(any) bool }

func (f panickingActor) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok {
		ctx.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	}
	if f.matches(ctx.Message()) {
		panic("at the end")
	}
}

func TestActorThatPanicsWhileStoppingStillStops(t *testing.T) {
	for name, at := range map[string]func(any) bool{
		"stopping":       func(m any) bool { _, ok := m.(*actor.Stopping); return ok },
		"stopped":        func(m any) bool { _, ok := m.(*actor.Stopped); return ok },
		"child has gone": func(m any) bool { _, ok := m.(*actor.Terminated); return ok },
	} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return panickingActor{at} }, 10))
			sys.Root.Poison(pid)
			time.Sleep(time.Second)
			synctest.Wait()
			_, lives := sys.ProcessRegistry.Get(pid)
			assert.False(t, lives, name)
		})
	}
}

func TestMessagesDuringActorStartAreDelivered(t *testing.T) {
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	defer sys.Shutdown()
	for i := range 200 {
		name, heard := "born"+strconv.Itoa(i), []string{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				_, err := mailbox.Ask[string](ctx, sys, sys.NewLocalPID(name), controlRequest{"x"})
				cancel()
				if err == nil {
					return
				}
			}
		}()
		pid, err := sys.Root.SpawnNamed(mailbox.Props(func() actor.Actor { return &echoActor{received: &heard} }, 10), name)
		require.NoError(t, err)
		<-done
		sys.Root.Poison(pid)
	}
}

func TestSpawnedActorsAreFoundByName(t *testing.T) {
	t.Parallel()
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	defer sys.Shutdown()
	assert.LessOrEqual(t, len(sys.ProcessRegistry.LocalPIDs.LocalPIDs), 32, "maps of 32 maps each")
	_, ok := sys.ProcessRegistry.Get(actor.NewPID(sys.Address(), "eventstream"))
	assert.True(t, ok, "it was there before")
	for i := range 2000 {
		name := "named" + strconv.Itoa(i)
		pid, err := sys.Root.SpawnNamed(actor.PropsFromFunc(func(actor.Context) {}), name)
		require.NoError(t, err)
		_, err = sys.Root.SpawnNamed(actor.PropsFromFunc(func(actor.Context) {}), name)
		require.ErrorIs(t, err, actor.ErrNameExists)
		_, ok = sys.ProcessRegistry.Get(pid)
		require.True(t, ok, name)
	}
}

// stoppingActor stops itself at the first controlRequest, once the channel proceed is closed.
type stoppingActor struct{ received, proceed chan struct{} }

func (l *stoppingActor) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(controlRequest); ok {
		close(l.received)
		<-l.proceed
		ctx.Poison(ctx.Self())
	}
}

func TestAskActorThatStopsGetsDeadLetter(t *testing.T) {
	t.Parallel()
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	defer sys.Shutdown()
	l := &stoppingActor{received: make(chan struct{}), proceed: make(chan struct{})}
	pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return l }, 10))
	process, ok := sys.ProcessRegistry.Get(pid)
	require.True(t, ok)
	sys.Root.Send(pid, controlRequest{"x"})
	<-l.received
	heard := make(chan any, 2)
	asker := sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, is := ctx.Message().(actor.SystemMessage); !is {
			heard <- ctx.Message()
		}
	}))
	close(l.proceed)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ok { // until the actor has stopped
		require.NoError(t, ctx.Err())
		_, ok = sys.ProcessRegistry.Get(pid)
	}
	process.SendUserMessage(pid, &actor.MessageEnvelope{Message: controlRequest{"late"}, Sender: asker}) // as by a sender that looked up the process earlier
	for {
		select {
		case m := <-heard:
			if gone, is := m.(*actor.DeadLetterResponse); is {
				assert.Equal(t, pid.Id, gone.Target.Id)
				return
			}
		case <-ctx.Done():
			t.Fatal("nobody answers")
		}
	}
}
