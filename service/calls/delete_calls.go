package calls

import (
	"context"
	"errors"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// DeleteCall deletes a call that has ended, with its recording, transcript and SIP messages. The call's events and its
// line in the billing ledger stay until their own retention ends. Errors: not_found; invalid_state while the call is live.
func (s *Service) DeleteCall(ctx context.Context, p domain.Principal, id string) error {
	c, err := s.Call(ctx, p, id)
	if err != nil {
		return err
	}
	if !c.Final() {
		return domain.Errorf(domain.CodeInvalidState, "the call is %s; hang up before you delete the call", c.Status).With("current_status", c.Status).
			With("allowed_from", []domain.CallStatus{domain.CallCompleted, domain.CallBusy, domain.CallNoAnswer, domain.CallFailed, domain.CallCancelled})
	}
	return commit.StoreError(s.DeleteCalls(ctx, c.WorkspaceID, []*domain.Call{c}))
}

// DeleteCalls deletes ended calls with their recordings, transcripts, SIP messages and pending analyses.
func (s *Service) DeleteCalls(ctx context.Context, workspaceID string, calls []*domain.Call) error {
	if len(calls) == 0 {
		return nil
	}
	change := commit.Change{Workspace: workspaceID}
	for _, c := range calls {
		change.Deletes = append(change.Deletes, c.Key(),
			(&domain.Transcript{WorkspaceID: workspaceID, CallID: c.ID}).Key(), (&domain.TraceRow{WorkspaceID: workspaceID, CallID: c.ID}).Key(),
			(&domain.AnalysisDue{WorkspaceID: workspaceID, CallID: c.ID}).Key())
		change.DeleteSubjectCounts = append(change.DeleteSubjectCounts, c.ID)
	}
	deleteRecordings := func() (err error) {
		for _, c := range calls {
			err = errors.Join(err, s.cfg.Recordings.Delete(ctx, workspaceID, recording.BlobName(c.ID)))
		}
		return err
	}
	if err := deleteRecordings(); err != nil {
		return err
	}
	if _, err := s.store.Apply(ctx, change); err != nil {
		return err
	}
	return deleteRecordings() // a recording may have been stored during the commit
}
