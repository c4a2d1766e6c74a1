// Package actortest runs actors in a testing/synctest bubble, where hours of fake time pass in milliseconds.
package actortest

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// Run calls f in a synctest bubble with an actor system of its own. f has to stop the actors that it spawned under
// the root (Poison). Run then waits two fake seconds for protoactor's dead-letter ticker to end. f must not call
// t.Run or t.Parallel.
func Run(t *testing.T, f func(t *testing.T, sys *actor.ActorSystem)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
		f(t, sys)
		sys.Shutdown()
		time.Sleep(2 * time.Second)
	})
}
