package mailbox

import (
	"context"
	"fmt"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
)

// replyProcess is the sender of one request made by Ask. It passes on the first reply and ignores all later ones.
type replyProcess struct {
	once  sync.Once
	reply chan any
}

func (q *replyProcess) SendUserMessage(_ *actor.PID, message any) {
	_, body, _ := actor.UnwrapEnvelope(message)
	q.once.Do(func() { q.reply <- body })
}

func (q *replyProcess) SendSystemMessage(*actor.PID, any) {}

func (q *replyProcess) Stop(*actor.PID) {}

// Ask sends msg to an actor and waits for one reply of type T. If the reply is an error, Ask returns it as err. Ask returns
// the error unavailable (HTTP 503) if the mailbox is full, if the actor has stopped, or if ctx ends before the reply.
func Ask[T any](ctx context.Context, sys *actor.ActorSystem, to *actor.PID, msg any) (T, error) {
	var none T
	if to == nil {
		return none, unavailableError("is not running")
	}
	q := &replyProcess{reply: make(chan any, 1)}
	pid, _ := sys.ProcessRegistry.Add(q, "ask/"+sys.ProcessRegistry.NextId())
	defer sys.ProcessRegistry.Remove(pid)
	sys.Root.RequestWithCustomSender(to, msg, pid)
	select {
	case a := <-q.reply:
		return replyAs[T](a)
	case <-ctx.Done():
		return none, unavailableError("did not answer in time")
	}
}

func replyAs[T any](a any) (T, error) {
	var none T
	switch v := a.(type) {
	case T:
		return v, nil
	case error:
		return none, v
	case Rejected:
		return none, unavailableError(fmt.Sprintf("has %d messages waiting", v.Depth))
	case *actor.DeadLetterResponse:
		return none, unavailableError("is gone")
	}
	return none, fmt.Errorf("mailbox: answer of type %T, wanted %T", a, none)
}

func unavailableError(what string) error {
	return domain.Errorf(domain.CodeUnavailable, "the part of the service that handles this %s; try again", what).With("retry_after", 1)
}
