package actors

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// pulseActor tells that actors of this node run at all.
const pulseActor = "pulse"

type (
	pulse struct{}
	beat  struct{}
)

// Control admits it always.
func (pulse) Control() {}

func (n *Node) growPulse() error {
	_, err := n.sys.Root.SpawnNamed(mailbox.Props(n.overseen(pulseActor, func() actor.Actor { return heart{} }), 8), pulseActor)
	return err
}

type heart struct{}

// Receive is protoactor's.
func (heart) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(pulse); ok {
		ctx.Respond(beat{})
	}
}

// Pulse is nil while the actors of the node answer.
func (n *Node) Pulse(ctx context.Context) error {
	_, err := mailbox.Ask[beat](ctx, n.sys, n.sys.NewLocalPID(pulseActor), pulse{})
	return err
}
