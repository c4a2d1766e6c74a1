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

// Limits for retrying an item after a temporary error. The delay is the error's retry_after within these bounds. After
// maxUnknownErrors unknown errors the item fails.
const (
	minRetryDelay    = time.Second
	maxRetryDelay    = 30 * time.Second
	maxUnknownErrors = 5
)

// placeCalls places the calls of a job one by one, each as soon as it has a call permit. It requests permits with the
// weight of a campaign, so that the permits reserved for single calls stay free. A call outside its calling hours
// does not delay the calls that follow it in the job.
func (r *run) placeCalls(ctx context.Context) error {
	pid, err := r.service.cfg.Permits.OutboundLinesPID(r.job.WorkspaceID, r.job.Environment)
	if err != nil {
		return err
	}
	permits := lines.NewPermitWaiter(r.service.cfg.System, pid)
	defer permits.Close()
	processed, err := r.processedItems(ctx)
	if err != nil {
		return err
	}
	for index, o := range r.items(ctx) {
		if index < 0 || o.Call == nil {
			return errUnreadableItems
		}
		if processed[index] {
			continue
		}
		if err := r.placeCall(ctx, permits, index, *o.Call); err != nil {
			return err
		}
		if err := r.placeDue(ctx, permits); err != nil {
			return err
		}
	}
	return r.placeHeld(ctx, permits)
}

// placeCall places one call, or holds it until its calling hours begin. It retries after temporary errors. It stores
// any other error as the result of the item.
func (r *run) placeCall(ctx context.Context, permits *lines.PermitWaiter, index int, o domain.NewCall) error {
	for unknown := 0; ; {
		var committed func()
		_, err := r.service.cfg.PlaceCall(ctx, r.principal, Placement{
			Order: o, CallID: mailbox.NewID(domain.PrefixCall),
			Permit: func(ctx context.Context) (lines.Permit, error) {
				r.wait.setReason(waitPermit)
				defer r.wait.setReason("")
				return permits.WaitForPermit(ctx)
			},
			More: func(c *commit.Change, call *domain.Call) {
				item := r.item(index, nil)
				item.ResultID = call.ID
				committed = r.addResult(c, item)
			},
		})
		switch {
		case err == nil:
			committed()
			r.wait.release(index)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case committed != nil: // the outcome of the commit is unknown; the next run reads the stored rows
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

// placeDue places the held calls whose calling hours have begun.
func (r *run) placeDue(ctx context.Context, permits *lines.PermitWaiter) error {
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
			return errUnreadableItems
		}
		if err := r.placeCall(ctx, permits, index, *o.Call); err != nil {
			return err
		}
	}
	return nil
}

// placeHeld waits until the calling hours of each held call begin, and places these calls.
func (r *run) placeHeld(ctx context.Context, permits *lines.PermitWaiter) error {
	for {
		if err := r.placeDue(ctx, permits); err != nil {
			return err
		}
		open, next := r.wait.due(time.Now())
		switch {
		case len(open) > 0:
			continue
		case next.IsZero():
			return nil
		}
		r.wait.setReason(waitCallingHours)
		err := record.Sleep(ctx, min(max(time.Until(next), 0)+time.Millisecond, maxSleep))
		r.wait.setReason("")
		if err != nil {
			return err
		}
	}
}

// processedItems returns the indexes of the items that have a result, from job.Next on. The items between them were
// held by an earlier run until their calling hours begin.
func (r *run) processedItems(ctx context.Context) (map[int]bool, error) {
	processed, after := make(map[int]bool), ""
	if r.job.Next > 0 {
		after = (&domain.BulkItem{BulkID: r.job.ID, Index: r.job.Next - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "bulk_item", Workspace: r.job.WorkspaceID, ID: r.job.ID + "/"}
	err := r.service.store.Under(ctx, prefix, after, r.job.Total, func() domain.Record { return &domain.BulkItem{} }, func(rec domain.Record) error {
		if item, ok := rec.(*domain.BulkItem); ok {
			processed[item.Index] = true
		}
		return nil
	})
	return processed, err
}

// retryDelay returns the delay before an item with this error is tried again.
func retryDelay(err error) time.Duration {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		if s, ok := e.Extra["retry_after"].(int); ok {
			return min(max(time.Duration(s)*time.Second, minRetryDelay), maxRetryDelay)
		}
	}
	return minRetryDelay
}

// waitReason returns the value of the API field waiting for a temporary error of a call.
func waitReason(err error) string {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		if reason, ok := e.Extra["reason"].(string); ok {
			return reason
		}
	}
	return waitTrunk
}

// closedUntil reports whether err is outside_calling_hours, and at which time the calling hours begin.
func closedUntil(err error) (time.Time, bool) {
	e, ok := errors.AsType[*domain.Error](err)
	if !ok || e.Code != domain.CodeOutsideCallingHours {
		return time.Time{}, false
	}
	t, ok := e.Extra["next_allowed_at"].(time.Time)
	return t, ok
}
