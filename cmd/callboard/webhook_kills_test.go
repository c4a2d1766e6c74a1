package main_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// deliveryKills is a service that is killed again and again while it delivers webhooks.
type deliveryKills struct {
	*service
	receivers     *deliveryRecorder
	paths         []string      // URL paths of two endpoints
	webhookIDs    []string      // ids of the two endpoints
	ids           []string      // ids of all events
	eventsPerKill int           // number of events between two kills
	maxKillDelay  time.Duration // maximum time from the first delivery to the kill
}

// newDeliveryKills starts a service with two webhook endpoints. They reject the first attempt of about one in 32 events,
// so that retries are pending at each kill.
func newDeliveryKills(t *testing.T, env ...string) *deliveryKills {
	t.Helper()
	c := &deliveryKills{paths: []string{"one", "two"}, eventsPerKill: 700, maxKillDelay: 600 * time.Millisecond}
	c.receivers = newDeliveryRecorder(t, func(w http.ResponseWriter, _ *http.Request, a recordedDelivery) bool {
		refused := a.attempt == "1" && a.id[len(a.id)-1] == '7'
		if refused {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return !refused
	})
	c.service = newRaceFreeService(t, append([]string{"FAILPOINT_WEBHOOK_TIMING=30s 100", "CALLBOARD_LOG_LEVEL=error"}, env...)...)
	for _, p := range c.paths {
		c.webhookIDs = append(c.webhookIDs, c.createWebhook(c.receivers.server.URL+"/"+p, nil, "call.*"))
	}
	return c
}

// killAndRestart kills the service, inserts new events into its store and restarts it. It returns after the first
// delivery, so that the next kill interrupts the deliveries.
func (c *deliveryKills) killAndRestart() {
	c.t.Helper()
	c.kill9()
	c.ids = append(c.ids, c.insertEvents(c.eventsPerKill, c.eventsPerKill/10)...)
	c.startProcess()
	before := c.receivers.count()
	c.await("deliveries", time.Minute, func() bool { return c.receivers.count() > before })
}

func (c *deliveryKills) countMissing() (n int) {
	for _, p := range c.paths {
		n += c.receivers.countMissing(p, c.ids)
	}
	return n
}

// If the service is killed while it delivers webhooks, no delivery may be lost, and the events of each subject must
// arrive in order. make chaos runs the test with CHAOS_DELIVERIES deliveries.
func TestKillsLoseNoDeliveryAndKeepOrder(t *testing.T) {
	t.Parallel()
	c := newDeliveryKills(t)
	rounds := 3
	if n, _ := strconv.Atoi(os.Getenv("CHAOS_DELIVERIES")); n > 0 {
		c.eventsPerKill, c.maxKillDelay = 2500, 6*time.Second
		rounds = max(n/(c.eventsPerKill*len(c.paths)), 1)
	}
	for range rounds {
		c.killAndRestart()
		<-time.After(time.Duration(rand.Int64N(int64(c.maxKillDelay))))
	}
	c.kill9()
	c.start()
	c.await("all events", 5*time.Minute, func() bool { return c.countMissing() == 0 })
	again, retries := 0, 0
	for _, p := range c.paths {
		wrong, twice, retried := c.receivers.checkOrder(p)
		assert.Empty(t, wrong, "the events of each subject arrive in order")
		again, retries = again+twice, retries+retried
	}
	assert.Positive(t, retries)
	t.Logf("chaos: %d deliveries through %d kills: none lost; %d repeated under the same id; %d retries; each subject in order",
		len(c.ids)*len(c.paths), rounds+1, again, retries)
}

// A service that commits the position of its event outbox before the webhook deliveries must lose deliveries. This
// proves that TestKillsLoseNoDeliveryAndKeepOrder detects the fault.
func TestControlPositionStoredBeforeDeliveriesLosesEvents(t *testing.T) {
	t.Parallel()
	c := newDeliveryKills(t, "FAILPOINT_SPLIT_OUTBOX_COMMIT=1")
	c.eventsPerKill = 3000 // more than one commit of the outbox
	for n := 0; ; n++ {
		require.Less(t, n, 20, "the control lost no event, so the test above detects no fault")
		c.killAndRestart()
		c.kill9()
		passed, rows := c.countQueued()
		c.start()
		if rows < passed {
			c.await("what was queued", time.Minute, func() bool { return len(c.ids)*len(c.paths)-c.countMissing() >= rows })
			assert.Positive(t, c.countMissing(), "the lost deliveries never arrive")
			return
		}
	}
}

// countQueued reads the store of a stopped service. It returns how many webhook deliveries should exist for the events
// up to the outbox position, and how many exist.
func (c *deliveryKills) countQueued() (should, are int) {
	c.t.Helper()
	ctx := context.Background()
	d, store, ws := c.openStore()
	place := &outbox.LogPosition{WorkspaceID: ws}
	_, err := store.Get(ctx, place)
	require.NoError(c.t, err)
	for after := uint64(0); after < place.Offset; {
		events, err := store.Events(ctx, ws, after, 1000)
		require.NoError(c.t, err)
		for _, e := range events {
			if after = e.Offset; e.Type == event.CallEnded && e.Offset <= place.Offset {
				should += len(c.webhookIDs)
			}
		}
	}
	for _, h := range c.webhookIDs {
		err = store.Under(ctx, domain.Key{Kind: "delivery", Workspace: ws, ID: h + "/"}, "", 1<<20,
			func() domain.Record { return new(domain.Delivery) }, func(domain.Record) error { are++; return nil })
		require.NoError(c.t, err)
	}
	require.NoError(c.t, d.Close())
	return should, are
}
