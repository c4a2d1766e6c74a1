// Package actortest runs actors inside a synctest bubble: hours pass in
// milliseconds, and nothing is left behind.
package actortest

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// Run calls f inside a bubble with an actor system of its own. Actors that f
// spawned under the root must be stopped by f (Poison); the dead-letter ticker
// ends in the two fake seconds that follow. No t.Run, no t.Parallel inside.
func Run(t *testing.T, f func(t *testing.T, sys *actor.ActorSystem)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sys := mailbox.System(slog.New(slog.DiscardHandler))
		f(t, sys)
		sys.Shutdown()
		time.Sleep(2 * time.Second)
	})
}
