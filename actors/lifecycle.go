package actors

import (
	"context"
	"errors"
	"log/slog"
)

// lifecycle starts and ends the services with the node.
type lifecycle struct{ desk *Desk }

// Load reads the OAuth clients and users of a workspace, and undoes uploads that were cut off.
func (l lifecycle) Load(ctx context.Context, workspaceID string) error {
	d := l.desk
	return errors.Join(d.clients.Load(ctx, d.store, workspaceID), d.users.Load(ctx, d.store, workspaceID), d.UndoInterruptedUploads(ctx, workspaceID))
}

// Resume continues jobs, deletions and deliveries that an earlier process left unfinished.
func (l lifecycle) Resume(ctx, run context.Context, workspaceIDs []string) error {
	d := l.desk
	for _, id := range workspaceIDs {
		if err := d.resumeJobs(run, id); err != nil {
			return err
		}
		d.node.RunInBackground(func() {
			if err := d.ResumeDeletions(run, id); err != nil && run.Err() == nil {
				d.log.Warn("what deleted campaigns left could not be removed", slog.String("workspace_id", id), slog.Any("error", err))
			}
		})
	}
	for _, id := range workspaceIDs {
		if err := d.smsService.Restore(ctx, id); err != nil {
			return err
		}
		d.smsService.Resume(id)
		d.knowledgeService.Resume(id)
		d.analysisService.Wake(id)
		d.appointmentsService.Resume(id)
	}
	if err := d.ResumeWorkspaceDeletions(run); err != nil {
		return err
	}
	d.clients.SetLoaded()
	return nil
}

// Run starts the background tasks. Of a quarantined store only the audit log is written.
func (l lifecycle) Run(ctx context.Context) {
	d := l.desk
	d.node.RunInBackground(func() { d.RunAudit(ctx) })
	if d.node.Quarantined() {
		return
	}
	for _, run := range []func(context.Context){d.smsService.Run, d.knowledgeService.Run, d.analysisService.Run, d.appointmentsService.Run} {
		d.node.RunInBackground(func() { run(ctx) })
	}
}

// Finish stops the background jobs.
func (l lifecycle) Finish() { l.desk.jobs.Close() }
