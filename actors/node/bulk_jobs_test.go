package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/bulk"
	callsservice "github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// unreliableStore fails one in five commits of the items of bulk jobs. For another one in five it performs the
// commit but returns an error.
type unreliableStore struct {
	storecache.Backend
	mu sync.Mutex
	n  int
}

var errUnknownOutcome = errors.New("the way to the store is gone")

func (s *unreliableStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if !slices.ContainsFunc(c.Puts, func(r domain.Record) bool { return r.Key().Kind == "bulk_item" }) {
		return s.Backend.Apply(ctx, c)
	}
	s.mu.Lock()
	s.n++
	n := s.n
	s.mu.Unlock()
	if n%5 == 3 {
		return nil, errUnknownOutcome
	}
	events, err := s.Backend.Apply(ctx, c)
	if n%5 == 1 && err == nil {
		return nil, errUnknownOutcome
	}
	return events, err
}

// bulkItemsByStatus returns the items of a bulk job, grouped by their status.
func (h *fixture) bulkItemsByStatus(p domain.Principal, id string) map[domain.BulkItemStatus][]*domain.BulkItem {
	h.Helper()
	out := map[domain.BulkItemStatus][]*domain.BulkItem{}
	for cursor := ""; ; {
		page, err := h.services().Bulk.BulkItems(h.Context(), p, id, bulk.ItemQuery{Limit: 7, Cursor: cursor})
		require.NoError(h, err)
		for _, item := range page.Data {
			out[item.Status] = append(out[item.Status], item)
		}
		if cursor = page.Next; cursor == "" {
			return out
		}
	}
}

func (h *fixture) bulkJob(p domain.Principal, id string) *domain.Bulk {
	h.Helper()
	b, err := h.services().Bulk.Bulk(h.Context(), p, id)
	require.NoError(h, err)
	return b
}

func TestBulkJobPlacesEachCallOnceDespiteStoreErrorsAndRestarts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	doubt := &unreliableStore{}
	h.wrapStore = func(s storecache.Backend) storecache.Backend { doubt.Backend = s; return doubt }
	h.start()
	_, err := h.services().Workspaces.UpdateWorkspace(t.Context(), h.live, func(w *domain.Workspace) error { w.Limits.ConcurrentOutbound = 3; return nil })
	require.NoError(t, err)
	agent := h.createAgent(h.test, keyMenuPathway())
	order := bulk.NewJob{Type: domain.BulkCalls}
	for i := range 16 {
		order.Items = append(order.Items, bulk.NewItem{Call: &domain.NewCall{
			To: fmt.Sprintf("+1500555%02d02", i), AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute,
		}})
	}
	order.Items[4].Call.To = "911"
	order.Items[9] = bulk.NewItem{Error: &domain.BulkError{Index: 9, Code: domain.CodeValidation, Message: "is required", Param: "to"}}
	b, err := h.services().Bulk.StartBulk(t.Context(), h.test, order)
	require.NoError(t, err)
	assert.Equal(t, []int{16, 14, 2, 14}, []int{b.Total, b.Accepted, b.Rejected, b.Pending})
	assert.Equal(t, [][]any{{4, domain.CodeDestinationNotAllowed, "to"}, {9, domain.CodeValidation, "to"}},
		[][]any{{b.Errors[0].Index, b.Errors[0].Code, b.Errors[0].Param}, {b.Errors[1].Index, b.Errors[1].Code, b.Errors[1].Param}})
	h.waitUntil(longWait, "some are done", func() bool { return h.bulkJob(h.test, b.ID).Done >= 4 })
	h.shutdown()
	h.start()
	h.waitUntil(2*longWait, "the job has ended", func() bool { return h.bulkJob(h.test, b.ID).Final() })
	now := h.bulkJob(h.test, b.ID)
	assert.Equal(t, []any{domain.BulkCompleted, 0, 14, 0}, []any{now.Status, now.Pending, now.Done, now.Failed})
	items := h.bulkItemsByStatus(h.test, b.ID)
	require.Len(t, items[domain.ItemDone], 14)
	assert.Len(t, items[domain.ItemRejected], 2)
	calls := map[string]bool{}
	for _, item := range items[domain.ItemDone] {
		calls[h.getCall(h.test, item.ResultID).To] = true
	}
	assert.Len(t, calls, 14, "each item placed one call to its number")
	all, err := h.services().Calls.ListCalls(t.Context(), h.test, callsservice.Query{PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(t, err)
	assert.Len(t, all.Data, 14, "no other call was placed")
	rung := map[string]int{}
	for _, r := range h.phoneLog.all() {
		rung[r.number]++
	}
	for to, n := range rung {
		assert.Equal(t, 1, n, "%s was called", to)
	}
	_, err = h.services().Bulk.CancelBulk(t.Context(), h.test, b.ID)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(errorOf(h.services().Bulk.Bulk(t.Context(), h.live, b.ID))), "the other environment cannot access it")
}

func TestBulkJobWaitsForAPermitAndStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	_, err := h.services().Workspaces.UpdateWorkspace(t.Context(), h.live, func(w *domain.Workspace) error { w.Limits.ConcurrentOutbound = 2; return nil })
	require.NoError(t, err)
	order := bulk.NewJob{Type: domain.BulkCalls}
	for i := range 5 {
		order.Items = append(order.Items, bulk.NewItem{Call: &domain.NewCall{
			To: carrierNumber(4, i, "11"), AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute,
		}})
	}
	b, err := h.services().Bulk.StartBulk(t.Context(), h.test, order)
	require.NoError(t, err)
	h.waitUntil(longWait, "the second waits for a line", func() bool {
		now := h.bulkJob(h.test, b.ID)
		return now.Done == 1 && now.Waiting == "line"
	})
	c, err := h.services().Calls.PlaceCall(t.Context(), h.test, domain.NewCall{To: carrierNumber(5, 1, "11"), AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(t, err, "the permit reserved for single calls is free")
	_, err = h.services().Calls.PlaceCall(t.Context(), h.test, domain.NewCall{To: carrierNumber(5, 2, "11"), AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	assert.Equal(t, domain.CodeConcurrentLimit, domain.CodeOf(err), "no permit is free")
	live, err := h.services().Calls.PlaceCall(t.Context(), h.live, domain.NewCall{To: carrierNumber(5, 2, "11"), AgentID: h.createAgent(h.live, waitingPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(t, err, "live calls have their own permits")
	_, err = h.services().Calls.HangupCall(t.Context(), h.live, live.ID)
	require.NoError(t, err)
	_, err = h.services().Bulk.CancelBulk(t.Context(), h.test, b.ID)
	require.NoError(t, err)
	again, err := h.services().Bulk.CancelBulk(t.Context(), h.test, b.ID)
	require.NoError(t, err, "cancelling twice is cancelling once")
	assert.Equal(t, []any{domain.BulkCancelled, 1, 4, 0}, []any{again.Status, again.Done, again.Cancelled, again.Pending})
	assert.Len(t, h.bulkItemsByStatus(h.test, b.ID)[domain.ItemCancelled], 4)
	for _, id := range []string{c.ID, h.bulkItemsByStatus(h.test, b.ID)[domain.ItemDone][0].ResultID} {
		_, err = h.services().Calls.HangupCall(t.Context(), h.test, id)
		require.NoError(t, err)
	}
}

func TestBulkImportAddsContactsAndDNCNumbersOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	order := bulk.NewJob{Type: domain.BulkContacts, Target: id}
	for i := range 1200 {
		order.Items = append(order.Items, bulk.NewItem{Contact: &domain.RawContact{Phone: phoneNumber(i), Context: domain.Context{"name": "N"}}})
	}
	order.Items[700].Contact.Phone = "x"
	b, err := d.Bulk.StartBulk(ctx, h.live, order)
	require.NoError(t, err)
	h.waitUntil(longWait, "the contacts are in", func() bool { return h.bulkJob(h.live, b.ID).Final() })
	now := h.bulkJob(h.live, b.ID)
	assert.Equal(t, []int{1198, 2, 0}, []int{now.Done, now.Failed, now.Pending})
	assert.Equal(t, [][]any{{0, domain.Code("duplicate")}, {700, domain.Code("invalid_phone")}},
		[][]any{{now.Errors[0].Index, now.Errors[0].Code}, {now.Errors[1].Index, now.Errors[1].Code}})
	h.waitUntil(longWait, "the campaign counts the contacts", func() bool { // the campaign actor is notified of the commit
		st, err := d.Campaigns.CampaignStatus(ctx, h.live, id)
		return err == nil && st.Progress.Total == 1199
	})
	failed, err := d.Bulk.BulkItems(ctx, h.live, b.ID, bulk.ItemQuery{Limit: 10, Status: domain.ItemFailed})
	require.NoError(t, err)
	assert.Equal(t, []int{0, 700}, []int{failed.Data[0].Index, failed.Data[1].Index})

	list, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "l"})
	require.NoError(t, err)
	numbers := bulk.NewJob{Type: domain.BulkDNC, Target: list.ID}
	for i := range 600 {
		numbers.Items = append(numbers.Items, bulk.NewItem{Number: &domain.RawNumber{Phone: phoneNumber(i % 599)}})
	}
	numbers.Items[3].Number.Phone = "nobody"
	b, err = d.Bulk.StartBulk(ctx, h.live, numbers)
	require.NoError(t, err)
	assert.Equal(t, []int{599, 1}, []int{b.Accepted, b.Rejected})
	h.waitUntil(longWait, "the numbers are in", func() bool { return h.bulkJob(h.live, b.ID).Final() })
	l, err := d.DNC.DNCList(ctx, h.live, list.ID)
	require.NoError(t, err)
	assert.Equal(t, 598, l.Entries)
	_, err = d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkContacts, Target: "campaign_" + id[9:18] + "00000000000000000", Items: order.Items})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
}

func TestBulkContactErrorsNameTheParameter(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	w := keyMenuPathway()
	w.Variables = []domain.Variable{{Name: "day", Required: true}}
	day := domain.Context{"day": "Monday"}
	order := bulk.NewJob{Type: domain.BulkContacts, Target: h.createCampaign(h.live, h.createAgent(h.live, w)), Items: []bulk.NewItem{
		{Contact: &domain.RawContact{Phone: phoneNumber(1)}},
		{Contact: &domain.RawContact{Phone: "x", Context: day}},
		{Contact: &domain.RawContact{Phone: phoneNumber(2), Context: day, Timezone: "Mars/Base"}},
	}}
	b, err := d.Bulk.StartBulk(ctx, h.live, order)
	require.NoError(t, err)
	h.waitUntil(longWait, "the job has ended", func() bool { return h.bulkJob(h.live, b.ID).Final() })
	failed, err := d.Bulk.BulkItems(ctx, h.live, b.ID, bulk.ItemQuery{Limit: 10, Status: domain.ItemFailed})
	require.NoError(t, err)
	params := make(map[domain.Code]string)
	for _, item := range failed.Data {
		params[item.Code] = item.Param
	}
	assert.Equal(t, map[domain.Code]string{"missing_variable": "context", "invalid_phone": "phone", "invalid_timezone": "timezone"}, params)
}

func TestBulkJobSendsEachMessageOnceDespiteStoreErrorsAndRestarts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	doubt := &unreliableStore{}
	h.wrapStore = func(s storecache.Backend) storecache.Backend { doubt.Backend = s; return doubt }
	h.start()
	order := bulk.NewJob{Type: domain.BulkSMS}
	for i := range 8 {
		order.Items = append(order.Items, bulk.NewItem{Message: &domain.NewMessage{To: carrierNumber(6, i, "11"), Body: "Hello {{name}}.", Context: domain.Context{"name": "Ada"}}})
	}
	order.Items[2].Message.Context = nil
	_, err := h.services().Bulk.StartBulk(t.Context(), h.live, order)
	assert.Equal(t, domain.CodeNoSMSRoute, domain.CodeOf(err))
	b, err := h.services().Bulk.StartBulk(t.Context(), h.test, order)
	require.NoError(t, err)
	h.waitUntil(2*longWait, "the job has ended", func() bool { return h.bulkJob(h.test, b.ID).Final() })
	items := h.bulkItemsByStatus(h.test, b.ID)
	assert.Len(t, items[domain.ItemDone], 7)
	require.Len(t, items[domain.ItemFailed], 1)
	assert.Equal(t, []any{2, "context.name"}, []any{items[domain.ItemFailed][0].Index, items[domain.ItemFailed][0].Param})
	all, err := h.services().SMS.ListMessages(t.Context(), h.test, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 100}, Direction: domain.Outbound})
	require.NoError(t, err)
	assert.Len(t, all.Data, 7)
}
