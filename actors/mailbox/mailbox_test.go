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
	echo  struct{ Text string }
	urge  struct{ Text string }
	boom  struct{}
	block struct{ until chan struct{} }
)

func (urge) Control() {}

type parrot struct{ heard *[]string }

func (p *parrot) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case echo:
		*p.heard = append(*p.heard, m.Text)
		ctx.Respond(m.Text)
	case urge:
		*p.heard = append(*p.heard, m.Text)
		ctx.Respond(m.Text)
	case boom:
		panic("boom")
	case block:
		<-m.until
	}
}

func spawn(sys *actor.ActorSystem, capacity int, heard *[]string, s actor.SupervisorStrategy) *actor.PID {
	parent := sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(string); ok {
			ctx.Respond(ctx.Spawn(mailbox.Props(func() actor.Actor { return &parrot{heard} }, capacity)))
		}
	}, actor.WithSupervisor(s)))
	pid, err := mailbox.Ask[*actor.PID](context.Background(), sys, parent, "spawn")
	if err != nil {
		panic(err)
	}
	return pid
}

func poison(sys *actor.ActorSystem, pid *actor.PID) { sys.Root.Poison(pid) }

func TestAFullMailboxRefusesStrangersAtOnceAndAdmitsControl(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		pid := spawn(sys, 2, &heard, mailbox.StopStrategy(slog.New(slog.DiscardHandler), nil))
		until := make(chan struct{})
		sys.Root.Send(pid, block{until})
		synctest.Wait() // taken out: its slot is free again
		sys.Root.Send(pid, echo{"a"})
		sys.Root.Send(pid, echo{"b"})
		sys.Root.Send(pid, urge{"c"})
		_, err := mailbox.Ask[string](t.Context(), sys, pid, echo{"d"})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		close(until)
		answer, err := mailbox.Ask[string](t.Context(), sys, pid, urge{"e"})
		require.NoError(t, err)
		assert.Equal(t, "e", answer)
		assert.Equal(t, []string{"a", "b", "c", "e"}, heard)
		poison(sys, pid)
	})
}

func TestAPanicLeaksNoSlot(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		pid := spawn(sys, 2, &heard, mailbox.ResumeStrategy(slog.New(slog.DiscardHandler), nil))
		for range 5 {
			sys.Root.Send(pid, boom{})
			synctest.Wait()
		}
		for _, text := range []string{"a", "b"} {
			_, err := mailbox.Ask[string](t.Context(), sys, pid, echo{text})
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"a", "b"}, heard)
		poison(sys, pid)
	})
}

func TestAnActorThatKeepsFailingIsRestartedLaterAndLaterThenStopped(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		stopped := make(chan string, 1)
		pid := spawn(sys, 20, &heard, mailbox.RestartStrategy(slog.New(slog.DiscardHandler), func(p *actor.PID, _ any) { stopped <- p.Id }))
		start := time.Now()
		for range 13 { // each is taken after the restart that follows the one before
			sys.Root.Send(pid, boom{})
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		select {
		case id := <-stopped:
			assert.Equal(t, pid.Id, id)
		default:
			t.Fatal("still restarted after thirteen failures in", time.Since(start))
		}
		_, err := mailbox.Ask[string](t.Context(), sys, pid, echo{"x"})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	})
}

func TestAQuestionToNobodyIsAnsweredAtOnce(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		start := time.Now()
		_, err := mailbox.Ask[string](t.Context(), sys, sys.NewLocalPID("nobody"), echo{"x"})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		assert.Zero(t, time.Since(start))
	})
}

func TestASilentActorIsGivenUpWhenTheDeadlinePasses(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		var heard []string
		pid := spawn(sys, 2, &heard, mailbox.StopStrategy(slog.New(slog.DiscardHandler), nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mailbox.Ask[string](ctx, sys, pid, block{until: closed()})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		poison(sys, pid)
	})
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestIdsSortInTheOrderInWhichTheyAreMade(t *testing.T) {
	last := ""
	for range 10_000 {
		id := mailbox.NewID(domain.PrefixCall)
		require.Greater(t, id, last)
		last = id
	}
}

func TestWhoeverAsksHearsOfAPanicAtOnce(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		heard := []string{}
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return &parrot{heard: &heard} }, 10))
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := mailbox.Ask[string](ctx, sys, pid, boom{})
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
		assert.Less(t, time.Since(begun), time.Second)
		sys.Root.Poison(pid)
		synctest.Wait()
	})
}

// fragile panics at a kind of message.
type fragile struct{ at func(any) bool }

func (f fragile) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok {
		ctx.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	}
	if f.at(ctx.Message()) {
		panic("at the end")
	}
}

func TestAnActorThatFailsAtItsEndEndsAllTheSame(t *testing.T) {
	for name, at := range map[string]func(any) bool{
		"stopping":       func(m any) bool { _, ok := m.(*actor.Stopping); return ok },
		"stopped":        func(m any) bool { _, ok := m.(*actor.Stopped); return ok },
		"child has gone": func(m any) bool { _, ok := m.(*actor.Terminated); return ok },
	} {
		actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
			pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return fragile{at} }, 10))
			sys.Root.Poison(pid)
			time.Sleep(time.Second)
			synctest.Wait()
			_, lives := sys.ProcessRegistry.Get(pid)
			assert.False(t, lives, name)
		})
	}
}

func TestWhoeverKnowsTheNameOfAnActorMayCallItWhileItIsBorn(t *testing.T) {
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	defer sys.Shutdown()
	for i := range 200 {
		name, heard := "born"+strconv.Itoa(i), []string{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				_, err := mailbox.Ask[string](ctx, sys, sys.NewLocalPID(name), urge{"x"})
				cancel()
				if err == nil {
					return
				}
			}
		}()
		pid, err := sys.Root.SpawnNamed(mailbox.Props(func() actor.Actor { return &parrot{heard: &heard} }, 10), name)
		require.NoError(t, err)
		<-done
		sys.Root.Poison(pid)
	}
}

func TestWhoeverHasANameIsFoundByIt(t *testing.T) {
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

// last ends at the first message, once it may.
type last struct{ got, may chan struct{} }

func (l *last) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(urge); ok {
		close(l.got)
		<-l.may
		ctx.Poison(ctx.Self())
	}
}

func TestWhoAsksAnActorThatEndsHearsThatItIsGone(t *testing.T) {
	t.Parallel()
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	defer sys.Shutdown()
	l := &last{got: make(chan struct{}), may: make(chan struct{})}
	pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor { return l }, 10))
	process, ok := sys.ProcessRegistry.Get(pid)
	require.True(t, ok)
	sys.Root.Send(pid, urge{"x"})
	<-l.got
	heard := make(chan any, 2)
	asker := sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, is := ctx.Message().(actor.SystemMessage); !is {
			heard <- ctx.Message()
		}
	}))
	close(l.may)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ok { // until it has ended
		require.NoError(t, ctx.Err())
		_, ok = sys.ProcessRegistry.Get(pid)
	}
	process.SendUserMessage(pid, &actor.MessageEnvelope{Message: urge{"late"}, Sender: asker}) // as by somebody who looked it up before
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
