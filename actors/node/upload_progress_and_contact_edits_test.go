package node_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
)

func phoneNumber(i int) string { return fmt.Sprintf("+1202%07d", 5550000+i) }

// contactRowsFrom returns n contacts, the first of which has the number phoneNumber(from). look is called before each
// contact. Its error ends the sequence.
func contactRowsFrom(from, n int, look func(i int) error) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		for i := range n {
			if look != nil {
				if err := look(i); err != nil {
					yield(domain.RawContact{}, err)
					return
				}
			}
			if !yield(domain.RawContact{Line: i + 1, Phone: phoneNumber(from + i), Context: domain.Context{"name": fmt.Sprint("N", from+i)}}, nil) {
				return
			}
		}
	}
}

// contactChunkCount counts the stored chunks of a campaign's contacts.
func (h *fixture) contactChunkCount(id string) int {
	h.Helper()
	n := 0
	err := h.store.Under(h.Context(), domain.Key{Kind: "chunk", Workspace: h.live.WorkspaceID, ID: id + "/"}, "", 10_000,
		func() domain.Record { return &domain.ContactNumbers{} }, func(domain.Record) error { n++; return nil })
	require.NoError(h, err)
	return n
}

func TestUploadReportsItsProgress(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	first, err := d.Contacts.ListUploads(ctx, h.live, id, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, first.Data, 1, "the contacts created with the campaign are an upload")
	assert.Equal(t, []any{domain.UploadCompleted, 1}, []any{first.Data[0].Status, first.Data[0].Summary.Accepted})
	checked := 0
	sum, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(0, 3000, func(i int) error {
		if i%1000 != 500 {
			return nil
		}
		checked++
		list, err := d.Contacts.ListUploads(ctx, h.live, id, record.PageQuery{Limit: 1})
		require.NoError(t, err)
		u, err := d.Contacts.Upload(ctx, h.live, id, list.Data[0].ID)
		require.NoError(t, err)
		assert.Equal(t, []any{domain.UploadReceiving, domain.ContactsSummary{Received: i, Accepted: i - 1, Duplicates: 1}}, []any{u.Status, u.Summary})
		assert.Len(t, u.Errors, 1)
		assert.Nil(t, u.CompletedAt)
		_, err = d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(9000, 1, nil))
		assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), "a second upload is refused")
		contacts, err := d.Contacts.ListContacts(ctx, h.live, id, contactsservice.Query{Limit: 100})
		require.NoError(t, err)
		assert.Len(t, contacts.Data, 1, "contacts of a running upload do not count")
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, 3, checked)
	u, err := d.Contacts.Upload(ctx, h.live, id, sum.UploadID)
	require.NoError(t, err)
	assert.Equal(t, []any{domain.UploadCompleted, sum.Summary, []string{"name"}}, []any{u.Status, u.Summary, u.Fields})
	assert.NotNil(t, u.CompletedAt)
	_, err = d.Contacts.Upload(ctx, h.test, id, sum.UploadID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	other := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	_, err = d.Contacts.Upload(ctx, h.live, other, sum.UploadID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestInterruptedUploadFreesItsStorage(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0), phoneNumber(1))
	broken := errors.New("the line went dead")
	held := 0
	_, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(10, 20_000, func(i int) error {
		if i == 15_000 {
			held = h.contactChunkCount(id)
			return broken
		}
		return nil
	}))
	require.ErrorIs(t, err, broken)
	assert.Greater(t, held, 10, "the upload was written in advance")
	assert.Equal(t, 1, h.contactChunkCount(id))
	list, err := d.Contacts.ListUploads(ctx, h.live, id, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []any{domain.UploadFailed, "internal_error", 15_000}, []any{list.Data[0].Status, list.Data[0].Reason, list.Data[0].Summary.Received})

	// The service stops during an upload.
	dead := make(chan struct{})
	ended := make(chan error, 1)
	reached := make(chan struct{})
	go func() {
		_, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(10, 20_000, func(i int) error {
			if i == 15_000 {
				close(reached)
				<-dead
				return broken
			}
			return nil
		}))
		ended <- err
	}()
	<-reached
	assert.Greater(t, h.contactChunkCount(id), 10)
	h.shutdown() // the interrupted upload cannot store its result
	close(dead)
	require.Error(t, <-ended)
	h.start()
	d = h.services()
	assert.Equal(t, 1, h.contactChunkCount(id), "the next start removes the upload")
	list, err = d.Contacts.ListUploads(ctx, h.live, id, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []any{domain.UploadFailed, domain.UploadInterrupted}, []any{list.Data[0].Status, list.Data[0].Reason})
	contacts, err := d.Contacts.ListContacts(ctx, h.live, id, contactsservice.Query{Limit: 100})
	require.NoError(t, err)
	assert.Len(t, contacts.Data, 2)
	sum, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(0, 4, nil))
	require.NoError(t, err)
	assert.Equal(t, domain.ContactsSummary{Received: 4, Accepted: 2, Duplicates: 2}, sum.Summary)
}

func TestContactsAreListedAndExportedByStatus(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	_, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(1, 1500, nil))
	require.NoError(t, err)
	contact := func(i int) string { return domain.ContactID(id, i) }
	out := []int{0, 3, 255, 256, 499, 500, 777, 1500}
	for _, i := range out {
		require.NoError(t, d.Contacts.DeleteContact(ctx, h.live, id, contact(i)))
	}
	walk := func(status string, limit int) (phones []string) {
		for q := (contactsservice.Query{Limit: limit, Status: status}); ; {
			l, err := d.Contacts.ListContacts(ctx, h.live, id, q)
			require.NoError(t, err)
			for _, c := range l.Data {
				phones = append(phones, c.Phone)
			}
			if q.Cursor = l.Next; q.Cursor == "" {
				return phones
			}
			require.Len(t, l.Data, limit)
		}
	}
	var deleted, left []string
	for i := range 1501 {
		deleted, left = append(deleted, phoneNumber(i)), append(left, phoneNumber(i))
	}
	n := 0
	for i := range 1501 {
		if n < len(out) && out[n] == i {
			deleted[n] = phoneNumber(i)
			n++
		} else {
			left[i-n] = phoneNumber(i)
		}
	}
	deleted, left = deleted[:n], left[:1501-n]
	assert.Equal(t, deleted, walk("cancelled", 3))
	assert.Equal(t, left, walk("pending", 100))
	assert.Empty(t, walk("busy", 5))
	for status, want := range map[string][]string{"cancelled": deleted, "pending": left, "busy": nil} {
		export, err := d.Contacts.ExportContacts(ctx, h.live, id, status)
		require.NoError(t, err)
		assert.Equal(t, []string{"name"}, export.Fields)
		var got []string
		for c, err := range export.Rows {
			require.NoError(t, err)
			assert.Equal(t, status, c.Status)
			got = append(got, c.Phone)
		}
		assert.Equal(t, want, got)
	}
	st, err := d.Campaigns.CancelCampaign(ctx, h.live, id, false)
	require.NoError(t, err)
	assert.Equal(t, 1501, st.Outcomes[domain.OutcomeCancelled])
	assert.Len(t, walk("cancelled", 100), 1501, "those that were left behind too")
	assert.Empty(t, walk("pending", 100))
}

// contactChange is a change of a contact. The keys of context replace those of the contact. The value nil removes a
// key.
type contactChange struct {
	phone, timezone string
	context         domain.Context
}

func (n contactChange) apply(c *domain.Contact) error {
	c.Phone, c.Timezone = cmp.Or(n.phone, c.Phone), cmp.Or(n.timezone, c.Timezone)
	merged := domain.Context{}
	maps.Copy(merged, c.Context)
	for name, v := range n.context {
		if merged[name] = v; v == nil {
			delete(merged, name)
		}
	}
	c.Context = merged
	return nil
}

func TestContactCanBeChangedWhileItIsPending(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0), phoneNumber(1), phoneNumber(2))
	contact := func(i int) string { return domain.ContactID(id, i) }
	_, err := d.Contacts.AddContacts(ctx, h.live, id, contactRowsFrom(3, 600, nil))
	require.NoError(t, err)
	c, err := d.Contacts.UpdateContact(ctx, h.live, id, contact(550), contactChange{
		phone: "(202) 555-9999", context: domain.Context{"city": "Bonn", "name": nil}, timezone: "Europe/Berlin",
	}.apply)
	require.NoError(t, err)
	assert.Equal(t, []any{"+12025559999", domain.Context{"city": "Bonn"}, "Europe/Berlin", "pending"}, []any{c.Phone, c.Context, c.Timezone, c.Status})
	for what, change := range map[string]contactChange{
		"number of another contact": {phone: phoneNumber(2)}, "number of a changed contact": {phone: "+12025559999"},
		"invalid number": {phone: "12"}, "invalid time zone": {timezone: "Mars/Olympus"},
	} {
		_, err = d.Contacts.UpdateContact(ctx, h.live, id, contact(1), change.apply)
		assert.Contains(t, []domain.Code{domain.CodeAlreadyExists, domain.CodeValidation}, domain.CodeOf(err), what)
	}
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, contact(1), contactChange{phone: phoneNumber(550)}.apply)
	require.NoError(t, err, "the number is free since")
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, contact(603), contactChange{}.apply)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	sum, err := d.Contacts.AddContacts(ctx, h.live, id, func(yield func(domain.RawContact, error) bool) {
		for i, phone := range []string{"+12025559999", phoneNumber(550), phoneNumber(1), phoneNumber(2)} {
			if !yield(domain.RawContact{Line: i + 1, Phone: phone}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	assert.Equal(t, domain.ContactsSummary{Received: 4, Accepted: 1, Duplicates: 3}, sum.Summary, "duplicates of the changed contacts")
	h.shutdown()
	h.start()
	d = h.services()
	c, err = d.Contacts.Contact(ctx, h.live, id, contact(550))
	require.NoError(t, err)
	assert.Equal(t, []any{"+12025559999", domain.Context{"city": "Bonn"}}, []any{c.Phone, c.Context})
	export, err := d.Contacts.ExportContacts(ctx, h.live, id, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"city", "name"}, export.Fields)
	retryUntilAvailable(h, func(ctx context.Context) (domain.CampaignStatusObject, error) {
		return d.Campaigns.CancelCampaign(ctx, h.live, id, false)
	})
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, contact(2), contactChange{}.apply)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(d.Contacts.DeleteContact(ctx, h.live, id, contact(2))))
}

func TestConcurrentContactChangesAreAllKept(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			_, err := d.Contacts.UpdateContact(ctx, h.live, id, domain.ContactID(id, 0), contactChange{context: domain.Context{fmt.Sprint("n", i): "x"}}.apply)
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	c, err := d.Contacts.Contact(ctx, h.live, id, domain.ContactID(id, 0))
	require.NoError(t, err)
	assert.Len(t, c.Context, 16)
	big := strings.Repeat("x", 40<<10)
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, c.ID, contactChange{context: domain.Context{"a": big}}.apply)
	require.NoError(t, err)
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, c.ID, contactChange{context: domain.Context{"b": big}}.apply)
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err))
	require.ErrorContains(t, err, "64 kB")
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, c.ID, contactChange{context: domain.Context{"a": nil, "b": big}}.apply)
	require.NoError(t, err)
}

func TestUploadReportsNumbersDamagedBySpreadsheets(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()))
	bad := []string{"1.20256E+10", "1,20256E+10", "'+12025550123", `="+12025550123"`, "12025", "E", "+1 (202) 555-0123"}
	sum, err := h.services().Contacts.AddContacts(t.Context(), h.live, id, contactRows(bad...))
	require.NoError(t, err)
	var reported []string
	for _, e := range sum.Errors {
		assert.EqualValues(t, "invalid_phone", e.Code)
		reported = append(reported, fmt.Sprintf("%d %s", e.Line, e.Message[:24]))
	}
	assert.Equal(t, []string{
		"1 phone is in scientific n", "2 phone is in scientific n", "3 phone is led by an apost", "4 phone is a formula of a ",
		"5 phone is an emergency nu", "6 phone is not a full tele",
	}, reported)
	assert.Equal(t, 1, sum.Summary.Accepted)
}

func TestUploadYieldsCPUTimeToLiveCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := false
		way := record.YieldToCalls(ctx, func() bool { return calls })
		for _, times := range []int{1, 5, 1} {
			calls = times > 1
			worked, began := time.Duration(0), time.Now()
			for i := range 50 {
				work := time.Duration(i%7+1) * time.Millisecond
				time.Sleep(work)
				worked += work
				require.NoError(t, way())
			}
			assert.Equal(t, time.Duration(times)*worked, time.Since(began), "beside calls a fifth of the time at most")
		}
		calls = true
		cancel()
		require.ErrorIs(t, way(), context.Canceled)
	})
}

func TestUploadOfInvalidRowsYieldsCPUTimeToLiveCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()))
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	_, err := h.services().Contacts.AddContacts(ctx, h.live, id, func(yield func(domain.RawContact, error) bool) {
		for read < 10_000 && yield(domain.RawContact{Phone: "12025"}, nil) {
			if read++; read == 50 {
				cancel()
			}
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, read, 200, "the upload checks for live calls within a hundred rows")
}
