package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// An item that has failed temporarily is tried again after the delay that its error
// names, within these bounds; after an unknown error maxUnknownErrors times.
const (
	retryMin         = time.Second
	retryMax         = 30 * time.Second
	maxUnknownErrors = 5
)

// placeCalls places one call after another, each as soon as it has a permit. It waits
// for permits with the weight of a campaign, so that the permits that are kept for
// single calls stay free. A call outside its calling hours lets the others pass.
func (r *run) placeCalls(ctx context.Context) error {
	pid, err := r.service.cfg.Permits.OutboundLinesPID(r.job.WorkspaceID, r.job.Environment)
	if err != nil {
		return err
	}
	w := lines.NewPermitWaiter(r.service.cfg.System, pid)
	defer w.Close()
	settled, err := r.settledItems(ctx)
	if err != nil {
		return err
	}
	for index, o := range r.items(ctx) {
		if index < 0 || o.Call == nil {
			return errUnreadable
		}
		if settled[index] {
			continue
		}
		if err := r.placeCall(ctx, w, index, *o.Call); err != nil {
			return err
		}
		if err := r.placeDue(ctx, w); err != nil {
			return err
		}
	}
	return r.placeHeld(ctx, w)
}

// placeCall places one call, or holds it until its calling hours open. It tries again
// after temporary errors, and stores others as the error of the item.
func (r *run) placeCall(ctx context.Context, w *lines.PermitWaiter, index int, o domain.NewCall) error {
	for unknown := 0; ; {
		var committed func()
		_, err := r.service.cfg.PlaceCall(ctx, r.principal, Placement{
			Order: o, CallID: mailbox.NewID(domain.PrefixCall),
			Permit: func(ctx context.Context) (lines.Permit, error) {
				r.wait.setReason(forPermit)
				defer r.wait.setReason("")
				return w.WaitForPermit(ctx)
			},
			More: func(c *commit.Change, call *domain.Call) {
				item := r.item(index, nil)
				item.ResultID = call.ID
				committed = r.settle(c, item)
			},
		})
		switch {
		case err == nil:
			committed()
			r.wait.release(index)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case committed != nil: // the commit was tried: what is stored says what became of it
			return err
		case !record.IsRetryable(err), domain.CodeOf(err) == "" && unknown == maxUnknownErrors:
			if until, closed := closedUntil(err); closed {
				r.wait.hold(index, until)
				return nil
			}
			if err = r.fail(ctx, index, err); err == nil {
				r.wait.release(index)
			}
			return err
		case domain.CodeOf(err) == "":
			unknown++
		}
		r.wait.setReason(waitReason(err))
		err = record.Sleep(ctx, retryDelay(err))
		r.wait.setReason("")
		if err != nil {
			return err
		}
	}
}

// placeDue places the held calls whose hours have opened.
func (r *run) placeDue(ctx context.Context, w *lines.PermitWaiter) error {
	open, _ := r.wait.due(time.Now())
	var chunk *domain.BulkChunk
	for _, index := range open {
		if at := index / domain.BulkChunkSize; chunk == nil || chunk.Index != at {
			chunk = &domain.BulkChunk{BulkID: r.job.ID, WorkspaceID: r.job.WorkspaceID, Index: at}
			if _, err := r.service.store.Get(ctx, chunk); err != nil {
				return err
			}
		}
		var o NewItem
		if err := domain.ReadRow(chunk.Entries[index%domain.BulkChunkSize].Order, &o); err != nil || o.Call == nil {
			return errUnreadable
		}
		if err := r.placeCall(ctx, w, index, *o.Call); err != nil {
			return err
		}
	}
	return nil
}

// placeHeld waits for the calls that are held, and places them, until none is left.
func (r *run) placeHeld(ctx context.Context, w *lines.PermitWaiter) error {
	for {
		if err := r.placeDue(ctx, w); err != nil {
			return err
		}
		open, next := r.wait.due(time.Now())
		switch {
		case len(open) > 0:
			continue
		case next.IsZero():
			return nil
		}
		r.wait.setReason(forHours)
		err := record.Sleep(ctx, min(max(time.Until(next), 0)+time.Millisecond, maxSleep))
		r.wait.setReason("")
		if err != nil {
			return err
		}
	}
}

// settledItems returns the items from the job's Next on that are settled. Those between
// them wait for their calling hours.
func (r *run) settledItems(ctx context.Context) (map[int]bool, error) {
	settled, after := make(map[int]bool), ""
	if r.job.Next > 0 {
		after = (&domain.BulkItem{BulkID: r.job.ID, Index: r.job.Next - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "bulk_item", Workspace: r.job.WorkspaceID, ID: r.job.ID + "/"}
	err := r.service.store.Under(ctx, prefix, after, r.job.Total, func() domain.Record { return &domain.BulkItem{} }, func(rec domain.Record) error {
		if item, ok := rec.(*domain.BulkItem); ok {
			settled[item.Index] = true
		}
		return nil
	})
	return settled, err
}

// retryDelay returns how long to wait before another try.
func retryDelay(err error) time.Duration {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		if s, ok := e.Extra["retry_after"].(int); ok {
			return min(max(time.Duration(s)*time.Second, retryMin), retryMax)
		}
	}
	return retryMin
}

// waitReason returns what a call waits for that was refused for now.
func waitReason(err error) string {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		if why, halted := e.Extra["reason"].(string); halted {
			return why
		}
	}
	return forTrunk
}

// closedUntil says whether an error is outside_calling_hours, and when they open.
func closedUntil(err error) (time.Time, bool) {
	e, ok := errors.AsType[*domain.Error](err)
	if !ok || e.Code != domain.CodeOutsideCallingHours {
		return time.Time{}, false
	}
	t, ok := e.Extra["next_allowed_at"].(time.Time)
	return t, ok
}
