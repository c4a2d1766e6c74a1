package actors

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// How long an item rests that cannot be done now: as long as it is told to,
// within these.
const (
	itemRest     = time.Second
	itemRestMost = 30 * time.Second
	strangeMost  = 5 // times that an error is hoped to pass that nobody knows
)

// RunBulk begins a job's work beside the requests.
func (d *Desk) RunBulk(b *domain.Bulk) {
	if b.Final() || d.node.Quarantined() && b.IsOutbound() {
		return
	}
	d.jobs.Begin(d.node.Context(), b.WorkspaceID+"/"+b.ID, func(ctx context.Context) error {
		stand := new(bulkStand)
		d.waits.Store(b.ID, stand)
		defer d.waits.Delete(b.ID)
		for at := -1; ; {
			left, err := d.runBulk(ctx, b.WorkspaceID, b.ID, stand)
			if err == nil || ctx.Err() != nil || left == at { // no step further than the time before
				return err
			}
			at = left
		}
	})
}

// bulkRun is one run through what is left of a job. It is the only writer of
// the job's row, apart from whoever cancels: after any error it is begun again
// from what is stored.
type bulkRun struct {
	desk    *Desk
	by      domain.Principal
	row     domain.Bulk
	version uint64
	stand   *bulkStand
	low     int // no item before it is pending
	walked  int // no item from it on was looked at
	told    int // of its errors stand in their row
}

// runBulk does what is left of a job and answers how much is left still.
func (d *Desk) runBulk(ctx context.Context, workspaceID, id string, stand *bulkStand) (left int, err error) {
	r := &bulkRun{desk: d, row: domain.Bulk{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}, stand: stand}
	stand.clear()
	r.version, err = d.store.Get(ctx, &r.row)
	if errors.Is(err, domain.ErrNotFound) || err == nil && r.row.Final() {
		return 0, nil
	}
	if err == nil {
		r.low, r.walked = r.row.Next, r.row.Next
		ctx = tracing.WithRequest(ctx, r.row.RequestTrace)
		err = r.begin(ctx)
	}
	if err == nil {
		err = r.rest(ctx)
	}
	return r.row.Pending, err
}

// begin reads what has been told of the job's errors.
func (r *bulkRun) begin(ctx context.Context) error {
	told := &domain.BulkErrors{BulkID: r.row.ID, WorkspaceID: r.row.WorkspaceID}
	_, err := r.desk.store.Get(ctx, told)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	r.row.Errors, r.told = told.Errors, len(told.Errors)
	return err
}

// rest is what is left of the job.
func (r *bulkRun) rest(ctx context.Context) (err error) {
	r.by = domain.Principal{WorkspaceID: r.row.WorkspaceID, Environment: r.row.Environment, Operator: r.row.Operator, KeyID: r.row.KeyID}
	if r.row.Status == domain.BulkQueued {
		if err = r.apply(ctx, func(b *domain.Bulk, _ *commit.Change) { b.Status = domain.BulkRunning }); err != nil {
			return err
		}
	}
	switch r.row.Type {
	case domain.BulkCalls:
		err = r.calls(ctx)
	case domain.BulkContacts:
		return r.contacts(ctx)
	case domain.BulkDNC:
		err = r.numbers(ctx)
	case domain.BulkSMS:
		err = r.messages(ctx)
	}
	if err != nil {
		return err
	}
	blank, err := record.BlankBulkChunks(ctx, r.desk.store, &r.row)
	if err != nil {
		return err
	}
	return r.apply(ctx, func(b *domain.Bulk, c *commit.Change) { over(b, c, blank) })
}

// over ends a job, and forgets its orders.
func over(b *domain.Bulk, c *commit.Change, blank []domain.Record) {
	c.Puts = append(c.Puts, blank...)
	now := record.Now()
	b.Status, b.CompletedAt, b.Next = domain.BulkCompleted, &now, b.Total
	b.Done, b.Pending = b.Done+b.Pending, 0
}

// change adds the job's row, as f leaves it, to a commit. kept has to be called
// once that was made.
func (r *bulkRun) change(c *commit.Change, f func(*domain.Bulk, *commit.Change)) (kept func()) {
	next := r.row
	next.Errors = slices.Clip(next.Errors)
	next.UpdatedAt = record.Now()
	f(&next, c)
	c.Guards = append(c.Guards, commit.Guard{Key: next.Key(), Version: r.version})
	c.Puts = append(c.Puts, next.Rows(r.told)...)
	return func() { r.row, r.version, r.told = next, r.version+1, len(next.Errors) }
}

func (r *bulkRun) apply(ctx context.Context, f func(*domain.Bulk, *commit.Change)) error {
	c := commit.Change{Workspace: r.row.WorkspaceID}
	kept := r.change(&c, f)
	_, err := r.desk.store.Apply(ctx, c)
	if err == nil {
		kept()
	}
	return err
}

// settle adds an item's end and the job's count of it to a commit.
func (r *bulkRun) settle(c *commit.Change, item domain.BulkItem) (kept func()) {
	next := r.firstOpen(item.Index)
	c.Guards = append(c.Guards, commit.Absent(item.Key()))
	c.Puts = append(c.Puts, &item)
	return r.change(c, func(b *domain.Bulk, _ *commit.Change) {
		b.Pending--
		b.Next = next
		if item.Status == domain.ItemDone {
			b.Done++
			return
		}
		b.Failed++
		b.Blame(domain.BulkError{Index: item.Index, Code: item.Code, Message: item.Message, Param: item.Param})
	})
}

func (r *bulkRun) item(index int, err error) domain.BulkItem {
	item := domain.BulkItem{BulkID: r.row.ID, WorkspaceID: r.row.WorkspaceID, Index: index, Status: domain.ItemDone}
	if e := blame(index, err); e != nil {
		item.Status, item.Code, item.Message, item.Param = domain.ItemFailed, e.Code, e.Message, e.Param
	}
	return item
}

// orders walks what is left of a job, in its order.
func (r *bulkRun) orders(ctx context.Context) iter.Seq2[int, bulk.NewItem] {
	return func(yield func(int, bulk.NewItem) bool) {
		for i := r.row.Next / domain.BulkChunkSize; i*domain.BulkChunkSize < r.row.Total; i++ {
			chunk := &domain.BulkChunk{BulkID: r.row.ID, WorkspaceID: r.row.WorkspaceID, Index: i}
			if _, err := r.desk.store.Get(ctx, chunk); err != nil {
				yield(-1, bulk.NewItem{})
				return
			}
			for j, e := range chunk.Entries {
				at := i*domain.BulkChunkSize + j
				if e.Error != nil || at < r.row.Next {
					continue
				}
				var o bulk.NewItem
				if err := domain.ReadRow(e.Order, &o); err != nil {
					o = bulk.NewItem{}
				}
				if !yield(at, o) {
					return
				}
			}
		}
	}
}

var errOrders = errors.New("the orders of a bulk job cannot be read")

// calls places one call after another, each as soon as a line is free for it:
// in the row of the campaigns, so that the lines that are kept for single calls
// stay free. One that is outside its calling hours lets the others pass.
func (r *bulkRun) calls(ctx context.Context) error {
	t := r.desk.node.tree(r.row.WorkspaceID)
	if t == nil {
		return r.desk.node.WorkspaceNotFound()
	}
	w := lines.NewWaiter(r.desk.node.sys, t.lines(r.row.Environment))
	defer w.Close()
	over, err := r.settled(ctx)
	if err != nil {
		return err
	}
	for index, o := range r.orders(ctx) {
		if index < 0 || o.Call == nil {
			return errOrders
		}
		if over[index] {
			continue
		}
		if err := r.call(ctx, w, index, *o.Call); err != nil {
			return err
		}
		if err := r.opened(ctx, w); err != nil {
			return err
		}
	}
	return r.closed(ctx, w)
}

// call places one call, or holds it until its calling hours open. What can be
// done another time waits; what cannot is kept as the item's error.
func (r *bulkRun) call(ctx context.Context, w *lines.Waiter, index int, o domain.NewCall) error {
	d := r.desk
	for strange := 0; ; {
		var kept func()
		_, err := d.Place(ctx, r.by, calls.Placement{
			Order: o, CallID: mailbox.NewID(domain.PrefixCall),
			Permit: func(ctx context.Context) (lines.Permit, error) {
				r.stand.waits(forLine)
				defer r.stand.waits("")
				return w.Permit(ctx)
			},
			More: func(c *commit.Change, call *domain.Call) {
				item := r.item(index, nil)
				item.ResultID = call.ID
				kept = r.settle(c, item)
			},
		})
		switch {
		case err == nil:
			kept()
			r.stand.release(index)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case kept != nil: // the commit was tried: what is stored says what became of it
			return err
		case !record.IsRetryable(err), domain.CodeOf(err) == "" && strange == strangeMost:
			if until, closed := closedUntil(err); closed {
				r.stand.hold(index, until)
				return nil
			}
			if err = r.fail(ctx, index, err); err == nil {
				r.stand.release(index)
			}
			return err
		case domain.CodeOf(err) == "":
			strange++
		}
		r.stand.waits(reasonOf(err))
		err = record.Wait(ctx, retryDelay(err))
		r.stand.waits("")
		if err != nil {
			return err
		}
	}
}

// messages queues one text message after another.
func (r *bulkRun) messages(ctx context.Context) error {
	for index, o := range r.orders(ctx) {
		if index < 0 || o.Message == nil {
			return errOrders
		}
		var kept func()
		id := mailbox.NewID(domain.PrefixMessage)
		_, err := r.desk.QueueMessage(ctx, r.by, *o.Message, id, func(c *commit.Change) {
			item := r.item(index, nil)
			item.ResultID = id
			kept = r.settle(c, item)
		})
		switch {
		case err == nil:
			kept()
		case kept != nil || record.IsRetryable(err):
			return err // what is stored says what became of it
		default:
			if err = r.fail(ctx, index, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// retryDelay returns how long to wait before another try.
func retryDelay(err error) time.Duration {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		if s, ok := e.Extra["retry_after"].(int); ok {
			return min(max(time.Duration(s)*time.Second, itemRest), itemRestMost)
		}
	}
	return itemRest
}

func (r *bulkRun) fail(ctx context.Context, index int, cause error) error {
	c := commit.Change{Workspace: r.row.WorkspaceID}
	kept := r.settle(&c, r.item(index, cause))
	_, err := r.desk.store.Apply(ctx, c)
	if err == nil {
		kept()
	}
	return err
}

// contacts adds all of a job's contacts to its campaign, in one commit with
// the job's end.
func (r *bulkRun) contacts(ctx context.Context) error {
	rows := func(yield func(domain.RawContact, error) bool) {
		for index, o := range r.orders(ctx) {
			if index < 0 || o.Contact == nil {
				yield(domain.RawContact{}, errOrders)
				return
			}
			row := *o.Contact
			row.Line = index + 1
			if !yield(row, nil) {
				return
			}
		}
	}
	blank, err := record.BlankBulkChunks(ctx, r.desk.store, &r.row)
	if err != nil {
		return err
	}
	_, err = r.desk.ImportContacts(ctx, r.by, r.row.TargetID, contactlist.ContactRows{Rows: rows}, domain.MaxBulkItems*2, func(c *commit.Change, in *contactlist.Import) {
		r.change(c, func(b *domain.Bulk, c *commit.Change) {
			for _, bad := range in.Errors {
				item := r.item(bad.Line-1, &domain.Error{Code: bad.Code, Message: bad.Message, Param: contactParam(bad.Code)})
				b.Failed, b.Pending = b.Failed+1, b.Pending-1
				b.Blame(domain.BulkError{Index: item.Index, Code: item.Code, Message: item.Message, Param: item.Param})
				c.Puts = append(c.Puts, &item)
			}
			over(b, c, blank)
		})
	})
	if err == nil || record.IsRetryable(err) || ctx.Err() != nil {
		return err
	}
	if c, gone := r.desk.Campaign(ctx, r.by, r.row.TargetID); gone == nil && !c.Status.Final() && domain.CodeOf(err) == domain.CodeInvalidState {
		return err // another upload is running
	}
	return r.failAll(ctx, err)
}

// contactParam is the parameter of a contact that an error is about.
func contactParam(code domain.Code) string {
	if code == "missing_variable" {
		return "context"
	}
	if code == "invalid_timezone" {
		return "timezone"
	}
	return "phone"
}

// failAll ends a job of which nothing can be done any more.
func (r *bulkRun) failAll(ctx context.Context, cause error) error {
	var left []domain.BulkItem
	for index := range r.orders(ctx) {
		if index < 0 {
			return errOrders
		}
		left = append(left, r.item(index, cause))
	}
	blank, err := record.BlankBulkChunks(ctx, r.desk.store, &r.row)
	if err != nil {
		return err
	}
	return r.apply(ctx, func(b *domain.Bulk, c *commit.Change) {
		for i := range left {
			item := &left[i]
			b.Failed, b.Pending = b.Failed+1, b.Pending-1
			b.Blame(domain.BulkError{Index: item.Index, Code: item.Code, Message: item.Message, Param: item.Param})
			c.Puts = append(c.Puts, item)
		}
		over(b, c, blank)
	})
}

// numbers puts all of a job's numbers onto its list. A number stands on a list
// once, however often it is put there.
func (r *bulkRun) numbers(ctx context.Context) error {
	_, err := r.desk.ImportDNC(ctx, r.by, r.row.TargetID, func(yield func(domain.RawNumber, error) bool) {
		for index, o := range r.orders(ctx) {
			if index < 0 || o.Number == nil {
				yield(domain.RawNumber{}, errOrders)
				return
			}
			if !yield(*o.Number, nil) {
				return
			}
		}
	})
	if err == nil || record.IsRetryable(err) || domain.CodeOf(err) == domain.CodeInvalidState {
		return err
	}
	return r.failAll(ctx, err)
}
