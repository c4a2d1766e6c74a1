package node_test

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
)

// waitForClockTick waits until the clock has advanced by a millisecond, which is the precision of created_at.
func waitForClockTick() {
	for from := time.Now().Truncate(time.Millisecond); !time.Now().Truncate(time.Millisecond).After(from); {
		runtime.Gosched()
	}
}

// datedRow identifies an entry of a list and has its creation time.
type datedRow struct {
	what string
	at   time.Time
}

// checkTimeRange checks that the after and before filters of a list return the right rows. The filter times are the
// times of all rows, and a time before and after all of them.
func checkTimeRange(t *testing.T, read func(record.TimeRange) []datedRow) {
	t.Helper()
	all := read(record.TimeRange{})
	require.NotEmpty(t, all)
	times := []time.Time{all[0].at.Add(-time.Hour), time.Now().Add(time.Hour)}
	for _, row := range all {
		if !slices.ContainsFunc(times, row.at.Equal) {
			times = append(times, row.at)
		}
	}
	assert.Greater(t, len(times), 2)
	for i, at := range times {
		for _, span := range []record.TimeRange{{After: at}, {Before: at}, {After: at, Before: times[(i+1)%len(times)]}} {
			want := slices.DeleteFunc(slices.Clone(all), func(r datedRow) bool { return !span.Contains(r.at) })
			got := read(span)
			assert.Len(t, got, len(want), "%+v", span)
			assert.Equal(t, want, slices.Clip(append([]datedRow{}, got...)), "%+v", span)
		}
	}
}

func TestContactListFiltersByUploadTime(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0), phoneNumber(1))
	for from := 2; from < 1300; from += 433 { // chunks hold 500 rows
		waitForClockTick()
		_, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(from, 433, nil))
		require.NoError(t, err)
	}
	require.NoError(t, d.Contacts.DeleteContact(ctx, h.live, id, domain.ContactID(id, 700)))
	for _, status := range []string{"", "pending", "cancelled"} {
		checkTimeRange(t, func(span record.TimeRange) (out []datedRow) {
			for q := (contactsservice.Query{Limit: 100, Status: status, Created: span}); ; {
				l, err := d.Contacts.ListContacts(ctx, h.live, id, q)
				require.NoError(t, err)
				for _, c := range l.Data {
					out = append(out, datedRow{c.Phone, c.CreatedAt})
				}
				if q.Cursor = l.Next; q.Cursor == "" {
					return out
				}
			}
		})
	}
	c, err := d.Campaigns.Campaign(ctx, h.live, id)
	require.NoError(t, err)
	one, err := d.Contacts.Contact(ctx, h.live, id, domain.ContactID(id, 1))
	require.NoError(t, err)
	assert.Equal(t, c.CreatedAt, one.CreatedAt)
	uploads, err := d.Contacts.ListUploads(ctx, h.live, id, record.PageQuery{Limit: 1})
	require.NoError(t, err)
	one, err = d.Contacts.Contact(ctx, h.live, id, domain.ContactID(id, 1300))
	require.NoError(t, err)
	assert.Equal(t, uploads.Data[0].CreatedAt, one.CreatedAt, "the creation time is that of the upload")
}

func TestListsOfDNCEntriesDecisionsBulkItemsAndEventsFilterByTime(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	l, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "mine"})
	require.NoError(t, err)
	for i := range 3 {
		waitForClockTick()
		_, err = d.DNC.ImportDNC(ctx, h.live, l.ID, func(yield func(domain.RawNumber, error) bool) {
			for n := range 150 {
				if !yield(domain.RawNumber{Line: n + 1, Phone: phoneNumber(1000*i + n)}, nil) {
					return
				}
			}
		})
		require.NoError(t, err)
	}
	checkTimeRange(t, func(span record.TimeRange) (out []datedRow) {
		for q := (record.PageQuery{Limit: 100, CreatedAfter: span.After, CreatedBefore: span.Before}); ; {
			l, err := d.DNC.ListDNCEntries(ctx, h.live, l.ID, q)
			require.NoError(t, err)
			for _, e := range l.Data {
				out = append(out, datedRow{e.Phone, e.CreatedAt})
			}
			if q.Cursor = l.Next; q.Cursor == "" {
				return out
			}
		}
	})

	phones := make([]string, 6)
	for i := range phones {
		phones[i] = carrierNumber(1, i, "11")
	}
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phones...)
	h.runCampaign(id)
	for _, phone := range []string{"", phones[3]} {
		checkTimeRange(t, func(span record.TimeRange) (out []datedRow) {
			for q := (record.PageQuery{Limit: 4, CreatedAfter: span.After, CreatedBefore: span.Before}); ; {
				l, err := d.Decisions.ListDecisions(ctx, h.live, id, phone, q)
				require.NoError(t, err)
				for _, one := range l.Data {
					out = append(out, datedRow{one.Phone + strconv.Itoa(one.Attempt), one.At})
				}
				if q.Cursor = l.Next; q.Cursor == "" {
					return out
				}
			}
		})
	}

	calls, err := d.Calls.ListCalls(ctx, h.live, calls.Query{CampaignID: id, PageQuery: record.PageQuery{Limit: 1}})
	require.NoError(t, err)
	h.waitUntil(10*time.Second, "the call is final", func() bool {
		l, err := d.Events.CallEvents(ctx, h.live, calls.Data[0].ID, events.Query{Limit: 100})
		require.NoError(t, err)
		var types []event.Type
		for i := range l.Data {
			types = append(types, l.Data[i].Type)
		}
		return slices.Contains(types, event.CallTranscriptReady) && slices.Contains(types, event.CallRecordingReady)
	})
	for what, read := range map[string]func(events.Query) (record.Page[event.Event], error){
		"of a call": func(q events.Query) (record.Page[event.Event], error) {
			return d.Events.CallEvents(ctx, h.live, calls.Data[0].ID, q)
		},
		"all": func(q events.Query) (record.Page[event.Event], error) { return d.Events.ListEvents(ctx, h.live, q) },
	} {
		t.Log(what)
		checkTimeRange(t, func(span record.TimeRange) (out []datedRow) {
			for q := (events.Query{Limit: 3, Created: span}); ; {
				l, err := read(q)
				require.NoError(t, err)
				for _, e := range l.Data {
					out = append(out, datedRow{e.ID, e.CreatedAt})
				}
				if q.After = l.Next; q.After == "" {
					return out
				}
			}
		})
	}

	b, err := d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkDNC, Items: []bulk.NewItem{{Number: &domain.RawNumber{Phone: phoneNumber(1)}}, {Number: &domain.RawNumber{Phone: phoneNumber(2)}}}})
	require.NoError(t, err)
	checkTimeRange(t, func(span record.TimeRange) (out []datedRow) {
		l, err := d.Bulk.BulkItems(ctx, h.live, b.ID, bulk.ItemQuery{Limit: 10, Created: span})
		require.NoError(t, err)
		for _, i := range l.Data {
			out = append(out, datedRow{strconv.Itoa(i.Index), i.CreatedAt})
		}
		return out
	})
}
