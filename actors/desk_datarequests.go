package actors

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/personal"
	"github.com/callboard/callboard/service/record"
)

const (
	dataRest     = time.Second // between two looks at what a request waits for
	dataAtOnce   = 2           // requests that are carried out at the same time
	maxOpenData  = 100         // of a workspace
	maxDataRefs  = 100         // resources that a request names
	dataPageRows = 200         // rows that are read at once
)

// CreateDataRequest orders the export or the erasure of what a workspace has of
// the person with a number. It is carried out by this process or by the next.
// Errors: validation_error of phone; invalid_state where the number is one of
// the workspace's own.
func (d *Desk) CreateDataRequest(ctx context.Context, p domain.Principal, kind domain.DataRequestType, phone string) (*domain.DataRequest, error) {
	if made, err := record.CreatedBySameRequest[domain.DataRequest](ctx, d.store, p, domain.PrefixData); made != nil || err != nil {
		return made, err
	}
	e164, _, err := dnc.ParseNumber(phone, d.Country(p))
	if err != nil {
		return nil, record.FieldError("phone", domain.CodeValidation, "is "+domain.PhoneProblem(phone, err)+": give a full telephone number, best in E.164 as +12025550123")
	}
	own := false
	err = commit.Each(ctx, d.store, "number", p.WorkspaceID, record.EnvironmentIndex(p), func(n *domain.PhoneNumber) { own = own || n.Number == e164 })
	if err != nil {
		return nil, record.StoreError(err)
	}
	if own && kind == domain.DataErase {
		return nil, record.FieldError("phone", domain.CodeInvalidState, e164+" is a phone number of this workspace: delete that first, then erase it")
	}
	open := 0
	if err = commit.Each(ctx, d.store, "data_request", p.WorkspaceID, "open", func(*domain.DataRequest) { open++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if open >= maxOpenData {
		return nil, domain.Errorf(domain.CodeUnavailable, "%d data requests of this workspace are open; wait for one to be completed", open).With("retry_after", 60)
	}
	r := &domain.DataRequest{Type: kind, Phone: e164, PhoneHash: d.keys.NumberHash(p.WorkspaceID, e164), Status: domain.DataQueued}
	record.SetMeta(&r.Meta, "data_request", p, record.NewID(ctx, domain.PrefixData), record.Now())
	if err := record.Create(ctx, d.store, r); err != nil {
		return nil, err
	}
	d.handleDataRequest(r)
	return r, nil
}

// DataRequest reads one.
func (d *Desk) DataRequest(ctx context.Context, p domain.Principal, id string) (*domain.DataRequest, error) {
	r, _, err := record.Get[domain.DataRequest](ctx, d.store, p, domain.PrefixData, id)
	return r, err
}

// ListDataRequests reads a page.
func (d *Desk) ListDataRequests(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.DataRequest], error) {
	return record.List[domain.DataRequest](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixData, q, nil)
}

// DataRequestFile opens the file of an export. Errors: processing while it is
// written, export_expired once it is deleted, invalid_state of an erasure.
func (d *Desk) DataRequestFile(ctx context.Context, p domain.Principal, id string) (ask.Recording, error) {
	r, err := d.DataRequest(ctx, p, id)
	gone := domain.Errorf(ask.CodeExportExpired, "the file has been deleted; make another data request")
	switch {
	case err != nil:
		return ask.Recording{}, err
	case r.Type != domain.DataExport:
		return ask.Recording{}, domain.Errorf(domain.CodeInvalidState, "an erasure has no file").With("current_status", r.Status)
	case r.Status == domain.DataExpired, r.Status == domain.DataCompleted && !time.Now().Before(*r.ExpiresAt):
		return ask.Recording{}, gone
	case r.Status != domain.DataCompleted:
		return ask.Recording{}, domain.Errorf(domain.CodeProcessing, "the file is still to come")
	}
	body, size, err := d.node.cfg.Blobs.Open(ctx, r.WorkspaceID, r.File())
	if errors.Is(err, domain.ErrNotFound) {
		return ask.Recording{}, gone
	}
	if err != nil {
		return ask.Recording{}, record.StoreError(err)
	}
	return ask.Recording{Size: size, Created: *r.CompletedAt, Body: body}, nil
}

// handleDataRequest begins a request's work beside the API's requests.
func (d *Desk) handleDataRequest(r *domain.DataRequest) {
	if d.node.Quarantined() && r.Type == domain.DataErase { // recordings may lie in a bucket that another service uses
		return
	}
	d.jobs.Begin(d.node.Context(), r.WorkspaceID+"/"+r.ID, func(ctx context.Context) error {
		if err := d.takeDataRequestSlot(ctx); err != nil {
			return err
		}
		defer func() { <-d.dataSlots }()
		return d.runDataRequest(ctx, r.WorkspaceID, r.ID)
	})
}

func (d *Desk) takeDataRequestSlot(ctx context.Context) error {
	select {
	case d.dataSlots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dataRequestJob is one run through what is left of a data request. It is the only
// writer of the request's row.
type dataRequestJob struct {
	d         *Desk
	row       *domain.DataRequest
	version   uint64
	number    personal.Number
	campaigns []*domain.Campaign // of the request's environment
	ours      map[string]bool    // ids of campaigns and bulk jobs of that environment
	about     map[string]bool    // ids of calls, messages, conversations and appointments of the person
	yield     func() error       // gives way to live calls
}

func (d *Desk) runDataRequest(ctx context.Context, workspaceID, id string) error {
	j := &dataRequestJob{d: d, row: &domain.DataRequest{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}, yield: record.YieldToCalls(ctx, d.onCalls)}
	var err error
	j.version, err = d.store.Get(ctx, j.row)
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
		err = j.begin(ctx)
	}
	if err != nil {
		return err
	}
	if j.row.Type == domain.DataExport {
		return j.export(ctx)
	}
	return j.erase(ctx)
}

// keep stores the row as change leaves it.
func (j *dataRequestJob) save(ctx context.Context, change func(*domain.DataRequest)) error {
	next := *j.row
	change(&next)
	next.UpdatedAt = record.Now()
	_, err := j.d.store.Apply(ctx, commit.Change{
		Workspace: next.WorkspaceID, Guards: []commit.Guard{{Key: next.Key(), Version: j.version}}, Puts: []domain.Record{&next},
	})
	if err == nil {
		j.row, j.version = &next, j.version+1
	}
	return err
}

// begin reads which campaigns and bulk jobs are of the request's environment,
// and which resources are the person's.
func (j *dataRequestJob) begin(ctx context.Context) error {
	j.ours, j.about, j.campaigns = make(map[string]bool), make(map[string]bool), nil
	env := "env=" + string(j.row.Environment)
	return errors.Join(
		commit.Each(ctx, j.d.store, "campaign", j.row.WorkspaceID, env, func(c *domain.Campaign) {
			j.campaigns = append(j.campaigns, c)
			j.ours[c.ID] = true
		}),
		commit.Each(ctx, j.d.store, "bulk", j.row.WorkspaceID, env, func(b *domain.Bulk) { j.ours[b.ID] = true }),
	)
}

// waitFor rests where there is something to wait for, and says in the row what
// that is.
func (j *dataRequestJob) waitFor(ctx context.Context, refs []domain.ResourceRef) (waits bool, err error) {
	if len(refs) == 0 {
		if j.row.Status != domain.DataWaiting {
			return false, nil
		}
		return false, j.save(ctx, func(r *domain.DataRequest) { r.Status, r.WaitingFor = domain.DataRunning, nil })
	}
	refs = refs[:min(len(refs), maxDataRefs)]
	if j.row.Status != domain.DataWaiting || !sameRefs(refs, j.row.WaitingFor) {
		if err = j.save(ctx, func(r *domain.DataRequest) { r.Status, r.WaitingFor = domain.DataWaiting, refs }); err != nil {
			return true, err
		}
	}
	<-j.d.dataSlots // one that waits holds up no other
	err = record.Wait(ctx, dataRest)
	j.d.dataSlots <- struct{}{}
	return true, err
}

func sameRefs(a, b []domain.ResourceRef) bool {
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

// sweepDataRequests deletes files of exports past their time, with the numbers
// in their rows, and rows that are as old as the audit log may be.
func (d *Desk) sweepDataRequests(ctx context.Context, workspaceID string, now time.Time) error {
	var old []*domain.DataRequest
	q := commit.Query{
		Kind: "data_request", Workspace: workspaceID, Index: "kept", Oldest: true, Limit: sweepBatch, To: record.IDAt(domain.PrefixData, now.Add(-domain.DataRequestLife)),
	}
	_, err := d.store.List(ctx, q, func() domain.Record { return &domain.DataRequest{} }, func(row domain.Record) error {
		if r, ok := row.(*domain.DataRequest); ok && r.ExpiresAt != nil && now.After(*r.ExpiresAt) {
			old = append(old, r)
		}
		return nil
	})
	for _, r := range old {
		if err == nil {
			err = d.expireData(ctx, r)
		}
	}
	return err
}

// expireData deletes the file of an export, and then the number in its row.
func (d *Desk) expireData(ctx context.Context, r *domain.DataRequest) error {
	if err := d.node.cfg.Blobs.Delete(ctx, r.WorkspaceID, r.File()); err != nil {
		return err
	}
	r.Status, r.Phone, r.UpdatedAt = domain.DataExpired, "", record.Now()
	_, err := d.store.Apply(ctx, commit.Change{Workspace: r.WorkspaceID, Puts: []domain.Record{r}})
	return err
}
