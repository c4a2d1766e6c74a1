package calls

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// maxTranscripts bounds how many transcripts one page of a search reads.
const maxTranscripts = 300

// beginSearch lets one search in transcripts run in a workspace at a time.
func (s *Service) beginSearch(workspaceID string) (end func(), err error) {
	if _, busy := s.searches.LoadOrStore(workspaceID, true); busy {
		return nil, domain.Errorf(domain.CodeRateLimit, "another search in transcripts is running in this workspace; try again").With("limit", 1).With("retry_after", 1)
	}
	return func() { s.searches.Delete(workspaceID) }, nil
}

// transcriptSearch looks for words in transcripts.
type transcriptSearch struct {
	store commit.Store
	log   *slog.Logger
	words domain.Spoken
	left  int   // transcripts that may still be read
	err   error // the first of the store, which ends the search
}

// matches says whether the words were said in a call. It skips a damaged transcript,
// which would otherwise end every search.
func (t *transcriptSearch) matches(ctx context.Context, c *domain.Call) bool {
	if !c.TranscriptAvailable || t.err != nil {
		return false
	}
	t.left--
	transcript := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	_, err := t.store.Get(ctx, transcript)
	switch {
	case err == nil:
		return t.words.In(transcript)
	case errors.Is(err, domain.ErrNotFound):
	case errors.Is(err, domain.ErrDamaged):
		t.log.Error("a transcript is damaged; searches pass it over", slog.String("workspace_id", c.WorkspaceID), slog.String("call_id", c.ID))
	default:
		t.err, t.left = commit.StoreError(err), 0
	}
	return false
}
