package webhook_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
)

// plannedResponse is the response to one attempt, after a delay. The status 0 means that the request hangs, the
// connection is reset, or the response is partial.
type plannedResponse struct {
	status int
	takes  time.Duration
}

// A receiver answers two thousand events with random responses. The final state of each delivery must be the one that
// the retry rules require.
func TestEveryEventIsDeliveredOrFailedForRandomResponses(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newEndpointFleet(t, sys, 256)
		const houses, events = 20, 100
		chance := rand.New(rand.NewPCG(7, 7))
		kinds := []plannedResponse{
			{200, time.Millisecond}, {204, time.Second}, {200, 29 * time.Second}, // the last response body is slow
			{500, time.Millisecond}, {503, time.Second}, {0, hangTime}, {0, 50 * time.Millisecond}, // the last two are a reset and a partial response
			{404, time.Millisecond}, {429, time.Millisecond}, {301, time.Millisecond},
		}
		wanted := map[string]domain.Delivery{} // expected final delivery, by event ID
		var all []*simulatedEndpoint
		for n := range houses {
			mood := n % 4 // the first kind answers mostly, the last kind rarely
			script := map[string][]plannedResponse{}
			h := s.addEndpoint(fmt.Sprint("ws_", n%3), fmt.Sprint("wh_", n), 0, func(id, attempt string) (int, time.Duration) {
				p := script[id][int(attempt[0]-'1')]
				return p.status, p.takes
			})
			for i := range events {
				id := fmt.Sprintf("evt_%s_%06d", h.id, int(s.lastOffset(h.workspace))+i)
				d := domain.Delivery{State: domain.DeliveryRetrying}
				for d.State == domain.DeliveryRetrying {
					p := kinds[0]
					if chance.IntN(5) <= mood {
						p = kinds[chance.IntN(len(kinds))]
					}
					script[id] = append(script[id], p)
					d.Attempts, d.ResponseStatus = d.Attempts+1, p.status
					switch {
					case p.status/100 == 2:
						d.State = domain.DeliveryDelivered
					case p.status/100 == 3, p.status/100 == 4, d.Attempts == 5:
						d.State = domain.DeliveryFailed
					}
				}
				wanted[id] = d
			}
			s.addEvents(h, events)
			all = append(all, h)
		}
		s.startEndpoints(all...)
		advanceTime(12 * time.Hour)
		sent, counts := 0, map[domain.DeliveryState]int{}
		for _, h := range all {
			rows := s.stores[h.workspace].DeliveryRows(h.id)
			assert.Len(t, rows, events)
			attempts := map[string][]string{}
			for _, a := range h.arrived {
				attempts[a.id] = append(attempts[a.id], a.attempt)
			}
			for id, row := range rows {
				want := wanted[id]
				counts[row.State]++
				sent += len(attempts[id])
				assert.Equal(t, []any{want.State, want.Attempts, want.ResponseStatus}, []any{row.State, row.Attempts, row.ResponseStatus}, id)
				assert.Equal(t, []string{"1", "2", "3", "4", "5"}[:want.Attempts], attempts[id], id)
				failed := slices.Contains(row.Indexes(), "failed="+h.id)
				assert.Equal(t, want.State == domain.DeliveryFailed, failed, "what is given up stands in failed")
			}
		}
		assert.Equal(t, houses*events, counts[domain.DeliveryDelivered]+counts[domain.DeliveryFailed])
		assert.Greater(t, counts[domain.DeliveryFailed], 100)
		t.Logf("%d events: %v, in %d attempts", houses*events, counts, sent)
		s.close()
	})
}
