package conversation

import "github.com/asynkron/protoactor-go/actor"

type (
	// Suspend stops the conversation until EndSuspension or FinishConversation, so that another process can resume it. The
	// reply is SuspendReply.
	Suspend struct{}
	// EndSuspension continues the conversation. It first handles the messages that arrived since Suspend.
	EndSuspension struct{}
	// SuspendReply is the reply to Suspend. Saved is the state for the other process, valid until EndSuspension. It is nil
	// if another process could not resume the conversation.
	SuspendReply struct{ Saved *SavedState }
)

// Control implements mailbox.Control: a full mailbox accepts this message. One call causes a limited number of them.
func (Suspend) Control()       {}
func (EndSuspension) Control() {}
func (SuspendReply) Control()  {}

// suspension keeps the messages that arrive while the conversation is suspended.
type suspension struct {
	on      bool
	waiting []any
}

// resume ends the suspension and handles the kept messages in order.
func (s *suspension) resume(ctx actor.Context) {
	waiting := s.waiting
	s.on, s.waiting = false, nil
	for _, m := range waiting {
		ctx.Receive(&actor.MessageEnvelope{Message: m})
	}
}

// handleSuspension handles Suspend and EndSuspension, and keeps all other messages that arrive in between. It returns true if it
// has handled or kept the message.
func (c *Conversation) handleSuspension(ctx actor.Context) bool {
	s := &c.suspension
	switch m := ctx.Message().(type) {
	case Suspend:
		s.on = true
		saved := (*SavedState)(nil)
		if !c.finished && c.canResumeElsewhere() {
			saved = c.save()
		}
		ctx.Send(ctx.Parent(), SuspendReply{saved})
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
