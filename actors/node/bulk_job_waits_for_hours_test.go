package node_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// callingHoursFrom returns calling hours of one hour that begin after the duration d.
func callingHoursFrom(d time.Duration) *domain.CallingHours {
	at := time.Now().UTC().Add(d)
	return &domain.CallingHours{Start: at.Format("15:04"), End: at.Add(time.Hour).Format("15:04"), Timezone: "UTC"}
}

// createJobOutsideHours creates a bulk job of four calls. The first, third and fourth are outside their calling
// hours. The second has no calling hours. The time is the next opening of the calling hours.
func (h *fixture) createJobOutsideHours() (*domain.Bulk, time.Time) {
	h.Helper()
	hours := callingHoursFrom(2 * time.Hour)
	order, agent := bulk.NewJob{Type: domain.BulkCalls}, h.createAgent(h.test, keyMenuPathway())
	for i := range 4 {
		order.Items = append(order.Items, bulk.NewItem{Call: &domain.NewCall{
			To: carrierNumber(8, i, "02"), AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute, CallingHours: hours,
		}})
	}
	order.Items[1].Call.CallingHours = nil
	b, err := h.services().Bulk.StartBulk(h.Context(), h.test, order)
	require.NoError(h, err)
	opens, err := time.Parse("15:04", hours.Start)
	require.NoError(h, err)
	now := time.Now().UTC()
	next := time.Date(now.Year(), now.Month(), now.Day(), opens.Hour(), opens.Minute(), 0, 0, time.UTC)
	if next.Before(now) {
		next = next.AddDate(0, 0, 1)
	}
	return b, next
}

// waitForCallingHours waits until a bulk job has placed the call without calling hours, and the other three calls
// wait for opens.
func (h *fixture) waitForCallingHours(id string, opens time.Time) {
	h.Helper()
	h.waitUntil(longWait, "the job waits for its calling hours", func() bool { return h.bulkJob(h.test, id).Waiting == "calling_hours" })
	now := h.bulkJob(h.test, id)
	assert.Equal(h, []any{domain.BulkRunning, 1, 3, 0}, []any{now.Status, now.Done, now.Pending, now.Failed}, "those that may be called are")
	assert.Equal(h, opens, now.WaitingUntil.UTC())
	items := h.bulkItemsByStatus(h.test, id)[domain.ItemWaiting]
	require.Len(h, items, 3)
	for i, index := range []int{0, 2, 3} {
		assert.Equal(h, []any{index, opens}, []any{items[i].Index, items[i].Until.UTC()})
	}
	one, err := h.services().Bulk.BulkItems(h.Context(), h.test, id, bulk.ItemQuery{Limit: 2, Status: domain.ItemWaiting})
	require.NoError(h, err)
	assert.Equal(h, []any{2, "3"}, []any{len(one.Data), one.Next})
}

// openCallingHours changes the calling hours in the stored rows of a bulk job, so that they are open now. The job
// must not be running.
func (h *fixture) openCallingHours(b *domain.Bulk) {
	h.Helper()
	chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID}
	_, err := h.store.Get(h.Context(), chunk)
	require.NoError(h, err)
	for i := range chunk.Entries {
		var o bulk.NewItem
		require.NoError(h, json.Unmarshal(chunk.Entries[i].Order, &o))
		o.Call.CallingHours = callingHoursFrom(-time.Minute)
		chunk.Entries[i].Order, err = json.Marshal(o)
		require.NoError(h, err)
	}
	h.putRow(chunk)
}

func TestBulkCallWaitsForCallingHoursWithoutBlockingOthers(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	b, opens := h.createJobOutsideHours()
	h.waitForCallingHours(b.ID, opens)
	h.shutdown()
	h.start()
	h.waitForCallingHours(b.ID, opens)
	list := domain.DefaultDNCID(h.test.WorkspaceID, h.test.Environment)
	_, err := h.services().DNC.ImportDNC(t.Context(), h.test, list, func(yield func(domain.RawNumber, error) bool) {
		yield(domain.RawNumber{Phone: carrierNumber(8, 2, "02")}, nil)
	})
	require.NoError(t, err)
	h.openCallingHours(b)
	h.shutdown()
	h.start()
	h.waitUntil(longWait, "the job has ended", func() bool { return h.bulkJob(h.test, b.ID).Final() })
	now := h.bulkJob(h.test, b.ID)
	assert.Equal(t, []any{domain.BulkCompleted, 3, 1, 0, ""}, []any{now.Status, now.Done, now.Failed, now.Pending, now.Waiting})
	failed := h.bulkItemsByStatus(h.test, b.ID)[domain.ItemFailed]
	require.Len(t, failed, 1)
	assert.Equal(t, []any{2, domain.CodeDNCBlocked}, []any{failed[0].Index, failed[0].Code}, "a number that was added to the list meanwhile is not called")
	all, err := h.services().Calls.ListCalls(t.Context(), h.test, calls.Query{PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(t, err)
	assert.Len(t, all.Data, 3)
}

func TestBulkJobWaitingForCallingHoursCanBeCancelled(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	b, opens := h.createJobOutsideHours()
	h.waitForCallingHours(b.ID, opens)
	now, err := h.services().Bulk.CancelBulk(t.Context(), h.test, b.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{domain.BulkCancelled, 1, 3, 0}, []any{now.Status, now.Done, now.Cancelled, now.Pending})
	items := h.bulkItemsByStatus(h.test, b.ID)
	assert.Equal(t, []int{1, 3, 0}, []int{len(items[domain.ItemDone]), len(items[domain.ItemCancelled]), len(items[domain.ItemWaiting])})
	h.shutdown()
	h.start()
	assert.Len(t, h.bulkItemsByStatus(h.test, b.ID)[domain.ItemCancelled], 3, "no other process continues the job")
}
