package node_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
	"github.com/callboard/callboard/service/webhooks"
)

// storeFaults are the errors that faultyStore injects. They stay active when the fixture restarts.
type storeFaults struct {
	mu         sync.Mutex
	applies    func(c commit.Change, do func() error) error
	fails      func(domain.Key) error // returns the error of reads and lists
	eventReads atomic.Int64           // number of events read
}

// faultyStore is a store whose reads and commits return the errors of storeFaults.
type faultyStore struct {
	storecache.Backend
	*storeFaults
}

// buildWithStoreFaults builds a fixture whose store can fail.
func buildWithStoreFaults(t *testing.T) (*fixture, *storeFaults) {
	t.Helper()
	h, m := newFixture(t, nil), &storeFaults{}
	h.shutdown()
	h.wrapStore = func(s storecache.Backend) storecache.Backend { return &faultyStore{s, m} }
	h.start()
	return h, m
}

func (m *storeFaults) inject(applies func(c commit.Change, do func() error) error, fails func(domain.Key) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applies, m.fails = applies, fails
}

func (m *storeFaults) current() (func(commit.Change, func() error) error, func(domain.Key) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.applies, m.fails
}

func (m *faultyStore) Apply(ctx context.Context, c commit.Change) (events []event.Event, err error) {
	applies, _ := m.current()
	do := func() error {
		events, err = m.Backend.Apply(ctx, c)
		return err
	}
	if applies == nil {
		return events, do()
	}
	err = applies(c, do)
	return events, err
}

func (m *faultyStore) Get(ctx context.Context, r domain.Record) (uint64, error) {
	if _, fails := m.current(); fails != nil {
		if err := fails(r.Key()); err != nil {
			return 0, err
		}
	}
	return m.Backend.Get(ctx, r)
}

func (m *faultyStore) List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error) {
	if _, fails := m.current(); fails != nil {
		if err := fails(domain.Key{Kind: q.Kind, Workspace: q.Workspace}); err != nil {
			return "", err
		}
	}
	return m.Backend.List(ctx, q, fresh, each)
}

func (m *faultyStore) Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error) {
	batch, err := m.Backend.Events(ctx, workspace, after, limit)
	m.eventReads.Add(int64(len(batch)))
	return batch, err
}

func hasPut(c commit.Change, kind string) bool {
	return slices.ContainsFunc(c.Puts, func(r domain.Record) bool { return r.Key().Kind == kind })
}

// loseReplyOnce performs all commits. For the first one that stores a row of the given kind it returns an error, as if
// the reply was lost.
func loseReplyOnce(kind string) func(commit.Change, func() error) error {
	var done atomic.Bool
	return func(c commit.Change, do func() error) error {
		err := do()
		if err == nil && hasPut(c, kind) && done.CompareAndSwap(false, true) {
			return errUnknownOutcome
		}
		return err
	}
}

func TestIdempotencyKeySurvivesALostCommitReply(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	key := record.IdempotencyKey{Key: "k", Method: "POST", Path: "/v1/sms"}
	text := domain.NewMessage{To: carrierNumber(6, 1, "11"), Body: "Hello."}

	m.inject(loseReplyOnce("once"), nil)
	_, _, err := d.Idempotency.Reserve(ctx, h.test, key, "d")
	require.Error(t, err, "the key is used, but the reply is lost")
	m.inject(loseReplyOnce("message"), nil)
	turn, reply, err := d.Idempotency.Reserve(ctx, h.test, key, "d")
	require.NoError(t, err, "whose turn has not begun does not run")
	require.Nil(t, reply)
	_, _, err = d.Idempotency.Reserve(ctx, h.test, key, "d")
	assert.Equal(t, domain.CodeIdempotencyConflict, domain.CodeOf(err))
	_, err = d.SMS.SendMessage(turn, h.test, text)
	require.Error(t, err)
	require.NoError(t, d.Idempotency.Release(ctx, h.test, key, true))
	_, _, err = d.Idempotency.Reserve(ctx, h.test, key, "other")
	assert.Equal(t, domain.CodeIdempotencyMismatch, domain.CodeOf(err))

	turn, _, err = d.Idempotency.Reserve(ctx, h.test, key, "d")
	require.NoError(t, err)
	first, err := d.SMS.SendMessage(turn, h.test, text)
	require.NoError(t, err)
	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "once") {
			return errUnknownOutcome
		}
		return do()
	}, nil)
	require.Error(t, d.Idempotency.StoreReply(turn, h.test, key, record.StoredReply{Digest: "d"}))
	m.inject(nil, nil)
	turn, _, err = d.Idempotency.Reserve(ctx, h.test, key, "d")
	require.NoError(t, err, "the reply was not stored, so the request runs again")
	require.NoError(t, d.Idempotency.Release(turn, h.test, key, false), "which had no effect this time")
	turn, _, err = d.Idempotency.Reserve(ctx, h.test, key, "d")
	require.NoError(t, err)
	again, err := d.SMS.SendMessage(turn, h.test, text)
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID)
	all, err := d.SMS.ListMessages(ctx, h.test, sms.MessageQuery{PageQuery: record.PageQuery{Limit: 10}, Direction: domain.Outbound})
	require.NoError(t, err)
	assert.Len(t, all.Data, 1, "the message was sent once")
}

func TestWorkspaceDeletionCompletesDespiteLostCommitReplies(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	p, busy := h.createWorkspace("acme"), h.createWorkspace("busy")
	act := record.AuditAction{Type: "auth", Action: "auth.denied", Failed: true}
	begun, keyHeld, otherHeld := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var fenced atomic.Int32
	held := func(c commit.Change, do func() error) error {
		switch {
		case c.Workspace == busy.WorkspaceID && hasPut(c, "dnc_list"):
			begun <- struct{}{}
			<-otherHeld
		case c.Workspace == p.WorkspaceID && hasPut(c, "api_key"):
			begun <- struct{}{}
			<-keyHeld
		case c.Workspace == busy.WorkspaceID && hasPut(c, "audit"):
			fenced.Add(1)
			return domain.ErrFenced
		}
		return do()
	}
	m.inject(loseReplyOnce("gone_workspace"), nil)
	require.Error(t, d.Workspaces.DeleteWorkspace(ctx, h.live, p.WorkspaceID))
	m.inject(held, nil)
	d.Audit.RecordSoon(ctx, busy, act)
	h.waitUntil(longWait, "an entry is refused for good", func() bool { return fenced.Load() == 1 })
	var wait, others sync.WaitGroup
	others.Go(func() { _, _ = d.DNC.CreateDNCList(ctx, busy, &domain.DNCList{Name: "l"}) })
	<-begun
	text := ""
	wait.Go(func() {
		_, text, _ = d.Keys.CreateKey(ctx, p, record.AuditAction{}, &domain.APIKey{Name: "k", Permissions: []domain.Permission{domain.AllRead}})
	})
	<-begun
	wait.Go(func() {
		assert.NoError(t, d.Workspaces.DeleteWorkspace(ctx, h.live, p.WorkspaceID), "a repeated deletion succeeds")
	})
	h.waitUntil(longWait, "the workspace is unknown", func() bool {
		_, err := d.Workspaces.AnyWorkspace(ctx, p.WorkspaceID)
		return domain.CodeOf(err) == domain.CodeNotFound
	})
	close(keyHeld)
	wait.Wait()
	require.NotEmpty(t, text)
	assert.Equal(t, domain.CodeInvalidAPIKey, domain.CodeOf(errorOf(d.Keys.Authenticate(ctx, text, here))), "a key created during the deletion is invalid")
	h.waitUntil(longWait, "nothing remains, although a commit of another workspace hangs", func() bool { return len(h.findTraces(p.WorkspaceID)) == 0 })
	_, _, err := d.Keys.CreateKey(ctx, p, record.AuditAction{}, &domain.APIKey{Name: "k", Permissions: []domain.Permission{domain.AllRead}})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	close(otherHeld)
	others.Wait()
	d.Audit.RecordSoon(ctx, p, act)
	h.shutdown()
	assert.Equal(t, int32(1), fenced.Load(), "a fenced audit row is not retried")
	assert.NotContains(t, h.log.String(), "audit entries wait")
	h.start()
	assert.Empty(t, h.findTraces(p.WorkspaceID), "no audit row of its tokens is stored")
}

func TestWorkspaceActorsThatFailedToStartStartLater(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	var once atomic.Bool
	m.inject(nil, func(k domain.Key) error {
		if k.Kind == "webhook" && k.Workspace != h.live.WorkspaceID && once.CompareAndSwap(false, true) {
			return errUnknownOutcome
		}
		return nil
	})
	_, _, _, err := h.services().Workspaces.CreateWorkspace(t.Context(), &domain.Workspace{Name: "acme", Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US"})
	require.Error(t, err)
	l, err := h.services().Workspaces.ListWorkspaces(t.Context(), record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, l.Data, 2)
	for _, w := range l.Data {
		h.waitUntil(longWait, "the actors of the workspace run", func() bool { return errorOf(h.services().Workspaces.AnyWorkspace(t.Context(), w.ID)) == nil })
	}
}

func TestBulkJobDeletesItsItemDataAfterTheEnd(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	var reported atomic.Int32
	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "bulk_errors") {
			reported.Add(1)
		}
		return do()
	}, nil)
	order := bulk.NewJob{Type: domain.BulkSMS}
	for i := range 8 {
		order.Items = append(order.Items, bulk.NewItem{Message: &domain.NewMessage{To: carrierNumber(6, i, "11"), Body: "Hello {{name}}.", Context: domain.Context{"name": "Ada"}}})
	}
	order.Items[2].Message.Context, order.Items[5].Message.To = nil, "911"
	b, err := d.Bulk.StartBulk(ctx, h.test, order)
	require.NoError(t, err)
	require.Len(t, b.Errors, 1)
	h.waitUntil(longWait, "the job has ended", func() bool { return h.bulkJob(h.test, b.ID).Final() })
	now := h.bulkJob(h.test, b.ID)
	assert.Equal(t, []int{6, 1, 1}, []int{now.Done, now.Failed, now.Rejected})
	require.Len(t, now.Errors, 2)
	assert.Equal(t, []int{5, 2}, []int{now.Errors[0].Index, now.Errors[1].Index})
	assert.Equal(t, int32(2), reported.Load(), "errors are written only for a new error")
	l, err := d.Bulk.ListBulks(ctx, h.test, record.PageQuery{Limit: 5})
	require.NoError(t, err)
	assert.Len(t, l.Data[0].Errors, 2)
	chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID}
	_, err = h.store.Get(ctx, chunk)
	require.NoError(t, err)
	for i, e := range chunk.Entries {
		assert.Empty(t, e.Order)
		assert.Equal(t, i == 5, e.Error != nil)
	}
	assert.Len(t, h.bulkItemsByStatus(h.test, b.ID)[domain.ItemDone], 6)

	c := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phoneNumber(0))
	people, err := d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkContacts, Target: c, Items: []bulk.NewItem{{Contact: &domain.RawContact{Phone: phoneNumber(1)}}}})
	require.NoError(t, err)
	h.waitUntil(longWait, "the contacts are added", func() bool { return h.bulkJob(h.live, people.ID).Done == 1 })
	x, err := d.Exports.CreateExport(ctx, h.live, &domain.Export{Type: domain.ExportContacts, Format: "csv", Filters: domain.ExportFilters{CampaignID: c}})
	require.NoError(t, err)
	_, _ = h.waitForExport(h.live, x)
	require.NoError(t, d.Campaigns.DeleteCampaign(ctx, h.live, c))
	h.waitUntil(longWait, "no row names the campaign's contacts", func() bool { return len(h.findTraces(people.ID))+len(h.findTraces(x.ID)) == 0 })
}

func TestBulkJobIsRetriedAfterItsItemsCannotBeRead(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	l, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "l"})
	require.NoError(t, err)
	var deleted, unread atomic.Bool
	m.inject(func(c commit.Change, do func() error) error {
		if hasPut(c, "bulk_chunk") {
			deleted.Store(true) // directly after the job starts
		}
		return do()
	}, func(k domain.Key) error {
		switch {
		case k.Kind == "dnc_list" && deleted.Load():
			return domain.ErrNotFound
		case k.Kind == "bulk_chunk" && unread.CompareAndSwap(false, true):
			return errUnknownOutcome
		}
		return nil
	})
	order := bulk.NewJob{Type: domain.BulkDNC, Target: l.ID}
	for i := range 3 {
		order.Items = append(order.Items, bulk.NewItem{Number: &domain.RawNumber{Phone: phoneNumber(i)}})
	}
	b, err := d.Bulk.StartBulk(ctx, h.live, order)
	require.NoError(t, err)
	h.waitUntil(longWait, "the job has ended", func() bool { return h.bulkJob(h.live, b.ID).Final() })
	now := h.bulkJob(h.live, b.ID)
	assert.Equal(t, []any{domain.BulkCompleted, 3, 0, 3}, []any{now.Status, now.Failed, now.Pending, len(now.Errors)})
}

func TestCancelledBulkDNCImportAddsNoFurtherNumbers(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	begun, held, listed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	m.inject(func(c commit.Change, do func() error) error {
		numbers := slices.ContainsFunc(c.Puts, func(r domain.Record) bool { return strings.HasPrefix(r.Key().Kind, "dnc_") })
		if !numbers || !first.CompareAndSwap(false, true) {
			return do()
		}
		close(begun)
		<-held
		defer close(listed)
		return do()
	}, nil)
	b, err := d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkDNC, Items: []bulk.NewItem{{Number: &domain.RawNumber{Phone: phoneNumber(0)}}}})
	require.NoError(t, err)
	<-begun
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		_, failed := d.Bulk.CancelBulk(ctx, h.live, b.ID)
		assert.NoError(t, failed)
	}()
	select {
	case <-cancelled:
	case <-time.After(100 * time.Millisecond): // the import waits for the lock
	}
	close(held)
	<-cancelled
	select {
	case <-listed:
	default:
		t.Error("a number was put onto the list after the answer")
		<-listed
	}
	assert.Equal(t, domain.BulkCancelled, h.bulkJob(h.live, b.ID).Status)
}

func TestMessageTextIsEncryptedAndAStuckMessageBlocksNoOther(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	var named atomic.Bool
	m.inject(nil, func(k domain.Key) error {
		if k.Kind == "sms_stop" && strings.Contains(k.ID, "5550111") {
			named.Store(true)
		}
		return nil
	})
	odd := &domain.Message{Meta: domain.Meta{ID: "msg_" + ulid.Make().String(), WorkspaceID: h.test.WorkspaceID, Environment: domain.Test}, Todo: "nonsense"}
	h.putRow(odd)
	sent, err := d.SMS.SendMessage(ctx, h.test, domain.NewMessage{To: carrierNumber(6, 1, "11"), Body: "Hello {{name}}.", Context: domain.Context{"name": "Zebulon"}})
	require.NoError(t, err)
	h.waitUntil(longWait, "the message is delivered although the previous one is stuck", func() bool {
		got, err := d.SMS.Message(ctx, h.test, sent.ID)
		return err == nil && got.Status == domain.MessageDelivered
	})
	got, err := d.SMS.Message(ctx, h.test, sent.ID)
	require.NoError(t, err)
	assert.Equal(t, domain.Context{"name": "Zebulon"}, got.Context)
	assert.Empty(t, h.findTraces("Zebulon"))
	h.waitUntil(longWait, "the log names the stuck message", func() bool { return strings.Contains(h.log.String(), "unknown pending step") })
	_, err = d.SMS.TestInboundMessage(ctx, h.test, sms.InboundMessage{From: "+12025550111", To: carrierNumber(6, 1, "00"), Body: "STOP"})
	require.NoError(t, err)
	assert.False(t, named.Load(), "no error of the store can name the number")
}

func TestInterruptedKnowledgeImportLeavesNoPassages(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	k, err := d.Knowledge.CreateKnowledge(ctx, h.live, &domain.KnowledgeBase{Name: "k"}, nil)
	require.NoError(t, err)
	m.inject(func(c commit.Change, do func() error) error {
		for _, r := range c.Puts {
			if s, ok := r.(*domain.KnowledgeSource); ok && s.Status == domain.KnowledgeProcessing {
				h.putRow(&domain.KnowledgePassage{WorkspaceID: s.WorkspaceID, KnowledgeBaseID: k.ID, SourceID: s.ID, Number: 9, Text: "An obsolete tariff."})
			}
		}
		return do()
	}, nil)
	s, err := d.Knowledge.AddSource(ctx, h.live, k.ID, domain.NewKnowledgeSource{Type: domain.SourceText, Name: "s", ContentType: "text/plain", Text: "The tariff of today."})
	require.NoError(t, err)
	h.waitUntil(longWait, "the source is read", func() bool {
		now, err := d.Knowledge.Source(ctx, h.live, k.ID, s.ID)
		return err == nil && now.Status == domain.KnowledgeReady
	})
	found, err := d.Knowledge.SearchKnowledge(ctx, h.live, k.ID, "tariff", 10)
	require.NoError(t, err)
	require.Len(t, found.Data, 1)
	assert.Equal(t, "The tariff of today.", found.Data[0].Text)
}

func TestBookingRowOfADayIsDeletedWithItsLastAppointment(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx := h.services(), t.Context()
	x := h.createProvider(h.live, "Room 2")
	days := func() (names []string) {
		prefix := domain.Key{Kind: "booking", Workspace: h.live.WorkspaceID, ID: x.ID + "/"}
		require.NoError(t, h.store.Under(ctx, prefix, "", 100, func() domain.Record { return &domain.BookingDay{} }, func(r domain.Record) error {
			names = append(names, r.Sort())
			return nil
		}))
		return names
	}
	a, err := d.Appointments.Book(ctx, h.live, appointmentOrder(x.ID, noonInDays(2), 30))
	require.NoError(t, err)
	before := days()
	require.Len(t, before, 1)
	_, err = d.Appointments.RescheduleAppointment(ctx, h.live, a.ID, booking.Reschedule{Datetime: noonInDays(2).Add(time.Hour).Format(time.RFC3339)})
	require.NoError(t, err)
	assert.Equal(t, before, days(), "the day still has a booking")
	_, err = d.Appointments.RescheduleAppointment(ctx, h.live, a.ID, booking.Reschedule{Datetime: noonInDays(3).Format(time.RFC3339)})
	require.NoError(t, err)
	assert.Equal(t, []string{noonInDays(3).Format(time.DateOnly)}, days())
	got, err := d.Appointments.CancelAppointment(ctx, h.live, a.ID, "")
	require.NoError(t, err)
	assert.Empty(t, days())
	assert.Equal(t, 3, got.Sequence, "each change is a newer calendar file")
}

func TestReplayOfUnknownEventIDsReadsTheLogOnce(t *testing.T) {
	t.Parallel()
	h, m := buildWithStoreFaults(t)
	d, ctx := h.services(), t.Context()
	p := h.createWorkspace("acme")
	began := time.Now().Add(-48 * time.Hour)
	var ids []string
	emit := func(from time.Time, n int) {
		c := commit.Change{Workspace: p.WorkspaceID}
		for i := range n {
			at := from.Add(time.Duration(i) * time.Second).UTC()
			id := "evt_" + ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String()
			ids = append(ids, id)
			c.Events = append(c.Events, event.Draft{ID: id, Type: event.WorkspaceUpdated, CreatedAt: at, WorkspaceID: p.WorkspaceID, Environment: p.Environment, Subject: p.WorkspaceID, Data: map[string]string{}})
		}
		_, err := h.store.Apply(ctx, c)
		require.NoError(t, err)
	}
	find := func() {
		t.Helper()
		for i := 0; i < len(ids); i += 97 {
			e, err := d.Events.Event(ctx, p, ids[i])
			require.NoError(t, err, i)
			assert.Equal(t, ids[i], e.ID)
		}
	}
	emit(began, 2000)
	unknown := make([]string, 100)
	for i := range unknown {
		unknown[i] = "evt_" + ulid.MustNew(ulid.Timestamp(began.Add(time.Duration(i)*time.Minute-20*time.Hour)), ulid.DefaultEntropy()).String()
	}
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"call.ended"}})
	require.NoError(t, err)
	before := m.eventReads.Load()
	got, err := d.Webhooks.ReplayWebhook(ctx, p, w.ID, webhooks.ReplayOrder{EventIDs: unknown})
	require.NoError(t, err)
	assert.Len(t, got.NotFound, 100)
	assert.Less(t, m.eventReads.Load()-before, int64(100*700+3000), "the end of the log is walked once")
	find()
	emit(began.Add(-5*time.Hour), 600) // the clock was set back
	emit(began.Add(10*time.Minute), 600)
	find()
	find()
}
