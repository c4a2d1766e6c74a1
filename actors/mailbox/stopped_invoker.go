package mailbox

import "github.com/asynkron/protoactor-go/actor"

// stoppedInvoker replaces a stopped actor behind its mailbox, so that the actor can be garbage collected. protoactor keeps
// the PIDs of stopped actors, and each PID refers to its mailbox.
type stoppedInvoker struct {
	self     *actor.PID
	registry *actor.ProcessRegistryValue
}

// InvokeSystemMessage implements actor.MessageInvoker. It answers a late Watch message at once with Terminated.
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
