package calls

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// maxSearchedTranscripts is the maximum number of transcripts that a search reads for one page of calls.
const maxSearchedTranscripts = 300

// beginSearch starts a transcript search in a workspace, and end ends it. If another search in the workspace is running,
// it returns rate_limit_exceeded.
func (s *Service) beginSearch(workspaceID string) (end func(), err error) {
	if _, busy := s.searches.LoadOrStore(workspaceID, true); busy {
		return nil, domain.Errorf(domain.CodeRateLimit, "another transcript search is running in this workspace; try again").With("limit", 1).With("retry_after", 1)
	}
	return func() { s.searches.Delete(workspaceID) }, nil
}

// transcriptSearch searches transcripts for words.
type transcriptSearch struct {
	store     commit.Store
	log       *slog.Logger
	words     domain.TranscriptQuery
	remaining int   // number of transcripts that may still be read
	err       error // first error of the store, which ends the search
}

// matches reports whether the transcript of a call contains the words. It skips a damaged transcript, because an error
// would make every search of the workspace fail.
func (t *transcriptSearch) matches(ctx context.Context, c *domain.Call) bool {
	if !c.TranscriptAvailable || t.err != nil {
		return false
	}
	t.remaining--
	transcript := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	_, err := t.store.Get(ctx, transcript)
	switch {
	case err == nil:
		return t.words.Matches(transcript)
	case errors.Is(err, domain.ErrNotFound):
	case errors.Is(err, domain.ErrDamaged):
		t.log.Error("a transcript is damaged; searches skip it", slog.String("workspace_id", c.WorkspaceID), slog.String("call_id", c.ID))
	default:
		t.err, t.remaining = commit.StoreError(err), 0
	}
	return false
}
