package actors

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/record"
)

const (
	maxBulks = 100                 // of a workspace that are under way
	bulkFor  = 30 * 24 * time.Hour // that a job is kept once it is over
)

// StartBulk keeps a job with its orders in one commit; from its return on it is
// carried out, by this process or by the next.
func (d *Desk) StartBulk(ctx context.Context, p domain.Principal, o bulk.NewJob) (*domain.Bulk, error) {
	if d.node.Workspace(p.WorkspaceID) == nil {
		return nil, d.node.WorkspaceNotFound()
	}
	if b, err := record.CreatedBySameRequest[domain.Bulk](ctx, d.store, p, domain.PrefixBulk); b != nil || err != nil {
		if err == nil {
			err = d.bulkErrors(ctx, b)
		}
		return b, err
	}
	if err := d.bulkFits(ctx, p, &o); err != nil {
		return nil, err
	}
	open := 0
	if err := commit.Each(ctx, d.store, "bulk", p.WorkspaceID, "open", func(*domain.Bulk) { open++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if open >= maxBulks {
		return nil, domain.Errorf(domain.CodeInvalidState, "%d bulk jobs are under way, which is the most; wait for one to end or cancel it", open)
	}
	b := &domain.Bulk{
		RequestTrace: tracing.OfRequest(ctx), Type: o.Type, Status: domain.BulkQueued, TargetID: o.Target, Total: len(o.Items), Errors: []domain.BulkError{}, Operator: p.Operator, KeyID: p.KeyID,
	}
	record.SetMeta(&b.Meta, "bulk", p, record.NewID(ctx, domain.PrefixBulk), record.Now())
	b.Metadata = o.Metadata
	chunks, err := chunksOf(b, o.Items)
	if err != nil {
		return nil, err
	}
	if b.Pending = b.Accepted; b.Pending == 0 {
		b.Status, b.CompletedAt = domain.BulkCompleted, &b.CreatedAt
	}
	_, err = d.store.Apply(ctx, commit.Change{
		Workspace: b.WorkspaceID, Guards: []commit.Guard{commit.Absent(b.Key())}, Puts: append(b.Rows(0), chunks...),
	})
	if err != nil {
		return nil, record.StoreError(err)
	}
	d.RunBulk(b)
	return b, nil
}

// bulkFits refuses what concerns the whole job, and blames the items that are
// known never to be done.
func (d *Desk) bulkFits(ctx context.Context, p domain.Principal, o *bulk.NewJob) error {
	w := d.node.Workspace(p.WorkspaceID)
	switch o.Type {
	case domain.BulkContacts:
		return d.contactsFit(ctx, p, o.Target)
	case domain.BulkDNC:
		return d.numbersFit(ctx, p, w, o)
	case domain.BulkCalls:
		for i := range o.Items {
			if c := o.Items[i].Call; c != nil && o.Items[i].Error == nil {
				o.Items[i].Error = d.callNever(ctx, p, w, i, c)
			}
		}
	case domain.BulkSMS:
		return d.messagesFit(ctx, p, w, o)
	}
	return nil
}

func (d *Desk) contactsFit(ctx context.Context, p domain.Principal, campaignID string) error {
	c, err := d.Campaign(ctx, p, campaignID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return record.FieldError("defaults.campaign_id", domain.CodeValidation, "there is no such campaign")
	}
	if err == nil && c.Status.Final() {
		err = contacts.OverError(c)
	}
	return err
}

func (d *Desk) numbersFit(ctx context.Context, p domain.Principal, w *domain.Workspace, o *bulk.NewJob) error {
	if o.Target == "" {
		o.Target = domain.DefaultDNCID(p.WorkspaceID, p.Environment)
	}
	for i := range o.Items {
		n := o.Items[i].Number
		if n == nil {
			continue
		}
		if _, err := dnc.ListNumber(n.Phone, orElse(n.Country, w.DefaultCountry)); err != nil {
			o.Items[i].Error = &domain.BulkError{Index: i, Code: "invalid_phone", Message: "phone is " + err.Error(), Param: "phone"}
		}
	}
	return d.ListExists(ctx, p, "defaults.list_id", o.Target)
}

// messagesFit refuses a job that nothing would carry. Of a message to which no
// way leads its item tells it.
func (d *Desk) messagesFit(ctx context.Context, p domain.Principal, w *domain.Workspace, o *bulk.NewJob) error {
	if err := d.CheckSMSRoutes(ctx, p); err != nil {
		return err
	}
	for i := range o.Items {
		if m := o.Items[i].Message; m != nil && o.Items[i].Error == nil {
			o.Items[i].Error = blame(i, d.reachable(m.To, w, p.Environment))
		}
	}
	return nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// callNever says why a call can never be placed as it is ordered; nil: it may.
func (d *Desk) callNever(ctx context.Context, p domain.Principal, w *domain.Workspace, index int, o *domain.NewCall) *domain.BulkError {
	_, err := d.ScriptForCall(ctx, p, o)
	if e, ok := errors.AsType[*domain.Error](err); ok && (e.Code == domain.CodeNoEngine || e.Code == domain.CodeValidation && e.Param != "") {
		return blame(index, err)
	}
	if domain.CodeOf(err) == domain.CodeNotFound {
		return blame(index, record.ScriptNotFound(ctx, d.store, p, o))
	}
	if domain.CodeOf(err) == domain.CodeValidation {
		return blame(index, record.FieldError("agent_id", domain.CodeValidation, "the agent has nothing to say"))
	}
	if _, inside := domain.PhoneUser(o.To); inside {
		return nil
	}
	return blame(index, d.reachable(o.To, w, p.Environment))
}

// reachable says why a number is never called or written to; nil: it may be.
func (d *Desk) reachable(to string, w *domain.Workspace, env domain.Environment) error {
	_, err := record.Destination(d.zones, w, env, to)
	return err
}

// blame tells an error as that of an item; nil without one.
func blame(index int, err error) *domain.BulkError {
	if err == nil {
		return nil
	}
	out := &domain.BulkError{Index: index, Code: domain.CodeInternal, Message: "something went wrong here"}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		out.Code, out.Message, out.Param = e.Code, e.Message, e.Param
	}
	return out
}

// chunksOf are the rows of a job's orders; it counts them.
func chunksOf(b *domain.Bulk, items []bulk.NewItem) ([]domain.Record, error) {
	var rows []domain.Record
	for start := 0; start < len(items); start += domain.BulkChunkSize {
		chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: start / domain.BulkChunkSize}
		for _, item := range items[start:min(start+domain.BulkChunkSize, len(items))] {
			if item.Error != nil {
				b.Rejected++
				b.Blame(*item.Error)
				chunk.Entries = append(chunk.Entries, domain.BulkEntry{Error: item.Error})
				continue
			}
			text, err := domain.AppendRow(nil, item)
			if err != nil {
				return nil, err
			}
			b.Accepted++
			chunk.Entries = append(chunk.Entries, domain.BulkEntry{Order: text})
		}
		rows = append(rows, chunk)
	}
	return rows, nil
}

// Bulk reads one job.
func (d *Desk) Bulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error) {
	b, _, err := record.Get[domain.Bulk](ctx, d.store, p, domain.PrefixBulk, id)
	if err == nil {
		err = d.bulkErrors(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	return d.standingBulk(b), nil
}

// bulkErrors adds its errors to a job that was read.
func (d *Desk) bulkErrors(ctx context.Context, b *domain.Bulk) error {
	row := &domain.BulkErrors{BulkID: b.ID, WorkspaceID: b.WorkspaceID}
	if b.Rejected+b.Failed > 0 {
		_, err := d.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return record.StoreError(err)
		}
	}
	if len(row.Errors) > 0 {
		b.Errors = row.Errors
	}
	if b.Errors == nil {
		b.Errors = []domain.BulkError{}
	}
	return nil
}

// ListBulks reads a page of jobs.
func (d *Desk) ListBulks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Bulk], error) {
	l, err := record.List[domain.Bulk](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixBulk, q, nil)
	for _, b := range l.Data {
		if err == nil {
			err = d.bulkErrors(ctx, b)
		}
		d.standingBulk(b)
	}
	return l, err
}

// standingBulk says what a job waits for now.
func (d *Desk) standingBulk(b *domain.Bulk) *domain.Bulk {
	if s := d.standOf(b.ID); s != nil && !b.Final() {
		b.Waiting, b.WaitingUntil = s.now()
	}
	return b
}

// CancelBulk ends a job: what was done stays, and nothing more is begun after
// the answer.
func (d *Desk) CancelBulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error) {
	b, err := d.Bulk(ctx, p, id)
	if err != nil {
		return nil, err
	}
	name := b.WorkspaceID + "/" + b.ID
	if b.Type == domain.BulkDNC { // its numbers are kept apart from its row, and so from the cancellation
		d.jobs.Stop(name)
	}
	c, err := d.cancelBulk(ctx, p, b.ID)
	if err != nil {
		d.RunBulk(b)
		return nil, err
	}
	d.jobs.End(name)
	return c, d.bulkErrors(ctx, c)
}

func (d *Desk) cancelBulk(ctx context.Context, p domain.Principal, id string) (*domain.Bulk, error) {
	return record.Update(ctx, d.store, p, domain.PrefixBulk, id, func(b *domain.Bulk) error {
		switch b.Status {
		case domain.BulkCompleted:
			return domain.Errorf(domain.CodeInvalidState, "the job is over").With("current_status", b.Status).
				With("allowed_from", []domain.BulkStatus{domain.BulkQueued, domain.BulkRunning})
		case domain.BulkQueued, domain.BulkRunning:
			b.Cancel(record.Now())
		case domain.BulkCancelled:
		}
		return nil
	}, func(c *commit.Change, b *domain.Bulk) error {
		blank, err := record.BlankBulkChunks(ctx, d.store, b)
		c.Puts = append(c.Puts, blank...)
		return record.StoreError(err)
	})
}

// BulkItems reads a page of a job's items, in their order.
func (d *Desk) BulkItems(ctx context.Context, p domain.Principal, id string, q bulk.ItemQuery) (record.Page[*domain.BulkItem], error) {
	out := record.Page[*domain.BulkItem]{Data: []*domain.BulkItem{}}
	b, err := d.Bulk(ctx, p, id)
	if err != nil {
		return out, err
	}
	at := 0
	if q.Cursor != "" {
		if at, err = strconv.Atoi(q.Cursor); err != nil || at < 0 || at > b.Total {
			return out, record.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not one that a page before returned")
		}
	}
	if !q.Created.Contains(b.CreatedAt) {
		return out, nil
	}
	for i := at / domain.BulkChunkSize; i*domain.BulkChunkSize < b.Total; i++ {
		items, err := d.itemsOf(ctx, b, i)
		if err != nil {
			return out, err
		}
		for _, item := range items {
			if item.Index < at || q.Status != "" && item.Status != q.Status {
				continue
			}
			if len(out.Data) == q.Limit {
				out.Next = strconv.Itoa(item.Index)
				return out, nil
			}
			item.CreatedAt = b.CreatedAt
			out.Data = append(out.Data, item)
		}
	}
	return out, nil
}

// itemsOf are the items of a chunk with what became of them.
func (d *Desk) itemsOf(ctx context.Context, b *domain.Bulk, index int) ([]*domain.BulkItem, error) {
	chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: index}
	if _, err := d.store.Get(ctx, chunk); err != nil {
		return nil, record.StoreError(err)
	}
	start := index * domain.BulkChunkSize
	idle, stand := domain.ItemPending, d.standOf(b.ID)
	switch b.Status {
	case domain.BulkCompleted: // only what did not succeed has rows of contacts and numbers
		idle = domain.ItemDone
	case domain.BulkCancelled:
		idle = domain.ItemCancelled
	case domain.BulkQueued, domain.BulkRunning:
	}
	items := make([]*domain.BulkItem, len(chunk.Entries))
	for i, e := range chunk.Entries {
		items[i] = &domain.BulkItem{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: start + i, Status: idle}
		if e.Error != nil {
			items[i].Status, items[i].Code, items[i].Message, items[i].Param = domain.ItemRejected, e.Error.Code, e.Error.Message, e.Error.Param
		} else if idle == domain.ItemPending && stand != nil {
			if until, waits := stand.until(start + i); waits {
				items[i].Status, items[i].Until = domain.ItemWaiting, &until
			}
		}
	}
	after := ""
	if start > 0 {
		after = (&domain.BulkItem{BulkID: b.ID, Index: start - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "bulk_item", Workspace: b.WorkspaceID, ID: b.ID + "/"}
	err := d.store.Under(ctx, prefix, after, len(items), func() domain.Record { return &domain.BulkItem{} }, func(r domain.Record) error {
		if item, ok := r.(*domain.BulkItem); ok && item.Index-start < len(items) {
			items[item.Index-start] = item
		}
		return nil
	})
	return items, record.StoreError(err)
}

// resumeJobs goes on with what an earlier process was doing.
func (d *Desk) resumeJobs(ctx context.Context, workspaceID string) error {
	if err := commit.Each(ctx, d.store, "export", workspaceID, "open", d.BeginExport); err != nil {
		return err
	}
	if err := commit.Each(ctx, d.store, "data_request", workspaceID, "open", d.BeginDataRequest); err != nil {
		return err
	}
	return commit.Each(ctx, d.store, "bulk", workspaceID, "open", d.RunBulk)
}

// sweepBulks deletes jobs that have been over for long, a few per visit.
func (d *Desk) sweepBulks(ctx context.Context, workspaceID string) error {
	var old []*domain.Bulk
	q := commit.Query{
		Kind: "bulk", Workspace: workspaceID, Index: "over", Oldest: true, Limit: 10, To: record.IDAt(domain.PrefixBulk, time.Now().Add(-bulkFor)),
	}
	_, err := d.store.List(ctx, q, func() domain.Record { return &domain.Bulk{} }, func(r domain.Record) error {
		if b, ok := r.(*domain.Bulk); ok && b.CompletedAt != nil && time.Since(*b.CompletedAt) > bulkFor {
			old = append(old, b)
		}
		return nil
	})
	for _, b := range old {
		if err == nil {
			err = d.DropBulk(ctx, b)
		}
	}
	return err
}

// DropBulk deletes a job with all that belongs to it.
func (d *Desk) DropBulk(ctx context.Context, b *domain.Bulk) error {
	for _, k := range []struct {
		kind  string
		fresh func() domain.Record
	}{
		{"bulk_item", func() domain.Record { return &domain.BulkItem{} }},
		{"bulk_chunk", func() domain.Record { return &domain.BulkChunk{} }},
	} {
		if err := record.DeleteUnder(ctx, d.store, domain.Key{Kind: k.kind, Workspace: b.WorkspaceID, ID: b.ID + "/"}, k.fresh); err != nil {
			return err
		}
	}
	told := &domain.BulkErrors{BulkID: b.ID, WorkspaceID: b.WorkspaceID}
	_, err := d.store.Apply(ctx, commit.Change{Workspace: b.WorkspaceID, Deletes: []domain.Key{told.Key(), b.Key()}})
	return err
}
