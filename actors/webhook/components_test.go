package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

func TestDeliveryReaderReadsOnePageAtATime(t *testing.T) {
	t.Parallel()
	r := newDeliveryReader()
	require.True(t, r.startPage(false), "everything, at first")
	assert.True(t, r.withRow)
	assert.False(t, r.startPage(true), "a page is under way")
	r.noteSettled("evt_1")
	settled, arrived := r.endPage()
	assert.Equal(t, map[string]bool{"evt_1": true}, settled)
	assert.False(t, arrived)
	r.last = "d1"
	r.pageRead(true)
	assert.False(t, r.startPage(false), "the queue has enough")
	require.True(t, r.startPage(true), "there is more")
	assert.False(t, r.withRow)
	r.endPage()
	r.pageRead(false)
	assert.False(t, r.fromStart)
	assert.False(t, r.startPage(true))
	assert.True(t, r.isCaughtUp("d1"))
	assert.False(t, r.isCaughtUp("d0"))
}

func TestDeliveryReaderReadsAgainAfterFailure(t *testing.T) {
	t.Parallel()
	r := newDeliveryReader()
	r.startPage(true)
	r.endPage()
	r.pageFailed(true)
	require.True(t, r.startPage(true))
	assert.True(t, r.withRow, "nothing was read: from the start")
	r.endPage()
	r.last = "d1"
	r.pageFailed(true)
	require.True(t, r.startPage(true))
	assert.False(t, r.withRow, "behind the last one")
	r.endPage()
	r.rereadAt = noon
	r.refreshDue(noon.Add(-1))
	assert.False(t, r.stale)
	r.refreshDue(noon)
	assert.True(t, r.stale)
}

func deliveryRow(id string, s domain.DeliveryState) *domain.Delivery {
	return &domain.Delivery{EventID: id, State: s}
}

func TestResultBufferCollectsWhileRequestsRun(t *testing.T) {
	t.Parallel()
	l := newResultBuffer()
	assert.False(t, l.isDue(false, noon), "there is none")
	l.add(deliveryRow("evt_1", domain.DeliveryDelivered))
	assert.False(t, l.isDue(true, noon))
	assert.True(t, l.isDue(true, noon.Add(gatherTime)))
	assert.True(t, l.isDue(false, noon), "no other is to come")
	l.start()
	l.add(deliveryRow("evt_2", domain.DeliveryDelivered))
	assert.False(t, l.isDue(false, noon), "a commit is under way")
	assert.True(t, l.contains("evt_1"))
	assert.True(t, l.contains("evt_2"))
}

func TestResultBufferReportsSettledEvents(t *testing.T) {
	t.Parallel()
	l := newResultBuffer()
	l.add(deliveryRow("done", domain.DeliveryDelivered))
	l.add(deliveryRow("again", domain.DeliveryRetrying))
	l.add(deliveryRow("replayed", domain.DeliveryDelivered))
	l.start()
	l.add(deliveryRow("replayed", domain.DeliveryDelivered))
	assert.Equal(t, []string{"done"}, l.succeeded())
	assert.False(t, l.contains("done"))
	assert.True(t, l.contains("replayed"))
}

func TestResultBufferRechecksAfterUncertainCommit(t *testing.T) {
	t.Parallel()
	l := newResultBuffer()
	l.add(deliveryRow("evt_1", domain.DeliveryRetrying))
	l.start()
	newer := deliveryRow("evt_1", domain.DeliveryDelivered)
	l.add(newer)
	l.add(deliveryRow("evt_2", domain.DeliveryDelivered))
	l.failed()
	rows, uncertain := l.start()
	assert.Equal(t, []*domain.Delivery{newer}, uncertain, "the newer result wins")
	assert.Len(t, rows, 1)
	assert.ElementsMatch(t, []string{"evt_1", "evt_2"}, l.succeeded())
	assert.Empty(t, l.uncertain)
}

func TestEndpointHealthCountsConsecutiveFailures(t *testing.T) {
	t.Parallel()
	var h endpointHealth
	h.adopt(nil, &domain.Webhook{FailureCount: 2, FailingSince: &noon})
	assert.True(t, h.failing())
	h.addFailure(deliveryRow("evt_1", domain.DeliveryRetrying), noon.Add(time.Hour))
	assert.Equal(t, 3, h.failures)
	assert.Equal(t, noon, *h.failingSince)
	assert.True(t, h.addSuccess(deliveryRow("evt_1", domain.DeliveryDelivered)), "it answers again")
	assert.False(t, h.addSuccess(deliveryRow("evt_2", domain.DeliveryDelivered)))
	assert.Zero(t, h.failures)
	assert.Nil(t, h.failingSince)
	assert.NotEmpty(t, h.addFailure(&domain.Delivery{State: domain.DeliveryFailed, ResponseStatus: 410}, noon), "the endpoint is gone")
}

func TestEndpointHealthIsResetForNewURL(t *testing.T) {
	t.Parallel()
	before := &domain.Webhook{URL: "https://a", Status: domain.WebhookActive}
	for _, c := range []struct {
		before, after domain.Webhook
		failures      int
	}{
		{*before, domain.Webhook{URL: "https://a", Status: domain.WebhookActive}, 3},
		{*before, domain.Webhook{URL: "https://b", Status: domain.WebhookActive}, 0},
		{domain.Webhook{URL: "https://a", Status: domain.WebhookDisabled}, *before, 0},
	} {
		h := endpointHealth{failures: 3, disableReason: "failures"}
		h.adopt(&c.before, &c.after)
		assert.Equal(t, c.failures, h.failures)
		assert.Equal(t, c.failures == 0, h.disableReason == "")
	}
}

func TestEndpointHealthWritesAreRateLimited(t *testing.T) {
	t.Parallel()
	var h endpointHealth
	assert.False(t, h.startSaving(noon), "nothing has changed")
	h.unsaved = true
	assert.True(t, h.startSaving(noon))
	h.unsaved = true
	assert.False(t, h.startSaving(noon.Add(healthSaveInterval)), "one at a time")
	h.saving = false
	assert.False(t, h.startSaving(noon.Add(healthSaveInterval-1)))
	h.disableReason = "failures"
	assert.True(t, h.startSaving(noon.Add(healthSaveInterval-1)), "it is disabled at once")
}

func TestSendWindowGrowsByOneAndShrinksByHalf(t *testing.T) {
	t.Parallel()
	w := requestLimiter{limit: 3}
	for range 9 {
		w.increaseLimit(6)
	}
	assert.InDelta(t, 6, w.limit, 0)
	w.halveLimit()
	assert.InDelta(t, 3, w.limit, 0)
	for range 9 {
		w.halveLimit()
	}
	assert.InDelta(t, 1, w.limit, 0)
	w.firsts, w.retries = 1, 1
	w.requestEnded(true)
	assert.Equal(t, 1, w.count())
	assert.Equal(t, 1, w.retries)
}

func TestStoreBackoffDoubles(t *testing.T) {
	t.Parallel()
	var b storeBackoff
	for want := minBackoff; want < maxBackoff; want *= 2 {
		b.failed(noon)
		assert.Equal(t, noon.Add(want), b.until)
	}
	b.failed(noon)
	assert.Equal(t, maxBackoff, b.delay)
	assert.True(t, b.isActive(noon))
	assert.False(t, b.isActive(noon.Add(maxBackoff)))
	b.succeeded()
	b.failed(noon)
	assert.Equal(t, minBackoff, b.delay)
}

func TestDeliveryQueueTracksFirstParkedRetry(t *testing.T) {
	t.Parallel()
	q := newDeliveryQueue()
	for i, id := range []string{"a", "b", "c", "d"} {
		due := noon.Add(time.Duration(i) * time.Minute)
		q.add(&queuedItem{row: &domain.Delivery{EventID: id, State: domain.DeliveryRetrying, DueAt: &due}})
	}
	for _, it := range q.takeLast(2) {
		q.forgetRetry(it)
	}
	assert.Equal(t, noon.Add(2*time.Minute), q.parkedUntil)
	assert.Equal(t, noon, q.nextDue())
	assert.Len(t, q.known, 2)
}

func TestEndpointWakeUpIsEarliestDueTime(t *testing.T) {
	t.Parallel()
	e := &endpoint{webhook: &domain.Webhook{Status: domain.WebhookActive}, queue: newDeliveryQueue(), cfg: Config{MaxRetrying: 10}}
	assert.Zero(t, e.nextWakeUp(noon))
	due := noon.Add(5 * time.Minute)
	e.queue.add(&queuedItem{row: &domain.Delivery{EventID: "a", State: domain.DeliveryRetrying, DueAt: &due}})
	assert.Equal(t, due, e.nextWakeUp(noon))
	e.sends.waiting[sendRetry] = true
	assert.Zero(t, e.nextWakeUp(noon), "the slot that it waits for wakes it")
	e.sends.waiting[sendRetry] = false
	e.results.writeAt = noon.Add(4 * time.Minute)
	assert.Equal(t, e.results.writeAt, e.nextWakeUp(noon))
	e.health.unsaved, e.health.saveAt = true, noon.Add(3*time.Minute)
	assert.Equal(t, e.health.saveAt, e.nextWakeUp(noon))
	e.health.saving = true
	assert.Equal(t, e.results.writeAt, e.nextWakeUp(noon))
	e.backoff.failed(noon)
	assert.Equal(t, e.backoff.until, e.nextWakeUp(noon), "nothing is done before the store is tried again")
	e.results.writeAt, e.expireAt = time.Time{}, noon.Add(time.Hour)
	e.webhook = &domain.Webhook{Status: domain.WebhookPaused}
	assert.Equal(t, e.expireAt, e.nextWakeUp(e.backoff.until), "a paused endpoint retries nothing")
}
