package bulk_test

import (
	"context"
	"iter"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// fakeNode is a fake of all dependencies in bulk.Config, for one workspace.
type fakeNode struct {
	store       commit.Store
	quarantined bool
	paused      bool                                                // if set, started jobs do not run
	place       func(to string, attempt int) error                  // error of a placement by number and try; nil: none
	placed      map[string]int                                      // number of placements by phone number
	queue       func(o domain.NewMessage) error                     // error of queuing a message; nil: none
	imported    func(rows iter.Seq2[domain.RawNumber, error]) error // import of the numbers of a list
	lines       *actor.PID
}

func (*fakeNode) Workspace(id string) *domain.Workspace {
	if id != "ws_1" {
		return nil
	}
	return &domain.Workspace{Meta: domain.Meta{ID: id}, DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}}
}

func (*fakeNode) WorkspaceNotFound() error { return domain.NotFound("workspace") }

func (*fakeNode) Context() context.Context                               { return context.Background() }
func (n *fakeNode) Quarantined() bool                                    { return n.quarantined }
func (*fakeNode) StopAndWait(string)                                     {}
func (*fakeNode) Stop(string)                                            {}
func (*fakeNode) CheckSMSRoutes(context.Context, domain.Principal) error { return nil }

func (n *fakeNode) OutboundLinesPID(string, domain.Environment) (*actor.PID, error) {
	return n.lines, nil
}

// Start runs work in the calling goroutine, so that the job has ended when Start returns.
func (n *fakeNode) Start(ctx context.Context, _ string, work func(ctx context.Context) error) bool {
	if !n.paused {
		_ = work(ctx)
	}
	return true
}

func (*fakeNode) Campaign(context.Context, domain.Principal, string) (*domain.Campaign, error) {
	return nil, domain.NotFound("campaign")
}

func (*fakeNode) ImportContacts(
	context.Context, domain.Principal, string, contactlist.ContactRows, int, func(*commit.Change, *contactlist.Import),
) (contactlist.UploadSummary, error) {
	return contactlist.UploadSummary{}, nil
}

func (*fakeNode) ListExists(context.Context, domain.Principal, string, string) error { return nil }

func (n *fakeNode) QueueMessage(ctx context.Context, p domain.Principal, o domain.NewMessage, _ string, more ...func(*commit.Change)) (*domain.Message, error) {
	if n.queue != nil {
		if err := n.queue(o); err != nil {
			return nil, err
		}
	}
	c := commit.Change{Workspace: p.WorkspaceID}
	for _, f := range more {
		f(&c)
	}
	_, err := n.store.Apply(ctx, c)
	return &domain.Message{}, err
}

func (*fakeNode) ScriptForCall(context.Context, domain.Principal, *domain.NewCall) (domain.Script, error) {
	return domain.Script{}, nil
}

func (n *fakeNode) placeCall(ctx context.Context, p domain.Principal, placement bulk.Placement) (*domain.Call, error) {
	to := placement.Order.To
	n.placed[to]++
	if n.place != nil {
		if err := n.place(to, n.placed[to]); err != nil {
			return nil, err
		}
	}
	c := &domain.Call{}
	c.Init("call", p, placement.CallID, record.Now())
	change := commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{c}}
	placement.More(&change, c)
	_, err := n.store.Apply(ctx, change)
	return c, err
}

func (n *fakeNode) importDNC(_ context.Context, _ domain.Principal, _ string, rows iter.Seq2[domain.RawNumber, error]) error {
	return n.imported(rows)
}

func newFixture(t *testing.T) (*bulk.Service, *fakeNode) {
	t.Helper()
	system := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	t.Cleanup(system.Shutdown)
	n := &fakeNode{store: pebbletest.Open(t), placed: make(map[string]int), lines: system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))}
	return bulk.New(bulk.Config{
		Store: n.store, Workspaces: n, Node: n, System: system, Permits: n, Jobs: n, Campaigns: n, Contacts: n, DNC: n, SMS: n, Scripts: n,
		Zones: calendar.NewSharedZones(), PlaceCall: n.placeCall, ImportDNC: n.importDNC,
	}), n
}

func owner() domain.Principal {
	return domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
}

func callsTo(numbers ...string) bulk.NewJob {
	job := bulk.NewJob{Type: domain.BulkCalls}
	for _, to := range numbers {
		job.Items = append(job.Items, bulk.NewItem{Call: &domain.NewCall{To: to, AgentID: "agent_1"}})
	}
	return job
}

// items returns the status and error code of each item of a job.
func items(t *testing.T, s *bulk.Service, id string) (out []string) {
	t.Helper()
	page, err := s.BulkItems(t.Context(), owner(), id, bulk.ItemQuery{Limit: 100})
	require.NoError(t, err)
	for _, x := range page.Data {
		out = append(out, string(x.Status)+" "+string(x.Code))
	}
	return out
}

func TestBulkCallErrorsAreStoredInItems(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.place = func(to string, _ int) error {
		if to == "+12025550102" {
			return domain.Errorf(domain.CodeDNCBlocked, "the number is on a list")
		}
		return nil
	}
	b, err := s.StartBulk(t.Context(), owner(), callsTo("+12025550101", "+12025550102", "+442071838750", "911", "+12025550103"))
	require.NoError(t, err)
	b, err = s.Bulk(t.Context(), owner(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{domain.BulkCompleted, 3, 2, 2, 1, 0}, []any{b.Status, b.Accepted, b.Rejected, b.Done, b.Failed, b.Pending})
	assert.Equal(t, []string{"done ", "failed dnc_blocked", "rejected destination_not_allowed", "rejected destination_not_allowed", "done "}, items(t, s, b.ID))
	assert.Equal(t, map[string]int{"+12025550101": 1, "+12025550102": 1, "+12025550103": 1}, n.placed)
	codes := make(map[int]domain.Code)
	for _, e := range b.Errors {
		codes[e.Index] = e.Code
	}
	assert.Equal(t, map[int]domain.Code{1: domain.CodeDNCBlocked, 2: domain.CodeDestinationNotAllowed, 3: domain.CodeDestinationNotAllowed}, codes)
}

func TestBulkCallOutsideCallingHoursDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	var order []string
	n.place = func(to string, attempt int) error {
		if to == "+12025550101" && attempt == 1 {
			return domain.Errorf(domain.CodeOutsideCallingHours, "it is outside the calling hours").With("next_allowed_at", time.Now().Add(50*time.Millisecond))
		}
		order = append(order, to)
		return nil
	}
	b, err := s.StartBulk(t.Context(), owner(), callsTo("+12025550101", "+12025550102"))
	require.NoError(t, err)
	assert.Equal(t, []string{"done ", "done "}, items(t, s, b.ID))
	assert.Len(t, order, 2)
	assert.Contains(t, order, "+12025550101")
}

func TestBulkCallIsRetriedAfterTemporaryError(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.place = func(_ string, attempt int) error {
		if attempt == 1 {
			return domain.Errorf(domain.CodeUnavailable, "every trunk is busy")
		}
		return nil
	}
	b, err := s.StartBulk(t.Context(), owner(), callsTo("+12025550101"))
	require.NoError(t, err)
	assert.Equal(t, []string{"done "}, items(t, s, b.ID))
	assert.Equal(t, 2, n.placed["+12025550101"])
}

func TestBulkMessageErrorsAreStoredInItems(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.queue = func(o domain.NewMessage) error {
		if o.To == "+12025550102" {
			return domain.Errorf(domain.CodeDNCBlocked, "the number is on a list")
		}
		return nil
	}
	b, err := s.StartBulk(t.Context(), owner(), bulk.NewJob{Type: domain.BulkSMS, Items: []bulk.NewItem{
		{Message: &domain.NewMessage{To: "+12025550101"}}, {Message: &domain.NewMessage{To: "+12025550102"}},
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"done ", "failed dnc_blocked"}, items(t, s, b.ID))
}

func TestFailedDNCImportFailsBulkItems(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	var got []string
	n.imported = func(rows iter.Seq2[domain.RawNumber, error]) error {
		for r, err := range rows {
			if err != nil {
				return err
			}
			got = append(got, r.Phone)
		}
		return domain.Errorf(domain.CodeNotFound, "there is no such list")
	}
	b, err := s.StartBulk(t.Context(), owner(), bulk.NewJob{Type: domain.BulkDNC, Items: []bulk.NewItem{
		{Number: &domain.RawNumber{Phone: "+12025550101"}}, {Number: &domain.RawNumber{Phone: "nobody"}},
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"+12025550101"}, got)
	assert.Equal(t, []string{"failed not_found", "rejected invalid_phone"}, items(t, s, b.ID))
}

func TestBulkJobOfAnotherWorkspaceIsNotFound(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.paused = true
	b, err := s.StartBulk(t.Context(), owner(), callsTo("+12025550101"))
	require.NoError(t, err)
	for name, p := range map[string]domain.Principal{
		"workspace":   {WorkspaceID: "ws_2", Environment: domain.Live},
		"environment": {WorkspaceID: "ws_1", Environment: domain.Test},
	} {
		_, err = s.Bulk(t.Context(), p, b.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), name)
		_, err = s.BulkItems(t.Context(), p, b.ID, bulk.ItemQuery{Limit: 10})
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), name)
		_, err = s.CancelBulk(t.Context(), p, b.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), name)
		page, err := s.ListBulks(t.Context(), p, record.PageQuery{Limit: 10})
		require.NoError(t, err)
		assert.Empty(t, page.Data, name)
	}
	_, err = s.StartBulk(t.Context(), domain.Principal{WorkspaceID: "ws_2"}, callsTo("+12025550101"))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestCancelledBulkJobPlacesNoCalls(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.paused = true
	b, err := s.StartBulk(t.Context(), owner(), callsTo("+12025550101", "+12025550102"))
	require.NoError(t, err)
	b, err = s.CancelBulk(t.Context(), owner(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, domain.BulkCancelled, b.Status)
	n.paused = false
	s.RunBulk(b)
	require.NoError(t, s.ResumeBulks(t.Context(), "ws_1"))
	assert.Empty(t, n.placed)
	assert.Equal(t, []string{"cancelled ", "cancelled "}, items(t, s, b.ID))
}

func TestQuarantineStopsOutboundBulkJobs(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.quarantined = true
	b, err := s.StartBulk(t.Context(), owner(), callsTo("+12025550101"))
	require.NoError(t, err)
	assert.Empty(t, n.placed)
	n.quarantined = false
	require.NoError(t, s.ResumeBulks(t.Context(), "ws_1"))
	assert.Equal(t, []string{"done "}, items(t, s, b.ID))
}
