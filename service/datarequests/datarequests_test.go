package datarequests_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/datarequests"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

const person, other = "+12025550101", "+12025550102"

// node is a fake of all dependencies of the service. It stores the background work of a request, which the test then
// runs. It has no campaigns.
type node struct {
	store *pebbletest.Store
	work  func(context.Context) error
	freed int // number of freed appointment times
}

func (n *node) Start(_ context.Context, _ string, work func(context.Context) error) bool {
	n.work = work
	return true
}
func (*node) StopAndWait(string)                           {}
func (*node) NumberHash(_, e164 string) string             { return "hash of " + e164 }
func (*node) DecisionLogKey(string) []byte                 { return []byte("key") }
func (*node) RunBulk(*domain.Bulk)                         {}
func (*node) LockUploads(*domain.Campaign) (func(), error) { return func() {}, nil }
func (*node) Campaign(context.Context, domain.Principal, string) (*domain.Campaign, error) {
	return nil, domain.NotFound("campaign")
}

func (*node) DeleteContact(context.Context, domain.Principal, string, string) error {
	return domain.NotFound("contact")
}

func (n *node) DeleteCalls(ctx context.Context, workspace string, calls []*domain.Call) error {
	c := commit.Change{Workspace: workspace}
	for _, one := range calls {
		c.Deletes = append(c.Deletes, one.Key())
	}
	_, err := n.store.Apply(ctx, c)
	return err
}

func (n *node) FreeTime(context.Context, *commit.Change, *domain.Appointment) error {
	n.freed++
	return nil
}

func (*node) PagesOfNumber(context.Context, *domain.Campaign, string, int) ([]*domain.DecisionPage, error) {
	return nil, nil
}
func (*node) DeleteExportFile(context.Context, *domain.Export) error { return nil }

type fixture struct {
	*datarequests.Service

	node        *node
	store       *pebbletest.Store
	blobs       recordtest.Blobs
	lists       *register.Registry
	quarantined bool
	by          domain.Principal
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.OpenStore(t), by: recordtest.Live(recordtest.Workspace)}
	f.node = &node{store: f.store}
	f.lists = register.New(f.store, func(string, uint64) string { return "hash" }, nil)
	n := f.node
	f.Service = datarequests.New(datarequests.Config{
		Store: f.store, Blobs: &f.blobs, Lists: f.lists, Keys: n, Jobs: n, Campaigns: n, Contacts: n, Calls: n, Appointments: n, Decisions: n, Exports: n, Bulk: n,
		OptOutKey: func(workspace string, _ domain.Environment, e164 string) domain.Key {
			return domain.Key{Kind: "sms_stop", Workspace: workspace, ID: e164}
		},
		Country: func(domain.Principal) string { return "US" }, Background: t.Context, Quarantined: func() bool { return f.quarantined }, OnCalls: func() bool { return false },
	})
	return f
}

func (f *fixture) put(t *testing.T, p domain.Principal, m *domain.Meta, object string, prefix domain.Prefix, r domain.Record) {
	t.Helper()
	m.Init(object, p, record.RequestResourceID(t.Context(), prefix), record.Now())
	d := outbox.NewEvent(m, event.SMSReceived, m.ID, "unit", map[string]any{"n": 1})
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{r}, Events: []event.Draft{d}})
	require.NoError(t, err)
}

// message stores an outbound message to a number and returns the message.
func (f *fixture) message(t *testing.T, p domain.Principal, to, body string) *domain.Message {
	t.Helper()
	m := &domain.Message{Direction: domain.Outbound, To: to, From: "+12025550170", Body: body, Status: domain.MessageSent}
	f.put(t, p, &m.Meta, "message", domain.PrefixMessage, m)
	return m
}

func (f *fixture) bodyOf(t *testing.T, m *domain.Message) string {
	t.Helper()
	now := &domain.Message{Meta: domain.Meta{ID: m.ID, WorkspaceID: m.WorkspaceID}}
	if _, err := f.store.Get(t.Context(), now); err != nil {
		require.ErrorIs(t, err, domain.ErrNotFound)
		return "(deleted)"
	}
	return now.Body
}

func (f *fixture) request(t *testing.T, kind domain.DataRequestType) *domain.DataRequest {
	t.Helper()
	r, err := f.CreateDataRequest(t.Context(), f.by, kind, "(202) 555-0101")
	require.NoError(t, err)
	require.NoError(t, f.node.work(t.Context()))
	r, err = f.DataRequest(t.Context(), f.by, r.ID)
	require.NoError(t, err)
	return r
}

func TestErasureDeletesRowsOfPersonAndMasksNumberInOthers(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	test := domain.Principal{WorkspaceID: recordtest.Workspace, Environment: domain.Test}
	own := f.message(t, f.by, person, "hello")
	mention := f.message(t, f.by, other, "call "+person)
	inTest, foreign := f.message(t, test, person, "hello"), f.message(t, recordtest.Live(recordtest.OtherWorkspace), person, "hello")
	call := &domain.Call{Direction: domain.Outbound, To: person, Status: domain.CallCompleted}
	f.put(t, f.by, &call.Meta, "call", domain.PrefixCall, call)
	appointment := &domain.Appointment{Patient: domain.Patient{Name: "Ada", Phone: person}}
	f.put(t, f.by, &appointment.Meta, "appointment", domain.PrefixAppointment, appointment)
	list := domain.DefaultDNCID(recordtest.Workspace, domain.Live)
	n, err := dnc.PackNumber(person)
	require.NoError(t, err)
	_, err = f.lists.AddNumbers(t.Context(), recordtest.Workspace, list, []uint64{n}, dnc.Origin{Source: domain.DNCImport, At: record.Now()})
	require.NoError(t, err)

	r := f.request(t, domain.DataErase)
	assert.Equal(t, []any{domain.DataCompleted, ""}, []any{r.Status, r.Phone})
	assert.Equal(t, "(deleted)", f.bodyOf(t, own))
	blanked := f.bodyOf(t, mention)
	assert.True(t, strings.HasPrefix(blanked, "call ") && !strings.Contains(blanked, person), blanked)
	assert.Equal(t, []string{"hello", "hello"}, []string{f.bodyOf(t, inTest), f.bodyOf(t, foreign)}, "messages of another environment and another workspace stay")
	for _, row := range []domain.Record{call, appointment} {
		_, err = f.store.Get(t.Context(), row)
		require.ErrorIs(t, err, domain.ErrNotFound)
	}
	assert.Equal(t, 1, f.node.freed)
	assert.Equal(t, []int{3, 2, 1, 1, 1}, []int{r.Counts["events"], r.Counts["message"], r.Counts["call"], r.Counts["appointment"], r.Counts["dnc_entries"]})
	hit, err := f.lists.FindMatch(t.Context(), recordtest.Workspace, dnc.ScrubRules{Default: list}, n)
	require.NoError(t, err)
	assert.NotNil(t, hit, "the hash of the number stays listed")
	_, err = f.DataRequestFile(t.Context(), f.by, r.ID)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
}

func TestErasureContinuesAfterFailedStep(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	own := f.message(t, f.by, person, "hello")
	r, err := f.CreateDataRequest(t.Context(), f.by, domain.DataErase, person)
	require.NoError(t, err)
	full := errors.New("the disk is full")
	f.store.BeforeApply = func(c commit.Change) error {
		if len(c.Deletes) > 0 && c.Deletes[0] == own.Key() {
			return full
		}
		return nil
	}
	require.ErrorIs(t, f.node.work(t.Context()), full)
	r, err = f.DataRequest(t.Context(), f.by, r.ID)
	require.NoError(t, err)
	assert.Equal(t, domain.DataRunning, r.Status)
	assert.Contains(t, r.Done, "events", "the next run continues behind the finished step")
	f.store.BeforeApply = nil
	require.NoError(t, f.node.work(t.Context()))
	assert.Equal(t, "(deleted)", f.bodyOf(t, own))
}

func TestDataExportContainsRowsOfPerson(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.message(t, f.by, person, "hello")
	f.message(t, f.by, other, "call "+person)
	r := f.request(t, domain.DataExport)
	file, err := f.DataRequestFile(t.Context(), f.by, r.ID)
	require.NoError(t, err)
	all, err := io.ReadAll(file.Body)
	require.NoError(t, err)
	assert.Len(t, all, int(file.Size))
	z, err := zip.NewReader(bytes.NewReader(all), file.Size)
	require.NoError(t, err)
	messages, err := z.Open("messages.jsonl")
	require.NoError(t, err)
	text, err := io.ReadAll(messages)
	require.NoError(t, err)
	assert.Equal(t, 1, bytes.Count(text, []byte("\n")))
	assert.Contains(t, string(text), `"body":"hello"`)

	_, err = f.DataRequestFile(t.Context(), recordtest.Live(recordtest.OtherWorkspace), r.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	require.NoError(t, f.SweepDataRequests(t.Context(), recordtest.Workspace, time.Now().Add(domain.DataRequestLifetime+time.Hour)))
	_, err = f.DataRequestFile(t.Context(), f.by, r.ID)
	assert.Equal(t, domain.CodeExportExpired, domain.CodeOf(err))
	r, err = f.DataRequest(t.Context(), f.by, r.ID)
	require.NoError(t, err)
	assert.Empty(t, r.Phone)
}

func TestDataErasureOfOwnNumberIsRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	number := &domain.PhoneNumber{Number: person}
	f.put(t, f.by, &number.Meta, "phone_number", domain.PrefixNumber, number)
	_, err := f.CreateDataRequest(t.Context(), f.by, domain.DataErase, person)
	assert.Equal(t, "phone", recordtest.ErrorField(err))
	_, err = f.CreateDataRequest(t.Context(), f.by, domain.DataExport, "12")
	assert.Equal(t, "phone", recordtest.ErrorField(err))
	f.quarantined = true
	_, err = f.CreateDataRequest(t.Context(), f.by, domain.DataErase, other)
	require.NoError(t, err)
	assert.Nil(t, f.node.work, "a quarantined store starts no erasure: its recordings may be in the bucket of another installation")
}
