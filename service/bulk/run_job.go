package bulk

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/record"
)

// RunBulk runs a job in the background until the job ends. Outbound jobs do not run in a quarantined store.
func (s *Service) RunBulk(b *domain.Bulk) {
	if b.Final() || s.cfg.Node.Quarantined() && b.IsOutbound() {
		return
	}
	s.cfg.Jobs.Start(s.cfg.Node.Context(), b.WorkspaceID+"/"+b.ID, func(ctx context.Context) error {
		wait := new(waitState)
		s.running.Store(b.ID, wait)
		defer s.running.Delete(b.ID)
		for pendingBefore := -1; ; {
			pending, err := s.runOnce(ctx, b.WorkspaceID, b.ID, wait)
			if err == nil || ctx.Err() != nil || pending == pendingBefore { // done, stopped, or without progress since the previous run
				return err
			}
			pendingBefore = pending
		}
	})
}

// ResumeBulks starts the jobs of a workspace that did not end before the process was restarted.
func (s *Service) ResumeBulks(ctx context.Context, workspaceID string) error {
	return commit.ForEachRow(ctx, s.store, "bulk", workspaceID, "open", s.RunBulk)
}

// run is one pass over the pending items of a job. Apart from a cancellation, only the run writes the job's database
// row. After an error a new run continues from the stored state.
type run struct {
	service      *Service
	principal    domain.Principal
	job          domain.Bulk
	version      uint64 // version of the job's row
	wait         *waitState
	firstPending int // no item below this index is pending
	examined     int // no item at or above this index was examined
	storedErrors int // number of stored errors of the job
}

// runOnce processes the pending items of a job and returns how many items are still pending.
func (s *Service) runOnce(ctx context.Context, workspaceID, id string, wait *waitState) (pending int, err error) {
	r := &run{service: s, job: domain.Bulk{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}, wait: wait}
	wait.clear()
	r.version, err = s.store.Get(ctx, &r.job)
	if errors.Is(err, domain.ErrNotFound) || err == nil && r.job.Final() {
		return 0, nil
	}
	if err == nil {
		r.firstPending, r.examined = r.job.Next, r.job.Next
		ctx = tracing.WithRequest(ctx, r.job.RequestTrace)
		err = r.readStoredErrors(ctx)
	}
	if err == nil {
		err = r.finish(ctx)
	}
	return r.job.Pending, err
}

// readStoredErrors reads the item errors that earlier runs of the job have stored.
func (r *run) readStoredErrors(ctx context.Context) error {
	stored := &domain.BulkErrors{BulkID: r.job.ID, WorkspaceID: r.job.WorkspaceID}
	_, err := r.service.store.Get(ctx, stored)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	r.job.Errors, r.storedErrors = stored.Errors, len(stored.Errors)
	return err
}

// finish processes the pending items and completes the job.
func (r *run) finish(ctx context.Context) (err error) {
	r.principal = domain.Principal{WorkspaceID: r.job.WorkspaceID, Environment: r.job.Environment, Operator: r.job.Operator, KeyID: r.job.KeyID}
	if r.job.Status == domain.BulkQueued {
		if err = r.apply(ctx, func(b *domain.Bulk, _ *commit.Change) { b.Status = domain.BulkRunning }); err != nil {
			return err
		}
	}
	switch r.job.Type {
	case domain.BulkCalls:
		err = r.placeCalls(ctx)
	case domain.BulkContacts:
		return r.addContacts(ctx)
	case domain.BulkDNC:
		err = r.addNumbers(ctx)
	case domain.BulkSMS:
		err = r.queueMessages(ctx)
	}
	if err != nil {
		return err
	}
	blank, err := record.BlankBulkChunks(ctx, r.service.store, &r.job)
	if err != nil {
		return err
	}
	return r.apply(ctx, func(b *domain.Bulk, c *commit.Change) { complete(b, c, blank) })
}

// complete sets the status of a job to completed. It adds blank, the item chunks without their contents, to the commit.
func complete(b *domain.Bulk, c *commit.Change, blank []domain.Record) {
	c.Puts = append(c.Puts, blank...)
	now := record.Now()
	b.Status, b.CompletedAt, b.Next = domain.BulkCompleted, &now, b.Total
	b.Done, b.Pending = b.Done+b.Pending, 0
}

// addJob adds the job's database row, changed by f, to a commit. The caller must call committed after the commit has
// succeeded.
func (r *run) addJob(c *commit.Change, f func(*domain.Bulk, *commit.Change)) (committed func()) {
	next := r.job
	next.Errors = slices.Clip(next.Errors)
	next.UpdatedAt = record.Now()
	f(&next, c)
	c.Guards = append(c.Guards, commit.Guard{Key: next.Key(), Version: r.version})
	c.Puts = append(c.Puts, next.Records(r.storedErrors)...)
	return func() { r.job, r.version, r.storedErrors = next, r.version+1, len(next.Errors) }
}

// apply commits the job's database row, changed by f.
func (r *run) apply(ctx context.Context, f func(*domain.Bulk, *commit.Change)) error {
	c := commit.Change{Workspace: r.job.WorkspaceID}
	committed := r.addJob(&c, f)
	_, err := r.service.store.Apply(ctx, c)
	if err == nil {
		committed()
	}
	return err
}

// addResult adds the result of an item and the job's new counters to a commit. The caller must call committed after
// the commit has succeeded.
func (r *run) addResult(c *commit.Change, item domain.BulkItem) (committed func()) {
	next := r.nextPending(item.Index)
	c.Guards = append(c.Guards, commit.Absent(item.Key()))
	c.Puts = append(c.Puts, &item)
	return r.addJob(c, func(b *domain.Bulk, _ *commit.Change) {
		b.Pending--
		b.Next = next
		if item.Status == domain.ItemDone {
			b.Done++
			return
		}
		b.Failed++
		b.AddError(domain.BulkError{Index: item.Index, Code: item.Code, Message: item.Message, Param: item.Param})
	})
}

// item returns the result of the item with this index: done if err is nil, otherwise failed.
func (r *run) item(index int, err error) domain.BulkItem {
	item := domain.BulkItem{BulkID: r.job.ID, WorkspaceID: r.job.WorkspaceID, Index: index, Status: domain.ItemDone}
	if e := itemError(index, err); e != nil {
		item.Status, item.Code, item.Message, item.Param = domain.ItemFailed, e.Code, e.Message, e.Param
	}
	return item
}

// nextPending returns the lowest index of an item that may be pending once the item with the index processed has its
// result.
func (r *run) nextPending(processed int) int {
	r.examined = max(r.examined, processed+1)
	for ; r.firstPending < r.examined; r.firstPending++ {
		if _, waits := r.wait.until(r.firstPending); waits && r.firstPending != processed {
			break
		}
	}
	return r.firstPending
}

// items yields the pending items of a job in order. If it cannot read a chunk of items, it yields the index -1 and ends.
func (r *run) items(ctx context.Context) iter.Seq2[int, NewItem] {
	return func(yield func(int, NewItem) bool) {
		for i := r.job.Next / domain.BulkChunkSize; i*domain.BulkChunkSize < r.job.Total; i++ {
			chunk := &domain.BulkChunk{BulkID: r.job.ID, WorkspaceID: r.job.WorkspaceID, Index: i}
			if _, err := r.service.store.Get(ctx, chunk); err != nil {
				yield(-1, NewItem{})
				return
			}
			for j, e := range chunk.Entries {
				at := i*domain.BulkChunkSize + j
				if e.Error != nil || at < r.job.Next {
					continue
				}
				var o NewItem
				if err := domain.ReadRow(e.Order, &o); err != nil {
					o = NewItem{}
				}
				if !yield(at, o) {
					return
				}
			}
		}
	}
}

var errUnreadableItems = errors.New("the stored items of a bulk job cannot be read")

// fail commits the error cause as the result of an item.
func (r *run) fail(ctx context.Context, index int, cause error) error {
	c := commit.Change{Workspace: r.job.WorkspaceID}
	committed := r.addResult(&c, r.item(index, cause))
	_, err := r.service.store.Apply(ctx, c)
	if err == nil {
		committed()
	}
	return err
}

// failAll completes a job whose pending items can no longer succeed. Each of them gets the error cause as its result.
func (r *run) failAll(ctx context.Context, cause error) error {
	var failed []domain.BulkItem
	for index := range r.items(ctx) {
		if index < 0 {
			return errUnreadableItems
		}
		failed = append(failed, r.item(index, cause))
	}
	blank, err := record.BlankBulkChunks(ctx, r.service.store, &r.job)
	if err != nil {
		return err
	}
	return r.apply(ctx, func(b *domain.Bulk, c *commit.Change) {
		for i := range failed {
			item := &failed[i]
			b.Failed, b.Pending = b.Failed+1, b.Pending-1
			b.AddError(domain.BulkError{Index: item.Index, Code: item.Code, Message: item.Message, Param: item.Param})
			c.Puts = append(c.Puts, item)
		}
		complete(b, c, blank)
	})
}
