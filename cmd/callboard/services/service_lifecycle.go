package services

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain/commit"
)

// lifecycle implements the functions by which the actor node loads, resumes, runs and stops the services.
type lifecycle struct{ *Services }

// Load reads the API keys, OAuth clients and users of a workspace into memory, and removes the contacts of interrupted
// uploads.
func (l lifecycle) Load(ctx context.Context, workspaceID string) error {
	store := l.Node.Store()
	err := errors.Join(l.keyring.Load(ctx, workspaceID), l.clients.Load(ctx, store, workspaceID), l.users.Load(ctx, store, workspaceID))
	if err != nil {
		return err
	}
	return l.Contacts.UndoInterruptedUploads(ctx, workspaceID)
}

// Resume continues unfinished jobs, deletions and deliveries of an earlier process.
func (l lifecycle) Resume(ctx, run context.Context, workspaceIDs []string) error {
	l.keyring.SetLoading(false)
	for _, id := range workspaceIDs {
		if err := l.resumeJobs(run, id); err != nil {
			return err
		}
		l.Node.RunInBackground(func() {
			if err := l.Campaigns.ResumeDeletions(run, id); err != nil && run.Err() == nil {
				l.log.Warn("rows of deleted campaigns could not be removed", slog.String("workspace_id", id), slog.Any("error", err))
			}
		})
	}
	for _, id := range workspaceIDs {
		if err := l.SMS.Restore(ctx, id); err != nil {
			return err
		}
		l.SMS.Resume(id)
		l.Knowledge.Resume(id)
		l.Analysis.Wake(id)
		l.Appointments.Resume(id)
	}
	if err := l.Workspaces.ResumeWorkspaceDeletions(run); err != nil {
		return err
	}
	l.clients.SetLoaded()
	return nil
}

// Run starts the background tasks of the services. While a restored store is in quarantine, it starts only the tasks
// that write the audit log and the last use of API keys.
func (l lifecycle) Run(ctx context.Context) {
	l.Node.RunInBackground(func() { l.Audit.RunAudit(ctx) })
	l.Node.RunInBackground(func() { l.keyring.RunSaves(ctx) })
	if l.Node.Quarantined() {
		return
	}
	for _, run := range []func(context.Context){l.SMS.Run, l.Knowledge.Run, l.Analysis.Run, l.Appointments.Run} {
		l.Node.RunInBackground(func() { run(ctx) })
	}
}

// Finish stops the background jobs.
func (l lifecycle) Finish() { l.jobs.Close() }

// resumeJobs continues exports, data requests and bulk jobs.
func (l lifecycle) resumeJobs(ctx context.Context, workspaceID string) error {
	store := l.Node.Store()
	if err := commit.ForEachRow(ctx, store, "export", workspaceID, "open", l.Exports.StartExport); err != nil {
		return err
	}
	if err := commit.ForEachRow(ctx, store, "data_request", workspaceID, "open", l.DataRequests.StartDataRequest); err != nil {
		return err
	}
	return l.Bulk.ResumeBulks(ctx, workspaceID)
}
