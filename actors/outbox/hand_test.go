package outbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
)

func TestAnEndpointIsHandedWhatWasQueuedAndToldWhatStandsBeforeIt(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		var got []string // what each message brought, behind what
		place := map[string]string{"": "?"}
		far := sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case webhook.DeliveriesQueued:
				got = append(got, "look")
			case webhook.NewDeliveries:
				brought := []string{place[m.After] + ":"}
				for _, it := range m.Items {
					place[it.Row.ID] = it.Row.EventID[len(it.Row.EventID)-2:]
					brought = append(brought, it.Event.ID[len(it.Event.ID)-2:])
				}
				got = append(got, strings.Join(brought, " "))
			}
		}))
		s.cfg.EndpointPID = func(string) *actor.PID { return far }
		s.hook("wh_1", nil)
		s.run()
		pass(time.Second)
		for _, n := range []int{2, 1} {
			s.emit(n, nil)
			pass(time.Second)
		}
		n := 0
		s.store.AfterApply = func() error {
			if n++; n == 2 { // behind the commit of the event itself
				return errors.New("timed out")
			}
			return nil
		}
		s.emit(1, nil)
		pass(10 * time.Second)
		s.store.AfterApply = nil
		s.emit(1, nil)
		pass(time.Second)
		s.emit(300, nil)
		pass(time.Second)
		s.emit(1, nil)
		pass(time.Second)
		assert.Equal(t, []string{"look", "?: 01 02", "02: 03", "look", "?: 05", "look", "?: 06"}, got)
		sys.Root.Poison(far)
		s.end()
	})
}

// An outbox that ends between its commit and its nudges tells the endpoints at
// its next start.
func TestAnOutboxThatBeginsTellsEachEndpoint(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.hook("wh_1", nil)
		s.run()
		pass(time.Second)
		assert.Positive(t, s.nudges("wh_1"))
		s.end()
	})
}
