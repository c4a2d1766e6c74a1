package campaigns

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

const (
	deleteRetryDelay = 2 * time.Second
	maxRecordingWait = 10 * time.Minute // longest wait for a recording that is being stored
	callsPerRead     = 100
)

// DeleteCampaign deletes a draft, or a campaign that has ended and has no live calls. The API does not show the campaign
// any more when DeleteCampaign returns. A background task deletes its contacts, results, calls, transcripts, recordings,
// webhook endpoints, exports and bulk jobs. The billing ledger keeps its lines, which contain no phone numbers.
func (s *Service) DeleteCampaign(ctx context.Context, p domain.Principal, id string) error {
	c, err := s.Campaign(ctx, p, id)
	if err != nil {
		return err
	}
	unlock, err := s.contacts.LockUploads(c)
	if err != nil {
		return err
	}
	defer unlock()
	hooks, err := s.markDeleted(ctx, p, c.ID)
	if err != nil {
		return err
	}
	for _, w := range hooks {
		s.webhooks.WebhookDeleted(w)
	}
	s.environments.Remove(p.WorkspaceID, c.ID)
	if pid := s.actors.CampaignPID(p.WorkspaceID, c.ID); s.actors.IsRunning(pid) {
		s.system.Root.Send(pid, campaign.RowDeleted{})
	}
	s.background.RunInBackground(func() {
		s.deleteData(s.background.Context(), &domain.DeletedCampaign{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Environment: c.Environment})
	})
	return nil
}

// markDeleted deletes the database rows of a campaign and of its webhook endpoints in one commit. The commit adds a
// DeletedCampaign row, which records that the campaign's data must still be deleted.
func (s *Service) markDeleted(ctx context.Context, p domain.Principal, id string) ([]*domain.Webhook, error) {
	for range record.MaxTries {
		c, version, err := record.Get[domain.Campaign](ctx, s.store, p, domain.PrefixCampaign, id)
		if err != nil {
			return nil, err
		}
		progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
		progressVersion, err := s.store.Get(ctx, progress)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, commit.StoreError(err)
		}
		switch {
		case c.Status != domain.CampaignDraft && !c.Status.Final():
			return nil, domain.Errorf(domain.CodeInvalidState, "a campaign that is %s cannot be deleted; cancel it first", c.Status).With("current_status", c.Status).
				With("allowed_from", []domain.CampaignStatus{domain.CampaignDraft, domain.CampaignCompleted, domain.CampaignCancelled})
		case progress.InProgress > 0:
			return nil, domain.Errorf(domain.CodeInvalidState, "%d calls of the campaign are still live; wait for their end or hang up", progress.InProgress).With("current_status", c.Status).
				With("active_calls", progress.InProgress)
		}
		var hooks []*domain.Webhook
		if err = commit.ForEachRow(ctx, s.store, "webhook", c.WorkspaceID, "campaign="+c.ID, func(w *domain.Webhook) { hooks = append(hooks, w) }); err != nil {
			return nil, commit.StoreError(err)
		}
		change := commit.Change{
			Workspace: c.WorkspaceID, Guards: []commit.Guard{{Key: c.Key(), Version: version}, {Key: progress.Key(), Version: progressVersion}},
			Puts:    []domain.Record{&domain.DeletedCampaign{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Environment: c.Environment, At: record.Now()}},
			Deletes: []domain.Key{c.Key(), progress.Key(), (&domain.PinnedScript{WorkspaceID: c.WorkspaceID, CampaignID: c.ID}).Key()},
		}
		for _, w := range hooks {
			change.Deletes = append(change.Deletes, w.Key())
		}
		if _, err = s.store.Apply(ctx, change); errors.Is(err, domain.ErrConflict) {
			continue
		}
		return hooks, commit.StoreError(err)
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "other requests keep changing the campaign; try again").With("retry_after", 1)
}

// ResumeDeletions continues to delete the data of deleted campaigns after a restart.
func (s *Service) ResumeDeletions(ctx context.Context, workspaceID string) error {
	var deleted []*domain.DeletedCampaign
	if err := commit.ForEachRow(ctx, s.store, "doomed", workspaceID, "all", func(x *domain.DeletedCampaign) { deleted = append(deleted, x) }); err != nil {
		return err
	}
	for _, x := range deleted {
		s.deleteData(ctx, x)
	}
	return nil
}

// deleteData deletes the data of a deleted campaign, with retries, until no data is left or ctx ends.
func (s *Service) deleteData(ctx context.Context, x *domain.DeletedCampaign) {
	for since := time.Now(); ctx.Err() == nil; {
		done, err := s.deleteDataOnce(ctx, x, time.Since(since) > maxRecordingWait)
		if done {
			return
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("deleting the data of a campaign failed; trying again", slog.String("campaign_id", x.CampaignID), slog.Any("error", err))
		}
		wait := time.NewTimer(deleteRetryDelay)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
		}
	}
}

// deleteDataOnce deletes the data of a deleted campaign. If force is not set, it skips calls whose recordings are still
// being stored, and done is false. It deletes the DeletedCampaign row last.
func (s *Service) deleteDataOnce(ctx context.Context, x *domain.DeletedCampaign, force bool) (done bool, err error) {
	for _, k := range campaignRowKinds() {
		if err = s.deleteRowsOfKind(ctx, x, k.Kind, k.Fresh); err != nil {
			return false, err
		}
	}
	if err = s.deleteIndexedRows(ctx, x, "upload", func() domain.Record { return &domain.Upload{} }); err != nil {
		return false, err
	}
	if err = s.deleteJobs(ctx, x); err != nil {
		return false, err
	}
	if done, err = s.deleteCalls(ctx, x, force); err != nil || !done {
		return false, err
	}
	_, err = s.store.Apply(ctx, commit.Change{Workspace: x.WorkspaceID, Deletes: []domain.Key{x.Key()}})
	return err == nil, err
}

// campaignRowKind is a kind of database rows whose ids begin with the campaign's id.
type campaignRowKind struct {
	Kind  string
	Fresh func() domain.Record
}

// campaignRowKinds returns all kinds of database rows whose ids begin with the campaign's id.
func campaignRowKinds() []campaignRowKind {
	return []campaignRowKind{
		{"chunk", func() domain.Record { return &domain.ContactChunk{} }},
		{"screened", func() domain.Record { return &domain.ScreenedChunk{} }},
		{"page", func() domain.Record { return &domain.ContactPage{} }},
		{"result", func() domain.Record { return &domain.ContactResult{} }},
		{"edit", func() domain.Record { return &domain.ContactEdit{} }},
		{"progress_mark", func() domain.Record { return &domain.ProgressMark{} }},
		{"decision", func() domain.Record { return &domain.DecisionPage{} }},
		{"decision_start", func() domain.Record { return &domain.DecisionLogStart{} }},
	}
}

func (s *Service) deleteRowsOfKind(ctx context.Context, x *domain.DeletedCampaign, kind string, fresh func() domain.Record) error {
	return record.DeleteByPrefix(ctx, s.store, domain.Key{Kind: kind, Workspace: x.WorkspaceID, ID: x.CampaignID + "/"}, fresh)
}

func (s *Service) deleteIndexedRows(ctx context.Context, x *domain.DeletedCampaign, kind string, fresh func() domain.Record) error {
	for {
		change := commit.Change{Workspace: x.WorkspaceID}
		q := commit.Query{Kind: kind, Workspace: x.WorkspaceID, Index: "campaign=" + x.CampaignID, Limit: record.BatchRows}
		_, err := s.store.List(ctx, q, fresh, func(r domain.Record) error {
			change.Deletes = append(change.Deletes, r.Key())
			return nil
		})
		if err != nil || len(change.Deletes) == 0 {
			return err
		}
		if _, err = s.store.Apply(ctx, change); err != nil {
			return err
		}
	}
}

// deleteJobs stops and deletes the bulk jobs and exports of the campaign.
func (s *Service) deleteJobs(ctx context.Context, x *domain.DeletedCampaign) error {
	var bulks []*domain.Bulk
	err := commit.ForEachRow(ctx, s.store, "bulk", x.WorkspaceID, "target="+x.CampaignID, func(b *domain.Bulk) { bulks = append(bulks, b) })
	if err != nil {
		return err
	}
	for _, b := range bulks {
		s.jobs.StopAndWait(b.WorkspaceID + "/" + b.ID)
		if err = s.bulk.DeleteBulk(ctx, b); err != nil {
			return err
		}
	}
	var exports []*domain.Export
	err = commit.ForEachRow(ctx, s.store, "export", x.WorkspaceID, "campaign="+x.CampaignID, func(e *domain.Export) { exports = append(exports, e) })
	if err != nil {
		return err
	}
	for _, e := range exports {
		s.jobs.StopAndWait(e.WorkspaceID + "/" + e.ID)
		if err = s.blobs.Delete(ctx, e.WorkspaceID, e.File()); err != nil {
			return err
		}
		if _, err = s.store.Apply(ctx, commit.Change{Workspace: e.WorkspaceID, Deletes: []domain.Key{e.Key()}}); err != nil {
			return err
		}
	}
	return nil
}

// deleteCalls deletes the campaign's calls with their data. all is false if recordings of some calls are still being
// stored.
func (s *Service) deleteCalls(ctx context.Context, x *domain.DeletedCampaign, force bool) (all bool, err error) {
	q := commit.Query{Kind: "call", Workspace: x.WorkspaceID, Index: "campaign=" + x.CampaignID, Oldest: true, Limit: callsPerRead}
	for all = true; ; {
		var calls []*domain.Call
		q.Cursor, err = s.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
			if c, ok := r.(*domain.Call); ok {
				calls = append(calls, c)
			}
			return nil
		})
		if err != nil {
			return false, err
		}
		deletable := calls[:0]
		for _, c := range calls {
			if c.Processing && !force {
				all = false
				continue
			}
			deletable = append(deletable, c)
		}
		if err = s.calls.DeleteCalls(ctx, x.WorkspaceID, deletable); err != nil {
			return false, err
		}
		if q.Cursor == "" {
			return all, nil
		}
	}
}
