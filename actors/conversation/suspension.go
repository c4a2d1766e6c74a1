package conversation

import "github.com/asynkron/protoactor-go/actor"

type (
	// Suspend suspends the conversation until EndSuspension or FinishConversation, before another process resumes
	// it. The reply is SuspendReply.
	Suspend struct{}
	// EndSuspension continues the conversation with the messages that arrived since Suspend.
	EndSuspension struct{}
	// SuspendReply is the reply to Suspend. Saved is valid until EndSuspension; nil: no other process
	// could resume.
	SuspendReply struct{ Saved *SavedState }
)

// Control implements mailbox.Control. The call bounds the number of these messages.
func (Suspend) Control()       {}
func (EndSuspension) Control() {}
func (SuspendReply) Control()  {}

// suspension keeps the messages that arrive while the conversation is suspended.
type suspension struct {
	on      bool
	waiting []any
}

// resume handles the kept messages in order.
func (s *suspension) resume(ctx actor.Context) {
	waiting := s.waiting
	s.on, s.waiting = false, nil
	for _, m := range waiting {
		ctx.Receive(&actor.MessageEnvelope{Message: m})
	}
}

// isSuspended reports whether a message is already handled: it waits for EndSuspension, or is Suspend or
// EndSuspension itself.
func (c *Conversation) isSuspended(ctx actor.Context) bool {
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
