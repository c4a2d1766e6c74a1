package mailbox

import "github.com/asynkron/protoactor-go/actor"

// stoppedInvoker replaces an actor behind its mailbox once the actor has stopped, so that the actor can be freed.
// protoactor keeps the PIDs of stopped actors, and each PID refers to its mailbox.
type stoppedInvoker struct {
	self     *actor.PID
	registry *actor.ProcessRegistryValue
}

// InvokeSystemMessage answers a late Watch at once: the watched actor has terminated.
func (l *stoppedInvoker) InvokeSystemMessage(message any) {
	if m, ok := message.(*actor.Watch); ok {
		if watcher, known := l.registry.Get(m.Watcher); known {
			watcher.SendSystemMessage(m.Watcher, &actor.Terminated{Who: l.self})
		}
	}
}

// InvokeUserMessage implements actor.MessageInvoker. The admission mailbox answers user messages itself, so this
// method is never called.
func (l *stoppedInvoker) InvokeUserMessage(any) {}

// EscalateFailure implements actor.MessageInvoker. A stopped actor has no failures.
func (l *stoppedInvoker) EscalateFailure(any, any) {}
