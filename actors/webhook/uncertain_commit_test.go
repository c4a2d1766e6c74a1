package webhook_test

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// lossy is a store that is asked before and behind each commit of results, the
// first of which is number 1; the error behind it is the answer that was lost.
type lossy struct {
	*webhooktest.Store
	results       atomic.Int64
	before, after func(commit int64) error
}

func (l *lossy) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if len(c.Puts) == 0 || c.Puts[0].Key().Kind != "delivery" {
		return l.Store.Apply(ctx, c)
	}
	n := l.results.Add(1)
	if err := l.before(n); err != nil {
		return nil, err
	}
	out, err := l.Store.Apply(ctx, c)
	return out, cmp.Or(err, l.after(n))
}

func nothing(int64) error { return nil }

var errLost = errors.New("the answer was lost")

const firstPause = 100 * time.Millisecond // after the first failure of the store

// A result that was stored, of which the endpoint could not hear, is committed
// again; whoever asked for the event once more meanwhile gets it once more.
func TestAResultOfUnknownOutcomeUndoesNoReplay(t *testing.T) {
	for name, between := range map[string]bool{"before it is committed again": false, "while it is": true} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := newStage(t, sys)
				id := s.queue("a")[0]
				replay := func() {
					again := s.store.DeliveryRows(endpoint)[id]
					assert.Equal(t, domain.DeliveryDelivered, again.State)
					again.ID, again.State, again.Attempts, again.DeliveredAt, again.Replay = "dlv_replay", domain.DeliveryQueued, 0, nil, true
					s.store.Put(&again)
				}
				s.cfg.Store = &lossy{Store: s.store, before: func(n int64) error {
					if n == 2 && between {
						replay()
					}
					return nil
				}, after: func(n int64) error {
					if n == 1 {
						return errLost
					}
					return nil
				}}
				s.run()
				pass(firstPause / 2)
				if !between {
					replay()
					s.tell(webhook.EndpointChanged{})
				}
				pass(time.Minute)
				assert.Equal(t, []string{id, id}, s.ids())
				row := s.store.DeliveryRows(endpoint)[id]
				assert.Equal(t, []any{"dlv_replay", domain.DeliveryDelivered, 1}, []any{row.ID, row.State, row.Attempts})
				s.end()
			})
		})
	}
}

// What nobody replayed is stored in the end, whatever became of the first
// commits; and what is gone by then does not come back.
func TestResultsOfUnknownOutcomeAreStoredInTheEnd(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newStage(t, sys)
		s.answer = func(a arrival) (int, time.Duration) {
			if a.id == "evt_000002" && a.attempt < "3" {
				return 503, time.Second
			}
			return 200, time.Second
		}
		ids := s.queue("a", "b", "c")
		s.cfg.Store = &lossy{Store: s.store, before: nothing, after: func(n int64) error {
			if n%2 == 1 {
				return errLost
			}
			return nil
		}}
		s.run()
		pass(time.Second + firstPause/2)
		gone := s.store.DeliveryRows(endpoint)[ids[2]]
		require.Equal(t, domain.DeliveryDelivered, gone.State)
		s.apply(commit.Change{Deletes: []domain.Key{gone.Key()}})
		pass(time.Hour)
		assert.Len(t, s.seen(), 5)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 2}, s.states())
		assert.Equal(t, 3, s.store.DeliveryRows(endpoint)[ids[1]].Attempts)
		s.end()
	})
}
