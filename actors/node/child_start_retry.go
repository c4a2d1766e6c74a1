package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/workspace"
)

// childStarter asks the supervisors of a workspace to start child actors.
type childStarter struct {
	sys        *actor.ActorSystem
	background func(func()) // runs a goroutine that the stop of the node waits for
	stopping   func() bool  // reports whether the node is stopping
	log        *slog.Logger
}

// startChild makes a supervisor start a child. If the supervisor does not answer, the request is repeated in the
// background.
func (c *childStarter) startChild(ctx context.Context, supervisor *actor.PID, child workspace.SpawnChild) {
	_, err := mailbox.Ask[workspace.ChildSpawned](ctx, c.sys, supervisor, child)
	if err == nil {
		return
	}
	c.log.Warn("an actor has not started in time: trying again", slog.String("actor", child.ID), slog.Any("error", err))
	c.background(func() {
		wait := time.NewTicker(startRetry)
		defer wait.Stop()
		for range wait.C {
			bound, cancel := context.WithTimeout(context.Background(), startLimit)
			_, err := mailbox.Ask[workspace.ChildSpawned](bound, c.sys, supervisor, child)
			cancel()
			if err == nil || c.stopping() {
				return
			}
		}
	})
}
