package mailbox_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
)

type doneBy struct{ goroutine string }

func (doneBy) Control() {}

// goroutine is the name of the one that asks.
func goroutine() string {
	var b [64]byte
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b[:], false)]), " [")
	return name
}

func TestWhoeverWorkedRunsTheActorThatHearsOfIt(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		same, other := 0, 0
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				switch m := ctx.Message().(type) {
				case urge:
				case doneBy:
					if m.goroutine == goroutine() {
						same++
					} else {
						other++
					}
				default:
					return
				}
				if same+other < 20 {
					mailbox.Work(ctx, 0, func(context.Context) any {
						time.Sleep(time.Millisecond) // the actor is at rest then
						return doneBy{goroutine()}
					})
				}
			})
		}, 10))
		sys.Root.Send(pid, urge{})
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 20, same)
		assert.Zero(t, other)
		poison(sys, pid)
	})
}
