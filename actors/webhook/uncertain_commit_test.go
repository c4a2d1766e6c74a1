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

// unreliableStore calls before and after around each commit of results. Their argument is the number of the commit,
// starting with 1. An error from after simulates a commit that succeeds and whose reply is lost.
type unreliableStore struct {
	*webhooktest.Store
	results       atomic.Int64
	before, after func(commit int64) error
}

func (l *unreliableStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
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

func noError(int64) error { return nil }

var errLostReply = errors.New("the answer was lost")

const firstBackoff = 100 * time.Millisecond // backoff after the first failure of the store

// The reply to a successful commit of a result is lost, so the endpoint commits the result again. If the event is
// replayed in between, the endpoint must still deliver the replay.
func TestUncertainResultDoesNotOverwriteReplay(t *testing.T) {
	for name, between := range map[string]bool{"before it is committed again": false, "while it is": true} {
		t.Run(name, func(t *testing.T) {
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := newFixture(t, sys)
				id := s.queueEvents("a")[0]
				replay := func() {
					again := s.store.DeliveryRows(endpoint)[id]
					assert.Equal(t, domain.DeliveryDelivered, again.State)
					again.ID, again.State, again.Attempts, again.DeliveredAt, again.Replay = "dlv_replay", domain.DeliveryQueued, 0, nil, true
					s.store.Put(&again)
				}
				s.cfg.Store = &unreliableStore{Store: s.store, before: func(n int64) error {
					if n == 2 && between {
						replay()
					}
					return nil
				}, after: func(n int64) error {
					if n == 1 {
						return errLostReply
					}
					return nil
				}}
				s.startActor()
				advanceTime(firstBackoff / 2)
				if !between {
					replay()
					s.send(webhook.EndpointChanged{})
				}
				advanceTime(time.Minute)
				assert.Equal(t, []string{id, id}, s.requestedEvents())
				row := s.store.DeliveryRows(endpoint)[id]
				assert.Equal(t, []any{"dlv_replay", domain.DeliveryDelivered, 1}, []any{row.ID, row.State, row.Attempts})
				s.close()
			})
		})
	}
}

// The first commits of results fail or lose their reply. All results must finally be stored. Deliveries that are
// deleted meanwhile must not reappear.
func TestUncertainResultsAreFinallyStored(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		s.answer = func(a arrival) (int, time.Duration) {
			if a.id == "evt_000002" && a.attempt < "3" {
				return 503, time.Second
			}
			return 200, time.Second
		}
		ids := s.queueEvents("a", "b", "c")
		s.cfg.Store = &unreliableStore{Store: s.store, before: noError, after: func(n int64) error {
			if n%2 == 1 {
				return errLostReply
			}
			return nil
		}}
		s.startActor()
		advanceTime(time.Second + firstBackoff/2)
		gone := s.store.DeliveryRows(endpoint)[ids[2]]
		require.Equal(t, domain.DeliveryDelivered, gone.State)
		s.apply(commit.Change{Deletes: []domain.Key{gone.Key()}})
		advanceTime(time.Hour)
		assert.Len(t, s.requests(), 5)
		assert.Equal(t, map[domain.DeliveryState]int{domain.DeliveryDelivered: 2}, s.stateCounts())
		assert.Equal(t, 3, s.store.DeliveryRows(endpoint)[ids[1]].Attempts)
		s.close()
	})
}
