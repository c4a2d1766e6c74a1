// Package mailbox is how actors are reached: a mailbox that refuses what it
// cannot hold, a question that gets one answer, work done beside an actor and
// the supervision that follows a panic. It knows no actor of ours.
//
// protoactor's own bounded mailbox makes the sender spin, and its dropping one
// loses messages; this one has a capacity, and beyond it the sender hears
// Rejected at once.
package mailbox

import (
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
	return actor.PropsFromProducer(producer, all...)
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
	refuse   func(to *actor.PID, depth int)
}

// counted wraps an admitted message until it is taken out.
type counted struct{ message any }

func (a *admission) PostUserMessage(message any) {
	_, body, sender := actor.UnwrapEnvelope(message)
	if _, control := body.(Control); control || isLibrary(body) {
		a.inner.PostUserMessage(message)
		return
	}
	if n := a.waiting.Add(1); n > a.capacity {
		a.waiting.Add(-1)
		if sender != nil && a.refuse != nil {
			a.refuse(sender, int(n-1))
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

func (a *admission) PostSystemMessage(message any) { a.inner.PostSystemMessage(message) }

// system is what the invoker of an actor offers besides: its actor system.
type system interface{ ActorSystem() *actor.ActorSystem }

func (a *admission) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	a.invoker = invoker
	if s, ok := invoker.(system); ok {
		root := s.ActorSystem().Root
		a.refuse = func(to *actor.PID, depth int) { root.Send(to, Rejected{Depth: depth}) }
	}
	a.inner.RegisterHandlers(a, dispatcher)
}

func (a *admission) Start() { a.inner.Start() }

func (a *admission) UserMessageCount() int { return a.inner.UserMessageCount() }

// InvokeSystemMessage hands on.
func (a *admission) InvokeSystemMessage(message any) { a.invoker.InvokeSystemMessage(message) }

// InvokeUserMessage frees the slot, then hands on.
func (a *admission) InvokeUserMessage(message any) {
	if c, ok := message.(*counted); ok {
		a.waiting.Add(-1)
		message = c.message
	}
	a.invoker.InvokeUserMessage(message)
}

// EscalateFailure hands on, with the message as the actor saw it.
func (a *admission) EscalateFailure(reason, message any) {
	if c, ok := message.(*counted); ok {
		message = c.message
	}
	a.invoker.EscalateFailure(reason, message)
}
