package calls

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Query filters calls. Empty fields match all calls. Status "active" matches calls that have not ended.
type Query struct {
	record.PageQuery
	Status     string
	CampaignID string
	ContactID  string
	AgentID    string
	Direction  domain.Direction
	Said       domain.TranscriptQuery // words in the transcript; nil: any transcript
}

// ListCalls returns a page of calls. Errors: not_found for an unknown campaign; rate_limit_exceeded while another
// transcript search of the workspace runs.
func (s *Service) ListCalls(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.Call], error) {
	if q.CampaignID != "" {
		if _, err := s.cfg.Campaigns.Campaign(ctx, p, q.CampaignID); err != nil {
			return record.Page[*domain.Call]{}, err
		}
	}
	search := transcriptSearch{store: s.store, log: s.cfg.Log, words: q.Said, remaining: maxSearchedTranscripts}
	if q.Said != nil {
		end, err := s.beginSearch(p.WorkspaceID)
		if err != nil {
			return record.Page[*domain.Call]{}, err
		}
		defer end()
	}
	page, err := record.ListLimited(ctx, s.store, p.WorkspaceID, q.index(p), domain.PrefixCall, q.PageQuery, func(c *domain.Call) bool {
		return q.matches(p, c) && (q.Said == nil || search.matches(ctx, c))
	}, func() int { return search.remaining })
	if err == nil {
		err = search.err
	}
	return page, err
}

// index returns the name of the index that contains all matching calls and the fewest others.
func (q *Query) index(p domain.Principal) string {
	switch {
	case q.ContactID != "":
		return "contact=" + q.ContactID
	case q.Status == "active":
		return "active=" + string(p.Environment)
	case q.CampaignID != "":
		return "campaign=" + q.CampaignID
	case q.AgentID != "":
		return "agent=" + q.AgentID
	case q.Status != "":
		return "status=" + string(p.Environment) + "/" + q.Status
	}
	return record.EnvironmentIndex(p)
}

// matches reports whether a call matches all filters of the query except Said.
func (q *Query) matches(p domain.Principal, c *domain.Call) bool {
	return c.Environment == p.Environment && (q.CampaignID == "" || c.CampaignID == q.CampaignID) &&
		(q.Status == "" || q.Status == "active" && !c.Final() || string(c.Status) == q.Status) &&
		(q.ContactID == "" || c.ContactID == q.ContactID) && (q.AgentID == "" || c.AgentID == q.AgentID) &&
		(q.Direction == "" || c.Direction == q.Direction)
}
