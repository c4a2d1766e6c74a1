package actors

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// sweepCalls deletes calls that ended before the workspace's retention, with
// their recordings, transcripts and SIP messages.
func (d *Desk) sweepCalls(ctx context.Context, workspaceID string, now time.Time) error {
	w := d.node.Workspace(workspaceID)
	if w == nil || w.Retention.CallDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.CallDays)
	first := record.IDAt(domain.PrefixCall, before)
	prefix := domain.Key{Kind: "call", Workspace: workspaceID, ID: string(domain.PrefixCall) + "_"}
	for after, n := "", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		var old []*domain.Call
		err := d.store.Under(ctx, prefix, after, record.SweepRows, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
			c, ok := r.(*domain.Call)
			if !ok || c.ID >= first {
				return errYoung
			}
			n, after = n+1, c.ID
			if c.Final() && c.EndedAt != nil && c.EndedAt.Before(before) {
				old = append(old, c)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errYoung) {
			return err
		}
		if err = d.DeleteCalls(ctx, workspaceID, old); err != nil {
			return err
		}
	}
	return nil
}

// sweepAccounts deletes entries of the audit log, uploads of contacts and data
// requests that the workspace keeps no longer.
func (d *Desk) sweepAccounts(ctx context.Context, workspaceID string, now time.Time) error {
	w := d.node.Workspace(workspaceID)
	if w == nil {
		return nil
	}
	r := w.Retention
	return errors.Join(
		d.sweepKind(ctx, workspaceID, "data_request", domain.PrefixData, now.AddDate(0, 0, -r.AuditDays), r.AuditDays,
			func() domain.Record { return &domain.DataRequest{} }, func(row domain.Record, _ time.Time) bool {
				r, ok := row.(*domain.DataRequest)
				return ok && (r.Status == domain.DataExpired || r.Type == domain.DataErase && r.Status == domain.DataCompleted)
			}),
		d.sweepKind(ctx, workspaceID, "audit", domain.PrefixAudit, now.AddDate(0, 0, -r.AuditDays), r.AuditDays,
			func() domain.Record { return &domain.AuditEntry{} }, func(domain.Record, time.Time) bool { return true }),
		d.sweepKind(ctx, workspaceID, "upload", domain.PrefixUpload, now.AddDate(0, 0, -r.UploadDays), r.UploadDays,
			func() domain.Record { return &domain.Upload{} }, func(row domain.Record, _ time.Time) bool {
				u, ok := row.(*domain.Upload)
				return ok && u.Status != domain.UploadReceiving
			}),
	)
}

// sweepLedger deletes ledger rows of attempts that were opened before the
// workspace's retention. The counts of usage per day and month stay.
func (d *Desk) sweepLedger(ctx context.Context, workspaceID string, now time.Time) error {
	w := d.node.Workspace(workspaceID)
	if w == nil || w.Retention.LedgerDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.LedgerDays).UTC()
	bound := (&domain.LedgerRow{OpenedAt: before}).Sort()
	made := w.CreatedAt.UTC()
	for month := time.Date(made.Year(), made.Month(), 1, 0, 0, 0, 0, time.UTC); !month.After(before); month = month.AddDate(0, 1, 0) {
		for {
			change := commit.Change{Workspace: workspaceID}
			q := commit.Query{
				Kind: "ledger", Workspace: workspaceID, Index: "month=" + month.Format("2006-01"), Oldest: true, Limit: record.SweepRows, To: bound,
			}
			_, err := d.store.List(ctx, q, func() domain.Record { return &domain.LedgerRow{} }, func(r domain.Record) error {
				change.Deletes = append(change.Deletes, r.Key())
				return nil
			})
			if err != nil {
				return err
			}
			if len(change.Deletes) == 0 {
				break
			}
			if _, err = d.store.Apply(ctx, change); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepDecisions deletes rows of logs of decisions that the workspace keeps no
// longer, from the beginning of each log. A DecisionLogStart says where the log
// begins now, so that it still can be verified.
func (d *Desk) sweepDecisions(ctx context.Context, workspaceID string, now time.Time) error {
	w := d.node.Workspace(workspaceID)
	if w == nil || w.Retention.DecisionDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.DecisionDays)
	campaigns, err := d.campaignIDs(ctx, workspaceID)
	if err != nil {
		return err
	}
	for _, id := range campaigns {
		for more := true; more && ctx.Err() == nil; {
			if more, err = d.trimDecisions(ctx, workspaceID, id, before); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Desk) campaignIDs(ctx context.Context, workspaceID string) (ids []string, err error) {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		err = errors.Join(err, commit.Each(ctx, d.store, "campaign", workspaceID, "env="+string(env), func(c *domain.Campaign) { ids = append(ids, c.ID) }))
	}
	return ids, err
}

// trimDecisions deletes one batch of the old rows of a log.
func (d *Desk) trimDecisions(ctx context.Context, workspaceID, campaignID string, before time.Time) (more bool, err error) {
	start := &domain.DecisionLogStart{WorkspaceID: workspaceID, CampaignID: campaignID}
	if _, err = d.store.Get(ctx, start); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return false, err
	}
	change := commit.Change{Workspace: workspaceID}
	prefix := domain.Key{Kind: "decision", Workspace: workspaceID, ID: campaignID + "/"}
	err = d.store.Under(ctx, prefix, "", domain.DecisionRowsPerRead, func() domain.Record { return &domain.DecisionPage{} }, func(r domain.Record) error {
		page, ok := r.(*domain.DecisionPage)
		if n := len(page.Decisions); !ok || n == 0 || !page.Decisions[n-1].At.Before(before) {
			return errYoung
		}
		start.Seq, start.Hash = page.Seq, page.Hash
		change.Deletes = append(change.Deletes, page.Key())
		return nil
	})
	if err != nil && !errors.Is(err, errYoung) {
		return false, err
	}
	if len(change.Deletes) == 0 {
		return false, nil
	}
	start.Seal(d.node.cfg.Keys.DecisionLogKey(workspaceID))
	change.Puts = append(change.Puts, start)
	_, err = d.store.Apply(ctx, change)
	return len(change.Deletes) == domain.DecisionRowsPerRead, err
}
