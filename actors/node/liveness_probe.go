package node

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// heartbeatName is the name of the actor that answers heartbeat requests.
const heartbeatName = "heartbeat"

type (
	heartbeatRequest struct{}
	heartbeatReply   struct{}
)

// Control marks the message as one that a full mailbox admits too.
func (heartbeatRequest) Control() {}

// startHeartbeat starts the actor that answers heartbeat requests.
func (n *Node) startHeartbeat() error {
	_, err := n.sys.Root.SpawnNamed(mailbox.Props(n.observeMessages(heartbeatName, func() actor.Actor { return heartbeatActor{} }), 8), heartbeatName)
	return err
}

// heartbeatActor answers each heartbeat request. An answer shows that the actor system processes messages.
type heartbeatActor struct{}

// Receive implements actor.Actor.
func (heartbeatActor) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(heartbeatRequest); ok {
		ctx.Respond(heartbeatReply{})
	}
}

// Heartbeat returns nil if the heartbeat actor of the node answers before ctx ends.
func (n *Node) Heartbeat(ctx context.Context) error {
	_, err := mailbox.Ask[heartbeatReply](ctx, n.sys, n.sys.NewLocalPID(heartbeatName), heartbeatRequest{})
	return err
}
