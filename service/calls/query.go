package calls

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Query filters calls. Status may be "active": any that is not final.
type Query struct {
	record.PageQuery
	Status     string
	CampaignID string
	ContactID  string
	AgentID    string
	Direction  domain.Direction
	Said       domain.Spoken // in its transcript; nil: anything
}
