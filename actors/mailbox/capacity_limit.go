// Package mailbox gives actors bounded mailboxes, requests with one reply, background tasks, timers and supervision.
//
// A mailbox has a capacity. If it is full, the sender gets Rejected at once, and no message is lost silently.
// (protoactor's own bounded mailboxes either block the sender or drop messages.)
package mailbox

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// Control marks messages that a full mailbox still accepts, such as results of the actor's own tasks, permits and timers.
// Their number must be bounded in another way. It is bounded if earlier accepted messages cause them.
type Control interface{ Control() }

// Rejected is the reply to a message for which the mailbox had no room.
type Rejected struct {
	Depth int // number of messages in the mailbox
}

// Props returns the properties of an actor whose mailbox accepts at most capacity messages, besides Control
// messages.
func Props(producer func() actor.Actor, capacity int, opts ...actor.PropsOption) *actor.Props {
	all := append([]actor.PropsOption{actor.WithMailbox(newMailboxProducer(capacity))}, opts...)
	return actor.PropsFromProducer(func() actor.Actor { return &stopGuard{Actor: producer()} }, all...)
}

// stopGuard recovers panics while an actor stops. protoactor never completes the stop of an actor that panics then,
// and its watchers would wait forever.
type stopGuard struct {
	actor.Actor
	stopping bool
}

// Receive implements actor.Actor.
func (e *stopGuard) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Stopping, *actor.Restarting, *actor.Stopped:
		e.stopping = true
	}
	if e.stopping {
		defer func() {
			if v := recover(); v != nil {
				ctx.Logger().Error("actor panicked while stopping", slog.String("actor", ctx.Self().GetId()), slog.Any("reason", v))
			}
		}()
	}
	e.Actor.Receive(ctx)
}

func newMailboxProducer(capacity int) actor.MailboxProducer {
	return func() actor.Mailbox {
		a := &admission{capacity: int32(min(capacity, 1<<30))} //nolint:gosec // bounded above
		a.inner = actor.Unbounded()()
		return a
	}
}

// admission is a mailbox that counts its waiting messages and rejects messages beyond its capacity. A message stops counting
// before Receive gets it, so a panic in Receive does not reduce the capacity.
type admission struct {
	inner    actor.Mailbox
	capacity int32
	waiting  atomic.Int32
	invoker  actor.MessageInvoker
	reply    func(to *actor.PID, message any)

	// The fields from stopping to process are used only by the goroutine that runs the mailbox.
	stopping bool
	self     *actor.PID
	registry *actor.ProcessRegistryValue
	process  actor.Process

	// protoactor registers an actor before its mailbox has started. Messages that arrive in between wait in
	// waitingPosts.
	started      atomic.Bool
	mu           sync.Mutex
	waitingPosts []func()
}

// deferUntilStart stores post, which Start calls later, and returns true. If the mailbox has already started, it returns
// false.
func (a *admission) deferUntilStart(post func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.started.Load() {
		return false
	}
	a.waitingPosts = append(a.waitingPosts, post)
	return true
}

// countedMessage wraps a message that counts against the capacity until it is delivered.
type countedMessage struct{ message any }

// PostUserMessage implements actor.Mailbox. It accepts a message or, if the mailbox is full, replies Rejected to the sender.
func (a *admission) PostUserMessage(message any) {
	if a.started.Load() || !a.deferUntilStart(func() { a.admit(message) }) { // the closure is allocated only before Start
		a.admit(message)
	}
}

func (a *admission) admit(message any) {
	_, body, sender := actor.UnwrapEnvelope(message)
	if _, control := body.(Control); control || isLibraryMessage(body) {
		a.inner.PostUserMessage(message)
		return
	}
	if n := a.waiting.Add(1); n > a.capacity {
		a.waiting.Add(-1)
		if sender != nil && a.reply != nil {
			a.reply(sender, Rejected{Depth: int(n - 1)})
		}
		return
	}
	a.inner.PostUserMessage(&countedMessage{message})
}

// isLibraryMessage reports whether m is a user message of protoactor itself, such as a poison pill. The mailbox
// always accepts these.
func isLibraryMessage(m any) bool {
	switch m.(type) {
	case *actor.PoisonPill, actor.AutoReceiveMessage:
		return true
	}
	return false
}

// PostSystemMessage implements actor.Mailbox. System messages do not count against the capacity.
func (a *admission) PostSystemMessage(message any) {
	_, first := message.(*actor.Started)
	if first || a.started.Load() || !a.deferUntilStart(func() { a.inner.PostSystemMessage(message) }) {
		a.inner.PostSystemMessage(message)
	}
}

// actorContext is the part of an actor's context that the mailbox reads.
type actorContext interface {
	ActorSystem() *actor.ActorSystem
	Self() *actor.PID
}

func (a *admission) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	a.invoker = invoker
	if s, ok := invoker.(actorContext); ok {
		root := s.ActorSystem().Root
		a.registry = s.ActorSystem().ProcessRegistry
		a.reply = func(to *actor.PID, message any) { root.Send(to, message) }
	}
	a.inner.RegisterHandlers(a, dispatcher)
}

// Start implements actor.Mailbox. It delivers the messages that arrived before the mailbox started.
func (a *admission) Start() {
	a.inner.Start()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, post := range a.waitingPosts {
		post()
	}
	a.waitingPosts = nil
	a.started.Store(true)
}

func (a *admission) UserMessageCount() int { return a.inner.UserMessageCount() }

// InvokeSystemMessage implements actor.MessageInvoker. Once the actor has stopped, it replaces the actor by a
// stoppedInvoker.
func (a *admission) InvokeSystemMessage(message any) {
	switch message.(type) {
	case *actor.Started:
		if c, ok := a.invoker.(actorContext); ok {
			a.self = c.Self()
			a.process, _ = a.registry.GetLocal(a.self.GetId())
		}
	case *actor.Stop:
		a.stopping = true
	}
	a.invoker.InvokeSystemMessage(message)
	if a.hasStopped() {
		a.invoker = &stoppedInvoker{a.self, a.registry}
	}
}

// hasStopped reports whether the actor has stopped. Senders that looked up its process earlier may still post to this
// mailbox.
func (a *admission) hasStopped() bool {
	if !a.stopping || a.process == nil {
		return false
	}
	now, _ := a.registry.GetLocal(a.self.GetId())
	return now != a.process // nil, or a later actor of the same name
}

// InvokeUserMessage delivers a message, which then stops counting against the capacity. If the actor has stopped, the sender
// gets a DeadLetterResponse, because protoactor would drop the message silently.
func (a *admission) InvokeUserMessage(message any) {
	if c, ok := message.(*countedMessage); ok {
		a.waiting.Add(-1)
		message = c.message
	}
	if a.hasStopped() {
		if _, _, sender := actor.UnwrapEnvelope(message); sender != nil {
			a.reply(sender, &actor.DeadLetterResponse{Target: a.self})
		}
		return
	}
	a.invoker.InvokeUserMessage(message)
}

// EscalateFailure passes a failure to the supervisor. The sender of the failed message gets an error at once,
// because no reply will follow.
func (a *admission) EscalateFailure(reason, message any) {
	if c, ok := message.(*countedMessage); ok {
		message = c.message
	}
	if _, _, sender := actor.UnwrapEnvelope(message); sender != nil && a.reply != nil {
		a.reply(sender, unavailableError("failed"))
	}
	a.invoker.EscalateFailure(reason, message)
}
