package conversation

import "github.com/asynkron/protoactor-go/actor"

type (
	// Suspend suspends the conversation until EndSuspension or Finish: another process is about to go on with it. Suspended answers.
	Suspend struct{}
	// EndSuspension resumes it with the messages that came since Suspend.
	EndSuspension struct{}
	// Suspended answers Suspend. Saved is the state, which stays until EndSuspension; nil: no other process could go on.
	ConversationSuspended struct{ Saved *SavedState }
)

// Control: all of these are bound by the call.
func (Suspend) Control()               {}
func (EndSuspension) Control()         {}
func (ConversationSuspended) Control() {}

// suspension keeps the messages that come while the conversation is suspended.
type suspension struct {
	on      bool
	waiting []any
}

// resume handles the messages that came meanwhile, in order.
func (s *suspension) resume(ctx actor.Context) {
	waiting := s.waiting
	s.on, s.waiting = false, nil
	for _, m := range waiting {
		ctx.Receive(&actor.MessageEnvelope{Message: m})
	}
}

// isSuspended says whether a message is done with: it waits for EndSuspension, or is Suspend or EndSuspension itself.
func (c *Conversation) isSuspended(ctx actor.Context) bool {
	s := &c.suspension
	switch m := ctx.Message().(type) {
	case Suspend:
		s.on = true
		saved := (*SavedState)(nil)
		if !c.finished && c.isPortable() {
			saved = c.save()
		}
		ctx.Send(ctx.Parent(), ConversationSuspended{saved})
		return true
	case EndSuspension:
		s.resume(ctx)
		return true
	case FinishConversation:
		if s.on {
			s.waiting = append(s.waiting, m)
			s.resume(ctx)
			return true
		}
	case *actor.Started, *actor.Stopping, *actor.Stopped, *actor.Restarting:
		return false
	}
	if s.on {
		s.waiting = append(s.waiting, ctx.Message())
	}
	return s.on
}
