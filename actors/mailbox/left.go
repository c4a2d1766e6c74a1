package mailbox

import "github.com/asynkron/protoactor-go/actor"

// left takes the place of an actor that has stopped, so that its mailbox leads
// to nothing of it. The PIDs of the dead are kept for long: what the library's
// sets of children and watchers have removed stays in their arrays until others
// come, as many as there were at once, and a PID that was ever written to leads
// to the mailbox.
type left struct {
	self     *actor.PID
	registry *actor.ProcessRegistryValue
}

// InvokeSystemMessage answers whoever looked the actor up while it lived and
// wants to know of its end.
func (l *left) InvokeSystemMessage(message any) {
	if m, ok := message.(*actor.Watch); ok {
		if watcher, known := l.registry.Get(m.Watcher); known {
			watcher.SendSystemMessage(m.Watcher, &actor.Terminated{Who: l.self})
		}
	}
}

// InvokeUserMessage is not called: admission answers in its place.
func (l *left) InvokeUserMessage(any) {}

// EscalateFailure has nobody to tell.
func (l *left) EscalateFailure(any, any) {}
