package campaign

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// newReadQueue returns a queue of n contacts in Washington, all in memory, with calling hours from 9 to 17 UTC.
func newReadQueue(t *testing.T, n int) *contactQueue {
	t.Helper()
	zones := calendar.NewZones()
	rules, err := calendar.New(domain.Schedule{Timezone: "UTC"}, domain.CallingHours{Start: "09:00", End: "17:00", Timezone: "UTC"}, zones)
	require.NoError(t, err)
	q := newContactQueue(n, rules)
	contacts := make([]domain.Contact, n)
	for i := range contacts {
		contacts[i].Phone = fmt.Sprintf("+1202555%04d", i)
	}
	e := eligibilityRules{rules: rules, zones: zones, country: "US", anyDestination: true}
	q.cache.missing[0] = true
	assert.Equal(t, []int{0}, q.cache.startReading())
	q.cache.endReading(map[int]*chunk{0: e.assess(contacts)})
	return q
}

var (
	noon    = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant
	evening = time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant
)

func takeReady(q *contactQueue, now time.Time) []int {
	var ordinals []int
	for {
		c, ok := q.next(now)
		if !ok {
			return ordinals
		}
		ordinals = append(ordinals, c.ordinal)
	}
}

func TestContactQueueOrder(t *testing.T) {
	t.Parallel()
	q := newReadQueue(t, 4)
	q.states[3], q.attempts[3] = byte(domain.ContactRetryWait), 1
	q.addRetry(3, noon.Add(-time.Minute))
	q.fill(noon)
	first, ok := q.next(noon)
	require.True(t, ok)
	assert.Equal(t, 3, first.ordinal, "due retries come first")
	assert.True(t, first.retry)
	second, _ := q.next(noon)
	q.giveBack(second, noon)
	assert.Equal(t, []int{0, 1, 2}, takeReady(q, noon), "a contact that was given back is the next")
}

func TestContactQueueWaitsForItsZone(t *testing.T) {
	t.Parallel()
	q := newReadQueue(t, 2)
	q.fill(noon)
	assert.Empty(t, takeReady(q, evening), "the hours closed meanwhile")
	morning := time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC)
	assert.Equal(t, morning, q.nextOpening())
	assert.False(t, q.hasUnread(evening))
	assert.True(t, q.hasUnread(morning))
	q.fill(morning)
	assert.Equal(t, []int{0, 1}, takeReady(q, morning))
}

func TestContactQueueSkipsOnce(t *testing.T) {
	t.Parallel()
	q := newReadQueue(t, 3)
	q.fill(noon)
	q.skip(1, SkipDNC)
	q.skip(1, SkipInvalid)
	assert.Equal(t, []int{0, 2}, takeReady(q, noon))
	skips := q.takeSkips(10)
	require.Len(t, skips, 1)
	assert.Equal(t, SkipDNC, skips[0].reason)
	assert.Equal(t, "+12025550001", skips[0].phone)
	assert.Empty(t, q.skips)
}

func TestContactQueueRemovesFromEveryQueue(t *testing.T) {
	t.Parallel()
	q := newReadQueue(t, 5)
	q.fill(noon)
	q.states[4] = byte(domain.ContactRetryWait)
	q.addRetry(4, evening)
	q.held.add(2, noon)
	q.capped.add(3, noon)
	for ordinal := range 5 {
		due := q.remove(ordinal)
		assert.Equal(t, ordinal == 4, due.Equal(evening))
	}
	assert.Empty(t, takeReady(q, noon))
	assert.Empty(t, append(append(q.retries, q.held...), q.capped...))
	q.requeue(0, time.Time{})
	q.requeue(4, evening)
	q.fill(noon)
	assert.Equal(t, []int{0}, takeReady(q, noon))
	assert.Equal(t, evening, q.nextRetry())
}

func TestContactQueueAppliesChanges(t *testing.T) {
	t.Parallel()
	q := newReadQueue(t, 3)
	q.fill(noon)
	takeReady(q, noon)
	deltas := []contactDelta{{ordinal: 0, state: domain.ContactRetryWait, attempts: 1, retryAt: evening, duration: 7}, {ordinal: 1, state: domain.ContactPending}}
	page := q.page(&domain.Campaign{}, 0, deltas)
	assert.Equal(t, []byte{byte(domain.ContactRetryWait), byte(domain.ContactPending), byte(domain.ContactPending)}, page.States)
	assert.Equal(t, 1, q.cursor(0, deltas))
	assert.Equal(t, domain.ContactPending, q.state(0), "a page changes nothing yet")
	q.apply(deltas)
	assert.Equal(t, domain.ContactRetryWait, q.state(0))
	assert.Equal(t, 7, q.durations[0])
	assert.Equal(t, evening, q.nextRetry())
	q.fill(noon)
	assert.Equal(t, []int{1}, takeReady(q, noon), "it is pending again")
}

func TestContactCacheKeepsRecentlyUsedChunks(t *testing.T) {
	t.Parallel()
	b := newContactCache()
	for i := range maxChunks + 1 {
		c, _ := b.use(i * domain.ChunkSize)
		assert.Nil(t, c)
		assert.Equal(t, []int{i}, b.startReading())
		assert.Nil(t, b.startReading(), "one reading at a time")
		b.endReading(map[int]*chunk{i: {contacts: []domain.Contact{{Phone: strconv.Itoa(i)}}}})
		b.use(0)
	}
	assert.Len(t, b.chunks, maxChunks)
	assert.Equal(t, "0", b.phoneOf(0))
	assert.Empty(t, b.phoneOf(domain.ChunkSize), "used longest ago")
}

func TestContactCacheDropsChunkChangedDuringRead(t *testing.T) {
	t.Parallel()
	b := newContactCache()
	b.use(0)
	b.startReading()
	b.invalidate(0)
	b.endReading(map[int]*chunk{0: {contacts: []domain.Contact{{Phone: "old"}}}})
	assert.Empty(t, b.phoneOf(0))
	assert.Equal(t, []int{0}, b.startReading(), "it is read once more")
}
