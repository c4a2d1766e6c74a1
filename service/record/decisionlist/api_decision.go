package decisionlist

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Decision is one decision of a campaign about a contact in the form of the API. It says dial, skip, cancel or expire,
// and contains the rules that led to the decision.
type Decision struct {
	Row       int             `json:"row"` // row of the decision log; a hash chain links the rows
	At        time.Time       `json:"at"`
	ContactID string          `json:"contact_id"`
	Phone     string          `json:"phone"`
	Decision  string          `json:"decision"` // dial | skip | cancel | expire
	Attempt   int             `json:"attempt"`
	CallID    string          `json:"call_id,omitempty"`
	Contacts  int             `json:"contacts,omitempty"` // number of contacts of a decision about all remaining contacts; ContactID and Phone are then empty
	Rules     []domain.Ruling `json:"rules"`
}

// DecisionOf converts the decision with index i in row r of a campaign's decision log to the form of the API.
func DecisionOf(c *domain.Campaign, r *domain.DecisionPage, i int) Decision {
	one := &r.Decisions[i]
	d := Decision{
		Row: r.Seq, At: one.At, Phone: one.Phone, Decision: one.Verdict, Attempt: one.Attempt, CallID: one.CallID,
		Contacts: one.Contacts, Rules: one.Rules,
	}
	if one.Contacts == 0 {
		d.ContactID = domain.ContactID(c.ID, one.Ordinal)
	}
	return d
}
