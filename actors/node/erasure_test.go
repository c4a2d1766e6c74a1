package node_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/personal"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/bulk"
	contactsservice "github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
)

// rowsWithNumber returns the keys of the rows that contain a phone number in any format, in plain text or encrypted.
func (h *fixture) rowsWithNumber(ws, e164 string) (found []string) {
	h.Helper()
	ctx := h.Context()
	n, err := personal.NewNumber(e164)
	require.NoError(h, err)
	unpack, err := zstd.NewReader(nil)
	require.NoError(h, err)
	defer unpack.Close()
	tables, err := h.driver.Tables(ctx, "/"+ws)
	require.NoError(h, err)
	require.NotEmpty(h, tables)
	for _, table := range tables {
		if strings.HasPrefix(table, "_") { // internal tables of the store with keys
			continue
		}
		for after, more := "", true; more; {
			page, err := h.driver.Scan(ctx, persistence.Range{Table: table, After: after, Limit: 500})
			require.NoError(h, err)
			more = page.More
			for _, row := range page.Rows {
				after = row.Position
				body := row.Value[1:]
				if row.Value[0]&0x80 != 0 {
					body, err = unpack.DecodeAll(body, nil)
					require.NoError(h, err)
				}
				if n.IsIn(string(body)) || n.IsIn(row.ID) {
					found = append(found, table+" "+row.ID)
				}
			}
		}
	}
	for _, r := range node.PersonalRows(ctx, h.store, ws) {
		if n.IsInValue(r) {
			found = append(found, "within "+r.Key().Kind+" "+r.Key().ID)
		}
	}
	for _, e := range h.events(ws) {
		if n.IsInValue(e) {
			found = append(found, fmt.Sprintf("event %d %s", e.Offset, e.Type))
		}
	}
	for _, list := range []string{"to=live/" + e164, "from=live/" + e164} {
		_, err := h.store.List(ctx, commit.Query{Kind: "message", Workspace: ws, Index: list, Limit: 1}, func() domain.Record { return &domain.Message{} },
			func(domain.Record) error { found = append(found, list); return nil })
		require.NoError(h, err)
	}
	return found
}

func (h *fixture) createDataRequest(p domain.Principal, kind domain.DataRequestType, phone string) *domain.DataRequest {
	h.Helper()
	r, err := h.services().DataRequests.CreateDataRequest(h.Context(), p, kind, phone)
	require.NoError(h, err)
	return r
}

// waitForDataRequest waits until a data request is completed and returns it.
func (h *fixture) waitForDataRequest(p domain.Principal, id string) *domain.DataRequest {
	h.Helper()
	var r *domain.DataRequest
	h.waitUntil(longWait, "the data request is completed", func() bool {
		var err error
		r, err = h.services().DataRequests.DataRequest(h.Context(), p, id)
		require.NoError(h, err)
		return r.Status == domain.DataCompleted
	})
	return r
}

const (
	erasedPhone = "+15005553311" // a phone of the test carrier that presses 1
	otherPhone  = "+15005553411"
)

// storePersonalData stores every kind of personal data of erasedPhone in a workspace, and data of other persons that
// mentions the number. over is the id of a completed campaign, draft the id of a campaign that was not started.
func (h *fixture) storePersonalData() (over, draft string) {
	h.Helper()
	d, ctx, ws, now := h.services(), h.Context(), h.live.WorkspaceID, time.Now().UTC()
	h.removeFrequencyCaps()
	agent := h.createAgent(h.live, keyMenuPathway())
	over = h.createCampaign(h.live, agent, erasedPhone, otherPhone)
	h.runCampaign(over)
	draft = h.createCampaign(h.live, agent, otherPhone)
	_, err := d.Contacts.AddContacts(ctx, h.live, draft, func(yield func(domain.RawContact, error) bool) {
		_ = yield(domain.RawContact{Line: 1, Phone: "(500) 555-3311", Context: domain.Context{"name": "Ada"}}, nil) &&
			yield(domain.RawContact{Line: 2, Phone: erasedPhone}, nil) && // a duplicate, listed in the upload report
			yield(domain.RawContact{Line: 3, Phone: "+15005553511", Context: domain.Context{"partner": "500 555 3311"}}, nil)
	})
	require.NoError(h, err)
	_, err = d.Contacts.AddContacts(ctx, h.live, h.createCampaign(h.live, h.createAgent(h.live, requiredVariablePathway())), func(yield func(domain.RawContact, error) bool) {
		yield(domain.RawContact{Line: 1, Phone: erasedPhone, Context: domain.Context{"name": "Ada"}}, nil) // screened: a required variable is missing
	})
	require.NoError(h, err)
	list, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "l"})
	require.NoError(h, err)
	for _, id := range []string{list.ID, domain.DefaultDNCID(ws, domain.Live)} {
		_, err = d.DNC.ImportDNC(ctx, h.live, id, func(yield func(domain.RawNumber, error) bool) {
			yield(domain.RawNumber{Line: 1, Phone: erasedPhone}, nil)
		})
		require.NoError(h, err)
	}
	provider, err := d.Appointments.CreateProvider(ctx, h.live, &domain.Provider{Name: "Dr. Who", Timezone: "UTC", SlotMinutes: 30, Hours: map[string][]domain.OpenSpan{}})
	require.NoError(h, err)
	id := func(p domain.Prefix, n byte) domain.Meta {
		return domain.Meta{ID: domain.ID(p, now, [10]byte{n}), WorkspaceID: ws, Environment: domain.Live, CreatedAt: now}
	}
	at := now.Truncate(24*time.Hour).AddDate(0, 0, 7).Add(9 * time.Hour)
	visit := &domain.Appointment{
		Meta: id(domain.PrefixAppointment, 1), Patient: domain.Patient{Name: "Ada", Phone: erasedPhone}, ProviderID: provider.ID,
		Datetime: at, EndsAt: at.Add(30 * time.Minute), Status: domain.AppointmentBooked,
	}
	day := &domain.BookingDay{WorkspaceID: ws, ProviderID: provider.ID, Day: at.Format(time.DateOnly), Booked: []domain.Booked{{Start: at, End: visit.EndsAt, AppointmentID: visit.ID}}}
	ended := now.Add(-time.Minute)
	others := &domain.Call{
		Meta: id(domain.PrefixCall, 2), Direction: domain.Outbound, From: "+15005550100", To: otherPhone, Status: domain.CallCompleted, EndedAt: &ended,
		Context: domain.Context{"callback": "5005553311"}, TranscriptAvailable: true,
	}
	trace := domain.CallTrace{CallID: others.ID, WorkspaceID: ws, Messages: []domain.SIPMessage{
		{At: ended, Network: "udp", Local: "192.0.2.1:5060", Remote: "192.0.2.2:5060", SIPCallID: "a", Data: []byte("REFER sip:a SIP/2.0\r\nRefer-To: <sip:+15005553311@h>\r\n\r\n")},
	}}
	_, err = h.store.Apply(ctx, commit.Change{Workspace: ws, Puts: []domain.Record{
		visit, day, &domain.ReminderDue{WorkspaceID: ws, AppointmentID: visit.ID, At: at}, others, trace.Pack(),
		&domain.Transcript{CallID: others.ID, WorkspaceID: ws, Status: "ready", Text: "my sister has 500-555-3311", Segments: []domain.Segment{{Text: "my sister has 500-555-3311"}}},
		&domain.Message{Meta: id(domain.PrefixMessage, 1), Direction: domain.Outbound, From: "+15005550100", To: erasedPhone, Body: "hello", Status: domain.MessageDelivered},
		&domain.Message{Meta: id(domain.PrefixMessage, 2), Direction: domain.Inbound, From: otherPhone, To: "+15005550100", Body: "call 1-500-555-3311", Status: domain.MessageReceived},
		&domain.SMSConversation{Meta: id(domain.PrefixConversation, 1), Number: "+15005550100", Contact: erasedPhone, Status: domain.SMSConversationClosed, Notes: "Ada"},
		&domain.AuditEntry{Meta: id(domain.PrefixAudit, 1), Type: "admin", Action: "dnc_list.entry_deleted", Resource: domain.Resource{Type: "dnc_list", ID: erasedPhone}},
	}})
	require.NoError(h, err)
	e, err := d.Exports.CreateExport(ctx, h.live, &domain.Export{Type: domain.ExportCalls, Format: "csv"})
	require.NoError(h, err)
	h.waitForExport(h.live, e)
	return over, draft
}

func (h *fixture) removeFrequencyCaps() {
	h.Helper()
	_, err := h.services().Workspaces.UpdateWorkspace(h.Context(), h.live, func(w *domain.Workspace) error { w.FrequencyCaps.PerNumberPerDay = 50; return nil })
	require.NoError(h, err)
}

func TestErasureRemovesANumberFromAllRows(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx, ws := h.services(), t.Context(), h.live.WorkspaceID
	over, draft := h.storePersonalData()
	later := time.Now().UTC().Add(2 * time.Hour)
	closed := &domain.CallingHours{Start: later.Format("15:00"), End: later.Add(time.Hour).Format("15:00"), Timezone: "UTC"}
	bulk, err := d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkCalls, Items: []bulk.NewItem{
		{Call: &domain.NewCall{To: erasedPhone, AgentID: h.createAgent(h.live, keyMenuPathway()), CallingHours: closed, RingTimeout: time.Second, MaxDuration: time.Minute}},
		{Call: &domain.NewCall{To: otherPhone, AgentID: h.createAgent(h.live, keyMenuPathway()), CallingHours: closed, RingTimeout: time.Second, MaxDuration: time.Minute}},
	}})
	require.NoError(t, err)
	file := h.waitForDataRequest(h.live, h.createDataRequest(h.live, domain.DataExport, "(500) 555-3311").ID)
	before := h.rowsWithNumber(ws, erasedPhone)
	for _, kind := range []string{"call/", "chunk/", "screened/", "decision/", "message/", "appointment/", "upload/", "audit/", "bulk_chunk/", "number_days/", "call_trace/", "sms_conversation/", "event ", "within transcript"} {
		assert.True(t, slices.ContainsFunc(before, func(s string) bool { return strings.Contains(s, kind) }), "the number stands in %s: %q", kind, before)
	}
	others := len(h.rowsWithNumber(ws, otherPhone))

	log := h.events(ws)
	r := h.createDataRequest(h.live, domain.DataErase, "(500) 555-3311")
	assert.Equal(t, erasedPhone, r.Phone)
	r = h.waitForDataRequest(h.live, r.ID)
	assert.Empty(t, h.rowsWithNumber(ws, erasedPhone))
	assert.Equal(t, []any{"", h.keys.NumberHash(ws, erasedPhone)}, []any{r.Phone, r.PhoneHash})
	assert.Subset(t, r.Counts, map[string]int{"contacts": 3, "message": 2, "appointment": 1, "dnc_entries": 2, "exports": 2, "bulk_orders": 1})
	assert.Empty(t, r.Remaining)
	assert.GreaterOrEqual(t, len(h.rowsWithNumber(ws, otherPhone)), others-3, "rows of the other person stay, except rows that name both")

	v, err := d.Decisions.VerifyDecisions(ctx, h.live, over)
	require.NoError(t, err)
	assert.Equal(t, []any{true, "", 1}, []any{v.Valid, v.Reason, v.Erased})
	v, err = d.Decisions.VerifyDecisions(ctx, h.live, draft)
	require.NoError(t, err)
	assert.True(t, v.Valid)
	people, err := d.Contacts.ListContacts(ctx, h.live, draft, contactsservice.Query{Limit: 10})
	require.NoError(t, err)
	var phones []string
	for _, c := range people.Data {
		phones = append(phones, c.Phone+" "+c.Status)
	}
	assert.Equal(t, []string{otherPhone + " pending", " cancelled", "+15005553511 pending"}, phones)
	assert.Equal(t, []int{1, 1}, []int{h.bulkJob(h.live, bulk.ID).Cancelled, h.bulkJob(h.live, bulk.ID).Pending})
	left := h.events(ws)
	assert.Less(t, len(left), len(log))
	for _, e := range log {
		_, err = d.Events.ListEvents(ctx, h.live, events.Query{After: e.ID, Limit: 1})
		stored := slices.ContainsFunc(left, func(l event.Event) bool { return l.ID == e.ID })
		assert.Equal(t, map[bool]domain.Code{true: "", false: domain.CodeCursorExpired}[stored], domain.CodeOf(err), "a cursor at a deleted event is expired")
	}
	exports, err := d.Exports.ListExports(ctx, h.live, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, exports.Data, 1)
	assert.Equal(t, domain.ExportExpired, exports.Data[0].Status, "the export named the number")
	_, err = d.DataRequests.DataRequestFile(ctx, h.live, file.ID)
	assert.Equal(t, domain.CodeExportExpired, domain.CodeOf(err), "exports of the person are deleted too")

	for range 2 { // the number must stay blocked before and after a restart
		found, err := h.services().DNC.CheckDNC(ctx, h.live, erasedPhone)
		require.NoError(t, err)
		assert.Len(t, found.Lists, 2, "the entries survive as a hash")
		_, err = h.services().Calls.PlaceCall(ctx, h.live, domain.NewCall{To: erasedPhone, AgentID: h.createAgent(h.live, keyMenuPathway()), RingTimeout: time.Second, MaxDuration: time.Minute})
		assert.Equal(t, domain.CodeDNCBlocked, domain.CodeOf(err))
		h.shutdown()
		h.start()
	}
	copied, err := h.services().Campaigns.CopyCampaign(ctx, h.live, over, []string{"confirmed", "completed"}, func(c *domain.Campaign) error { return nil })
	require.NoError(t, err)
	assert.Equal(t, 1, copied.Upload.Summary.Received, "an erased contact is not copied")
}

func TestPersonalDataExportContainsOnlyTheRequestedPerson(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.storePersonalData()
	r := h.waitForDataRequest(h.live, h.createDataRequest(h.live, domain.DataExport, erasedPhone).ID)
	file, err := h.services().DataRequests.DataRequestFile(t.Context(), h.live, r.ID)
	require.NoError(t, err)
	defer func() { _ = file.Body.Close() }()
	text, err := io.ReadAll(file.Body)
	require.NoError(t, err)
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	require.NoError(t, err)
	lines := make(map[string]int)
	for _, f := range z.File {
		body, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(body)
		require.NoError(t, err)
		lines[f.Name] = bytes.Count(content, []byte("\n"))
		assert.NotContains(t, string(content), otherPhone, f.Name)
		if strings.HasPrefix(f.Name, "recordings/") {
			lines["recordings"]++
			delete(lines, f.Name)
			assert.True(t, bytes.HasPrefix(content, []byte("RIFF")))
		}
	}
	assert.Greater(t, lines["events.jsonl"], 3)
	delete(lines, "events.jsonl")
	assert.Equal(t, map[string]int{
		"calls.jsonl": 1, "transcripts.jsonl": 1, "messages.jsonl": 1, "sms_conversations.jsonl": 1, "appointments.jsonl": 1, "contacts.jsonl": 2, "screened_contacts.jsonl": 1,
		"decisions.jsonl": 1, "dnc_entries.jsonl": 2, "recordings": 1,
	}, lines)
	_, err = h.services().DataRequests.DataRequestFile(t.Context(), h.test, r.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	require.NoError(t, h.services().DataRequests.SweepDataRequests(t.Context(), h.live.WorkspaceID, time.Now().AddDate(0, 0, 8)))
	_, err = h.services().DataRequests.DataRequestFile(t.Context(), h.live, r.ID)
	assert.Equal(t, domain.CodeExportExpired, domain.CodeOf(err))
	expired, err := h.services().DataRequests.DataRequest(t.Context(), h.live, r.ID)
	require.NoError(t, err)
	assert.Empty(t, expired.Phone)
}

func TestErasureWaitsForALiveCallAndContinuesAfterRestart(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx := h.services(), t.Context()
	call, err := d.Calls.PlaceCall(ctx, h.test, domain.NewCall{To: "+15005550000", AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 10 * time.Second, MaxDuration: time.Hour})
	require.NoError(t, err)
	live := h.waitForDataRequest(h.live, h.createDataRequest(h.live, domain.DataErase, "+15005550000").ID)
	assert.Empty(t, live.Counts, "the other environment has no data of the number")
	r := h.createDataRequest(h.test, domain.DataErase, "+15005550000")
	h.waitUntil(longWait, "the erasure waits for the call", func() bool {
		now, err := h.services().DataRequests.DataRequest(ctx, h.test, r.ID)
		require.NoError(t, err)
		return now.Status == domain.DataWaiting && slices.Equal(now.WaitingFor, []domain.ResourceRef{{ID: call.ID, Object: "call"}})
	})
	_, err = h.services().Calls.Call(ctx, h.test, call.ID)
	require.NoError(t, err)
	h.shutdown()
	h.start() // the call ends with its process
	h.waitForDataRequest(h.test, r.ID)
	_, err = h.services().Calls.Call(ctx, h.test, call.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestErasureReportsSettingsThatContainTheNumber(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d, ctx := h.services(), t.Context()
	w := keyMenuPathway()
	w.Nodes[1].Prompt = "Call us at 500 555 3311."
	h.createAgent(h.live, w)
	r := h.waitForDataRequest(h.live, h.createDataRequest(h.live, domain.DataErase, erasedPhone).ID)
	var kinds []string
	for _, ref := range r.Remaining {
		kinds = append(kinds, ref.Object)
	}
	assert.Contains(t, kinds, "pathway")
	for _, bad := range []string{"", "x", "+1", "911"} {
		_, err := d.DataRequests.CreateDataRequest(ctx, h.live, domain.DataErase, bad)
		assert.Equal(t, domain.CodeValidation, domain.CodeOf(err), bad)
	}
	_, err := h.store.Apply(ctx, commit.Change{Workspace: h.live.WorkspaceID, Puts: []domain.Record{
		&domain.PhoneNumber{Meta: domain.Meta{ID: domain.ID(domain.PrefixNumber, time.Now(), [10]byte{1}), WorkspaceID: h.live.WorkspaceID, Environment: domain.Live}, Number: "+15005550177"},
	}})
	require.NoError(t, err)
	_, err = d.DataRequests.CreateDataRequest(ctx, h.live, domain.DataErase, "+15005550177")
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), "the number is the caller ID of all calls")
}

// TestErasureCoversEveryKindOfRow fails if the store contains a kind of row that the erasure of personal data does not
// know. A new kind needs an entry in personal_rows.go or erasure.go. A kind without phone numbers needs an entry in the
// list of this test.
func TestErasureCoversEveryKindOfRow(t *testing.T) {
	t.Parallel()
	none := []string{
		"addresses", "analysis_due", "api_key", "booking", "bulk", "decision_start", "dialling", "doomed", "extension", "export", "gone_workspace", "ledger", "link_key",
		"lookup_key", "number_claim", "oauth_client", "oauth_code", "oauth_grant", "oauth_revocation", "outbox", "page", "phone_username", "progress", "progress_mark", "quarantine",
		"provider_name", "rate_windows", "registrations", "reminder", "session", "sign_in", "signing_key", "spending", "tariff", "trunk_state", "usage", "workspace",
		"sms_seen", // contains a digest only
		"once",     // encrypted with the client's key and deleted after a day
	}
	special := []string{
		"attempt", "orphan", // deleted with the end of their calls, which the erasure waits for
		"bulk_chunk", "call_trace", "chunk", "edit", "data_request", "decision", "dnc_bucket", "number_days", "screened", "sms_stop",
	}
	known := append(append(none, special...), node.PersonalKinds()...)
	kind := regexp.MustCompile(`Key\{"([a-z_]+)"|Kind: "([a-z_]+)", Workspace`)
	for _, dir := range []string{"../../domain/*.go", "../../domain/*/*.go", "../*/*.go", "../../service/*/*.go"} {
		files, err := filepath.Glob(dir)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range kind.FindAllStringSubmatch(string(text), -1) {
				assert.Contains(t, known, m[1]+m[2], file)
			}
		}
	}
}
