package node_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/calls"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
)

// openingReplyLostStore performs the commits that open a call, but returns an error for the next left of them, as if
// the reply was lost.
type openingReplyLostStore struct {
	storecache.Backend
	left atomic.Int32
}

func (d *openingReplyLostStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	created, err := d.Backend.Apply(ctx, c)
	opens := slices.ContainsFunc(c.Events, func(e event.Draft) bool { return e.Type == event.CallStarted })
	if opens && d.left.Add(-1) >= 0 {
		return nil, errors.New("the answer was lost")
	}
	return created, err
}

func TestCallWithUnknownCommitOutcomeIsEndedWithoutAnInvite(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	lossy := &openingReplyLostStore{}
	lossy.left.Store(1)
	h.wrapStore = func(s storecache.Backend) storecache.Backend { lossy.Backend = s; return lossy }
	h.start()
	ctx, d := t.Context(), h.services()
	order := domain.NewCall{To: carrierNumber(1, 1, "14"), AgentID: h.createAgent(h.live, keyMenuPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute}
	_, err := d.Calls.PlaceCall(ctx, h.live, order)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	h.waitUntil(10*time.Second, "the stored call is ended", func() bool { return len(countEvents(h.events(h.live.WorkspaceID), event.CallEnded)) == 1 })
	assert.Zero(t, h.openAttempts("single"))
	assert.Empty(t, h.phoneLog.all(), "no number was called")
	list, err := d.Calls.ListCalls(ctx, h.live, calls.Query{PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, list.Data, 1)
	assert.Equal(t, []any{domain.CallFailed, domain.ReasonNotSent}, []any{list.Data[0].Status, list.Data[0].EndedReason})
	now, err := h.node.LinesUsage(ctx, h.live.WorkspaceID, domain.Outbound)
	require.NoError(t, err)
	assert.Zero(t, now.Active)
	c, err := d.Calls.PlaceCall(ctx, h.live, order)
	require.NoError(t, err)
	h.waitUntil(10*time.Second, "the next call is placed", func() bool { return h.getCall(h.live, c.ID).Status == domain.CallBusy })
}

func TestContactsCanBeAddedToARunningCampaign(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	first := make([]string, 8)
	for i := range first {
		first[i] = carrierNumber(1, i, "14")
	}
	first[7] = carrierNumber(1, 7, "11") // this call lasts for a while
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), first...)
	_, err := d.Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	var uploads sync.WaitGroup
	for series := 2; series < 6; series++ {
		uploads.Go(func() {
			more := make([]string, 0, 6)
			for i := range 5 {
				more = append(more, carrierNumber(series, i, "14"))
			}
			more = append(more, first[0]) // a duplicate
			for {
				sum, err := d.Contacts.AddContacts(ctx, h.live, id, contactRows(more...))
				if e, ok := errors.AsType[*domain.Error](err); ok && e.Code == domain.CodeInvalidState && e.Extra == nil {
					runtime.Gosched() // another upload is in progress
					continue
				}
				if assert.NoError(t, err) {
					assert.Equal(t, domain.ContactsSummary{Received: 6, Accepted: 5, Duplicates: 1}, sum.Summary)
				}
				return
			}
		})
	}
	uploads.Wait()
	h.waitUntil(30*time.Second, "the campaign has ended", func() bool {
		c, err := d.Campaigns.Campaign(ctx, h.live, id)
		return assert.NoError(t, err) && c.Status == domain.CampaignCompleted
	})
	st, err := d.Campaigns.CampaignStatus(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, 27, st.Outcomes[domain.OutcomeBusy], st)
	assert.Equal(t, 1, st.Outcomes[domain.OutcomeConfirmed], st)
	rung := make(map[string]int)
	for _, r := range h.phoneLog.all() {
		rung[r.number]++
	}
	assert.Len(t, rung, 28)
	for phone, n := range rung {
		assert.Equal(t, 1, n, phone)
	}
	_, err = d.Contacts.AddContacts(ctx, h.live, id, contactRows(carrierNumber(7, 1, "14")))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
}

func TestInterruptedUploadLeavesNoContacts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	phone := func(i int) string { return fmt.Sprintf("+1202%07d", 5550000+i) }
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phone(0), phone(1), phone(2))
	broken := errors.New("the line went dead")
	for _, rows := range []int{1, 400, 6000} {
		_, err := d.Contacts.AddContacts(ctx, h.live, id, func(yield func(domain.RawContact, error) bool) {
			for i := range rows {
				if !yield(domain.RawContact{Line: i + 1, Phone: phone(10 + i)}, nil) {
					return
				}
			}
			yield(domain.RawContact{}, broken)
		})
		require.ErrorIs(t, err, broken)
		list, err := d.Contacts.ListContacts(ctx, h.live, id, contactsservice.Query{Limit: 100})
		require.NoError(t, err)
		assert.Len(t, list.Data, 3)
	}
	sum, err := d.Contacts.AddContacts(ctx, h.live, id, contactRows(phone(11), phone(1), phone(3)))
	require.NoError(t, err)
	assert.Equal(t, domain.ContactsSummary{Received: 3, Accepted: 2, Duplicates: 1}, sum.Summary)
	st, err := d.Campaigns.CampaignStatus(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, 5, st.Progress.Total)
	list, err := d.Contacts.ListContacts(ctx, h.live, id, contactsservice.Query{Limit: 100})
	require.NoError(t, err)
	phones := make([]string, 0, 5)
	for _, c := range list.Data {
		phones = append(phones, c.Phone)
	}
	assert.Equal(t, []string{phone(0), phone(1), phone(2), phone(11), phone(3)}, phones)
}
