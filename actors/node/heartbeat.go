package node

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// heartbeatName is the name of the actor that answers while the actors of this node run.
const heartbeatName = "pulse"

type (
	heartbeatRequest struct{}
	heartbeatReply   struct{}
)

// Control admits it always.
func (heartbeatRequest) Control() {}

func (n *Node) startHeartbeat() error {
	_, err := n.sys.Root.SpawnNamed(mailbox.Props(n.observed(heartbeatName, func() actor.Actor { return heartbeatActor{} }), 8), heartbeatName)
	return err
}

type heartbeatActor struct{}

// Receive is protoactor's.
func (heartbeatActor) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(heartbeatRequest); ok {
		ctx.Respond(heartbeatReply{})
	}
}

// Heartbeat is nil while the actors of the node answer.
func (n *Node) Heartbeat(ctx context.Context) error {
	_, err := mailbox.Ask[heartbeatReply](ctx, n.sys, n.sys.NewLocalPID(heartbeatName), heartbeatRequest{})
	return err
}
