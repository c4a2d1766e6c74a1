// Package mailbox is how actors are reached: a mailbox that refuses what it
// cannot hold, a question that gets one answer, work done beside an actor and
// the supervision that follows a panic. It knows no actor of ours.
//
// protoactor's own bounded mailbox makes the sender spin, and its dropping one
// loses messages; this one has a capacity, and beyond it the sender hears
// Rejected at once.
package mailbox

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// Control marks messages that are always admitted: answers of an actor's own
// work, permits, ends, wake-ups. Their number is bound by what was admitted
// before.
type Control interface{ Control() }

// Rejected answers a message that found the mailbox full.
type Rejected struct {
	Depth int // messages that were waiting
}

// Props are an actor's properties with an admission mailbox of a capacity.
func Props(producer func() actor.Actor, capacity int, opts ...actor.PropsOption) *actor.Props {
	all := append([]actor.PropsOption{actor.WithMailbox(producerOf(capacity))}, opts...)
	return actor.PropsFromProducer(func() actor.Actor { return &ending{Actor: producer()} }, all...)
}

// ending lets an actor end whatever happens: protoactor never ends one that
// panics while it is being stopped, and whoever watches it waits for ever.
type ending struct {
	actor.Actor
	over bool
}

// Receive is protoactor's.
func (e *ending) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Stopping, *actor.Restarting, *actor.Stopped:
		e.over = true
	}
	if e.over {
		defer func() {
			if v := recover(); v != nil {
				ctx.Logger().Error("an actor failed at its end", slog.String("actor", ctx.Self().GetId()), slog.Any("reason", v))
			}
		}()
	}
	e.Actor.Receive(ctx)
}

func producerOf(capacity int) actor.MailboxProducer {
	return func() actor.Mailbox {
		a := &admission{capacity: int32(min(capacity, 1<<30))} //nolint:gosec // bounded above
		a.inner = actor.Unbounded()()
		return a
	}
}

// admission counts what waits in an unbounded mailbox and refuses strangers
// beyond the capacity. The slot of a message is freed before Receive sees it,
// so a panic leaks none.
type admission struct {
	inner    actor.Mailbox
	capacity int32
	waiting  atomic.Int32
	invoker  actor.MessageInvoker
	tell     func(to *actor.PID, message any)

	// Of whoever runs the mailbox: whether the actor was told to stop, and who it
	// is in its system.
	stopping bool
	self     *actor.PID
	registry *actor.ProcessRegistryValue
	process  actor.Process

	// protoactor makes an actor known before its mailbox works: whoever knows
	// its name already is held back until then.
	open  atomic.Bool
	mu    sync.Mutex
	early []func()
}

// held keeps a post for Start, unless the mailbox works.
func (a *admission) held(post func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open.Load() {
		return false
	}
	a.early = append(a.early, post)
	return true
}

// counted wraps an admitted message until it is taken out.
type counted struct{ message any }

// PostUserMessage admits or refuses.
func (a *admission) PostUserMessage(message any) {
	if a.open.Load() || !a.held(func() { a.admit(message) }) { // a func is made only where it may be needed
		a.admit(message)
	}
}

func (a *admission) admit(message any) {
	_, body, sender := actor.UnwrapEnvelope(message)
	if _, control := body.(Control); control || isLibrary(body) {
		a.inner.PostUserMessage(message)
		return
	}
	if n := a.waiting.Add(1); n > a.capacity {
		a.waiting.Add(-1)
		if sender != nil && a.tell != nil {
			a.tell(sender, Rejected{Depth: int(n - 1)})
		}
		return
	}
	a.inner.PostUserMessage(&counted{message})
}

// isLibrary: protoactor's own user messages (a poison pill) always pass.
func isLibrary(m any) bool {
	switch m.(type) {
	case *actor.PoisonPill, actor.AutoReceiveMessage:
		return true
	}
	return false
}

// PostSystemMessage hands on.
func (a *admission) PostSystemMessage(message any) {
	_, first := message.(*actor.Started)
	if first || a.open.Load() || !a.held(func() { a.inner.PostSystemMessage(message) }) {
		a.inner.PostSystemMessage(message)
	}
}

// host is what the invoker of an actor offers besides.
type host interface {
	ActorSystem() *actor.ActorSystem
	Self() *actor.PID
}

func (a *admission) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	a.invoker = invoker
	if s, ok := invoker.(host); ok {
		root := s.ActorSystem().Root
		a.registry = s.ActorSystem().ProcessRegistry
		a.tell = func(to *actor.PID, message any) { root.Send(to, message) }
	}
	a.inner.RegisterHandlers(a, dispatcher)
}

// Start lets in whoever came early.
func (a *admission) Start() {
	a.inner.Start()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, post := range a.early {
		post()
	}
	a.early = nil
	a.open.Store(true)
}

func (a *admission) UserMessageCount() int { return a.inner.UserMessageCount() }

// InvokeSystemMessage hands on.
func (a *admission) InvokeSystemMessage(message any) {
	switch message.(type) {
	case *actor.Started:
		if c, ok := a.invoker.(host); ok {
			a.self = c.Self()
			a.process, _ = a.registry.GetLocal(a.self.GetId())
		}
	case *actor.Stop:
		a.stopping = true
	}
	a.invoker.InvokeSystemMessage(message)
	if a.stopped() {
		a.invoker = &left{a.self, a.registry}
	}
}

// stopped: nobody is there any more, but whoever looked the actor up before
// still posts to it.
func (a *admission) stopped() bool {
	if !a.stopping || a.process == nil {
		return false
	}
	now, _ := a.registry.GetLocal(a.self.GetId())
	return now != a.process // none, or another of the same name
}

// InvokeUserMessage frees the slot, then hands on. protoactor drops what comes
// to an actor that has stopped: whoever asks hears that it is gone.
func (a *admission) InvokeUserMessage(message any) {
	if c, ok := message.(*counted); ok {
		a.waiting.Add(-1)
		message = c.message
	}
	if a.stopped() {
		if _, _, sender := actor.UnwrapEnvelope(message); sender != nil {
			a.tell(sender, &actor.DeadLetterResponse{Target: a.self})
		}
		return
	}
	a.invoker.InvokeUserMessage(message)
}

// EscalateFailure hands on, with the message as the actor saw it. Whoever asked
// hears at once that there will be no answer.
func (a *admission) EscalateFailure(reason, message any) {
	if c, ok := message.(*counted); ok {
		message = c.message
	}
	if _, _, sender := actor.UnwrapEnvelope(message); sender != nil && a.tell != nil {
		a.tell(sender, unavailable("failed"))
	}
	a.invoker.EscalateFailure(reason, message)
}
