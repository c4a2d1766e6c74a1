// Package datarequests is the service for data requests of persons: it exports or erases all data that a workspace
// stores about the person with a phone number.
package datarequests

import (
	"context"
	"errors"
	"io"
	"time"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/personal"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store        commit.Store
	Blobs        blobs
	Lists        *register.Registry
	Keys         numberKeys
	Jobs         jobRunner
	Campaigns    campaigns
	Contacts     contactErasure
	Calls        callDeleter
	Appointments appointments
	Decisions    decisionLogs
	Exports      exportFiles
	Bulk         bulkRunner
	// OptOutKey returns the key of the database row that exists while the opt-out of a number is not completed.
	OptOutKey func(workspaceID string, env domain.Environment, e164 string) domain.Key
	// Country returns the default country of the principal's workspace.
	Country func(p domain.Principal) string
	// Background returns a context that ends when the node stops.
	Background func() context.Context
	// Quarantined reports whether the store is in quarantine after a restore.
	Quarantined func() bool
	OnCalls     func() bool // reports whether this node has live calls
}

// numberKeys computes keyed hashes and keys of a workspace.
type numberKeys interface {
	NumberHash(workspaceID, e164 string) string
	DecisionLogKey(workspaceID string) []byte
}

// jobRunner runs one function per name in the background.
type jobRunner interface {
	Start(ctx context.Context, name string, work func(ctx context.Context) error) bool
	StopAndWait(name string)
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

type contactErasure interface {
	DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error
	LockUploads(c *domain.Campaign) (unlock func(), err error)
}

type callDeleter interface {
	DeleteCalls(ctx context.Context, workspaceID string, calls []*domain.Call) error
}

type appointments interface {
	FreeTime(ctx context.Context, c *commit.Change, a *domain.Appointment) error
}

type decisionLogs interface {
	PagesOfNumber(ctx context.Context, c *domain.Campaign, phone string, row int) ([]*domain.DecisionPage, error)
}

type exportFiles interface {
	DeleteExportFile(ctx context.Context, e *domain.Export) error
}

type bulkRunner interface {
	RunBulk(b *domain.Bulk)
}

type blobs interface {
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
	Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error)
	Delete(ctx context.Context, workspace, name string) error
}

// Service creates data requests and carries them out.
type Service struct {
	store        commit.Store
	list         contactlist.Reader
	blobs        blobs
	lists        *register.Registry
	keys         numberKeys
	jobs         jobRunner
	campaigns    campaigns
	contacts     contactErasure
	calls        callDeleter
	appointments appointments
	decisions    decisionLogs
	exports      exportFiles
	bulk         bulkRunner
	optOutKey    func(workspaceID string, env domain.Environment, e164 string) domain.Key
	country      func(p domain.Principal) string
	background   func() context.Context
	quarantined  func() bool
	onCalls      func() bool
	slots        chan struct{} // one element for each request that is being carried out
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, list: contactlist.New(c.Store), blobs: c.Blobs, lists: c.Lists, keys: c.Keys, jobs: c.Jobs, campaigns: c.Campaigns,
		contacts: c.Contacts, calls: c.Calls, appointments: c.Appointments, decisions: c.Decisions, exports: c.Exports, bulk: c.Bulk,
		optOutKey: c.OptOutKey, country: c.Country, background: c.Background, quarantined: c.Quarantined, onCalls: c.OnCalls, slots: make(chan struct{}, maxRunningRequests),
	}
}

const (
	waitDelay          = time.Second // delay between two checks of what a request waits for
	maxRunningRequests = 2           // requests that are carried out at the same time
	maxOpenRequests    = 100         // open requests of a workspace
	maxListedResources = 100         // resources that a request lists
	rowsPerRead        = 200         // rows that are read at a time
	eventsPerRead      = 500         // events that are read at a time
)

// CreateDataRequest creates a request to export or erase the data about the person with a phone number. A background
// task carries out the request and continues after a restart. Errors: validation_failed for an invalid number;
// invalid_state if the number belongs to the workspace itself.
func (s *Service) CreateDataRequest(ctx context.Context, p domain.Principal, kind domain.DataRequestType, phone string) (*domain.DataRequest, error) {
	if earlier, err := record.CreatedBySameRequest[domain.DataRequest](ctx, s.store, p, domain.PrefixDataRequest); earlier != nil || err != nil {
		return earlier, err
	}
	e164, _, err := dnc.ParseNumber(phone, s.country(p))
	if err != nil {
		return nil, domain.FieldError("phone", domain.CodeValidation, "is "+domain.PhoneProblem(phone, err)+": give a full telephone number, best in E.164 as +12025550123")
	}
	own := false
	err = commit.ForEachRow(ctx, s.store, "number", p.WorkspaceID, record.EnvironmentIndex(p), func(n *domain.PhoneNumber) { own = own || n.Number == e164 })
	if err != nil {
		return nil, commit.StoreError(err)
	}
	if own && kind == domain.DataErase {
		return nil, domain.FieldError("phone", domain.CodeInvalidState, e164+" is a phone number of this workspace; delete the phone number before the erasure")
	}
	open := 0
	if err = commit.ForEachRow(ctx, s.store, "data_request", p.WorkspaceID, "open", func(*domain.DataRequest) { open++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if open >= maxOpenRequests {
		return nil, domain.Errorf(domain.CodeUnavailable, "%d data requests of this workspace are open; wait for one to be completed", open).With("retry_after", 60)
	}
	r := &domain.DataRequest{Type: kind, Phone: e164, PhoneHash: s.keys.NumberHash(p.WorkspaceID, e164), Status: domain.DataQueued}
	r.Init("data_request", p, record.RequestResourceID(ctx, domain.PrefixDataRequest), record.Now())
	if err := record.Create(ctx, s.store, r); err != nil {
		return nil, err
	}
	s.StartDataRequest(r)
	return r, nil
}

// DataRequest returns one data request. Errors: not_found.
func (s *Service) DataRequest(ctx context.Context, p domain.Principal, id string) (*domain.DataRequest, error) {
	r, _, err := record.Get[domain.DataRequest](ctx, s.store, p, domain.PrefixDataRequest, id)
	return r, err
}

// ListDataRequests returns a page of data requests.
func (s *Service) ListDataRequests(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.DataRequest], error) {
	return record.List[domain.DataRequest](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixDataRequest, q, nil)
}

// DataRequestFile opens the file of an export. Errors: processing while the file is being written, export_expired
// after the file was deleted, invalid_state for an erasure.
func (s *Service) DataRequestFile(ctx context.Context, p domain.Principal, id string) (record.Download, error) {
	r, err := s.DataRequest(ctx, p, id)
	expired := domain.Errorf(domain.CodeExportExpired, "the file has expired; create another data request")
	switch {
	case err != nil:
		return record.Download{}, err
	case r.Type != domain.DataExport:
		return record.Download{}, domain.Errorf(domain.CodeInvalidState, "an erasure has no file").With("current_status", r.Status)
	case r.Status == domain.DataExpired, r.Status == domain.DataCompleted && !time.Now().Before(*r.ExpiresAt):
		return record.Download{}, expired
	case r.Status != domain.DataCompleted:
		return record.Download{}, domain.Errorf(domain.CodeProcessing, "the file is not written yet")
	}
	body, size, err := s.blobs.Open(ctx, r.WorkspaceID, r.File())
	if errors.Is(err, domain.ErrNotFound) {
		return record.Download{}, expired
	}
	if err != nil {
		return record.Download{}, commit.StoreError(err)
	}
	return record.Download{Size: size, Created: *r.CompletedAt, Body: body}, nil
}

// StartDataRequest starts to carry out a request in the background. While the store is in quarantine after a restore,
// it does not start erasures.
func (s *Service) StartDataRequest(r *domain.DataRequest) {
	if s.quarantined() && r.Type == domain.DataErase { // recordings may be in a bucket that another service uses
		return
	}
	s.jobs.Start(s.background(), r.WorkspaceID+"/"+r.ID, func(ctx context.Context) error {
		if err := s.acquireSlot(ctx); err != nil {
			return err
		}
		defer func() { <-s.slots }()
		return s.run(ctx, r.WorkspaceID, r.ID)
	})
}

func (s *Service) acquireSlot(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// job is one run of a data request. No other code writes the request's record meanwhile.
type job struct {
	service       *Service
	row           *domain.DataRequest
	version       uint64
	number        personal.Number
	campaigns     []*domain.Campaign // campaigns in the environment of the request
	inEnvironment map[string]bool    // ids of campaigns and bulk jobs in that environment
	about         map[string]bool    // ids of calls, messages, conversations and appointments of the person
	yield         func() error       // pauses while there are live calls
}

func (s *Service) run(ctx context.Context, workspaceID, id string) error {
	j := &job{service: s, row: &domain.DataRequest{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}, yield: record.YieldToCalls(ctx, s.onCalls)}
	var err error
	j.version, err = s.store.Get(ctx, j.row)
	if errors.Is(err, domain.ErrNotFound) || err == nil && (j.row.Status == domain.DataCompleted || j.row.Status == domain.DataExpired) {
		return nil
	}
	if err == nil {
		j.number, err = personal.NewNumber(j.row.Phone)
	}
	if err == nil {
		err = j.save(ctx, func(r *domain.DataRequest) { r.Status = domain.DataRunning })
	}
	if err == nil {
		err = j.readEnvironment(ctx)
	}
	if err != nil {
		return err
	}
	if j.row.Type == domain.DataExport {
		return j.export(ctx)
	}
	return j.erase(ctx)
}

// save changes the record of the data request and commits it.
func (j *job) save(ctx context.Context, change func(*domain.DataRequest)) error {
	next := *j.row
	change(&next)
	next.UpdatedAt = record.Now()
	_, err := j.service.store.Apply(ctx, commit.Change{
		Workspace: next.WorkspaceID, Guards: []commit.Guard{{Key: next.Key(), Version: j.version}}, Puts: []domain.Record{&next},
	})
	if err == nil {
		j.row, j.version = &next, j.version+1
	}
	return err
}

// readEnvironment reads the campaigns and the ids of the bulk jobs in the environment of the request.
func (j *job) readEnvironment(ctx context.Context) error {
	j.inEnvironment, j.about, j.campaigns = make(map[string]bool), make(map[string]bool), nil
	env := "env=" + string(j.row.Environment)
	return errors.Join(
		commit.ForEachRow(ctx, j.service.store, "campaign", j.row.WorkspaceID, env, func(c *domain.Campaign) {
			j.campaigns = append(j.campaigns, c)
			j.inEnvironment[c.ID] = true
		}),
		commit.ForEachRow(ctx, j.service.store, "bulk", j.row.WorkspaceID, env, func(b *domain.Bulk) { j.inEnvironment[b.ID] = true }),
	)
}

// waitFor stores in the data request the resources for which it waits, and sleeps for waitDelay. If refs is empty, it
// ends the wait and returns false.
func (j *job) waitFor(ctx context.Context, refs []domain.ResourceRef) (waits bool, err error) {
	if len(refs) == 0 {
		if j.row.Status != domain.DataWaiting {
			return false, nil
		}
		return false, j.save(ctx, func(r *domain.DataRequest) { r.Status, r.WaitingFor = domain.DataRunning, nil })
	}
	refs = refs[:min(len(refs), maxListedResources)]
	if j.row.Status != domain.DataWaiting || !equalRefs(refs, j.row.WaitingFor) {
		if err = j.save(ctx, func(r *domain.DataRequest) { r.Status, r.WaitingFor = domain.DataWaiting, refs }); err != nil {
			return true, err
		}
	}
	<-j.service.slots // a waiting request does not block other requests
	err = record.Sleep(ctx, waitDelay)
	j.service.slots <- struct{}{}
	return true, err
}

func equalRefs(a, b []domain.ResourceRef) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// SweepDataRequests deletes the expired files of exports, and the phone numbers in the records of these requests.
func (s *Service) SweepDataRequests(ctx context.Context, workspaceID string, now time.Time) error {
	var old []*domain.DataRequest
	q := commit.Query{
		Kind: "data_request", Workspace: workspaceID, Index: "kept", Oldest: true, Limit: record.SweepRows, To: domain.FirstIDAt(domain.PrefixDataRequest, now.Add(-domain.DataRequestLifetime)),
	}
	_, err := s.store.List(ctx, q, func() domain.Record { return &domain.DataRequest{} }, func(row domain.Record) error {
		if r, ok := row.(*domain.DataRequest); ok && r.ExpiresAt != nil && now.After(*r.ExpiresAt) {
			old = append(old, r)
		}
		return nil
	})
	for _, r := range old {
		if err == nil {
			err = s.expire(ctx, r)
		}
	}
	return err
}

// expire deletes the file of an export. Then it sets the request's status to expired and removes the phone number.
func (s *Service) expire(ctx context.Context, r *domain.DataRequest) error {
	if err := s.blobs.Delete(ctx, r.WorkspaceID, r.File()); err != nil {
		return err
	}
	r.Status, r.Phone, r.UpdatedAt = domain.DataExpired, "", record.Now()
	_, err := s.store.Apply(ctx, commit.Change{Workspace: r.WorkspaceID, Puts: []domain.Record{r}})
	return err
}
