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

func TestEndpointGetsNewDeliveriesWithTheirPredecessor(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		var got []string // deliveries of each message, after the event that they follow
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
		s.addWebhook("wh_1", nil)
		s.startOutbox()
		advanceTime(time.Second)
		for _, n := range []int{2, 1} {
			s.commitEvents(n, nil)
			advanceTime(time.Second)
		}
		n := 0
		s.store.AfterApply = func() error {
			if n++; n == 2 { // the commit after that of the event itself
				return errors.New("timed out")
			}
			return nil
		}
		s.commitEvents(1, nil)
		advanceTime(10 * time.Second)
		s.store.AfterApply = nil
		s.commitEvents(1, nil)
		advanceTime(time.Second)
		s.commitEvents(300, nil)
		advanceTime(time.Second)
		s.commitEvents(1, nil)
		advanceTime(time.Second)
		assert.Equal(t, []string{"look", "?: 01 02", "02: 03", "look", "?: 05", "look", "?: 06"}, got)
		sys.Root.Poison(far)
		s.close()
	})
}

// An outbox stops after a commit of deliveries and before it notifies the endpoints. It must notify them at its next
// start.
func TestOutboxNotifiesEndpointsAtStart(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.addWebhook("wh_1", nil)
		s.startOutbox()
		advanceTime(time.Second)
		assert.Positive(t, s.notificationCount("wh_1"))
		s.close()
	})
}
