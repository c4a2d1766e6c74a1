package decisionlist

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Decision is why a contact was rung, left out or left behind, as the API shows
// it.
type Decision struct {
	Row       int             `json:"row"` // of the log: its chain is checked row by row
	At        time.Time       `json:"at"`
	ContactID string          `json:"contact_id"`
	Phone     string          `json:"phone"`
	Decision  string          `json:"decision"` // dial | skip | cancel | expire
	Attempt   int             `json:"attempt"`
	CallID    string          `json:"call_id,omitempty"`
	Contacts  int             `json:"contacts,omitempty"` // all who were left at the end: so many, and none is named
	Rules     []domain.Ruling `json:"rules"`
}

// DecisionOf returns decision i of a row of a campaign's log.
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
