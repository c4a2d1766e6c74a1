package contactlist

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// Contact is a contact of a campaign with its state, as the API shows it.
type Contact struct {
	domain.Meta
	CampaignID    string         `json:"campaign_id"`
	Phone         string         `json:"phone"`
	Context       domain.Context `json:"context,omitempty"`
	Timezone      string         `json:"timezone,omitempty"`
	Country       string         `json:"country,omitempty"`
	Status        string         `json:"status"`
	Outcome       domain.Outcome `json:"outcome,omitempty"`
	Reason        domain.Reason  `json:"reason,omitempty"`
	Attempts      int            `json:"attempts"`
	LastCallID    string         `json:"last_call_id,omitempty"`
	NextAttemptAt *time.Time     `json:"next_attempt_at"`
	CompletedAt   *time.Time     `json:"completed_at"`
}

// APIContact converts the entry to the contact of campaign c that the API shows.
func (o Entry) APIContact(c *domain.Campaign) Contact {
	s := Contact{
		Meta: domain.Meta{
			ID: domain.ContactID(c.ID, o.Ordinal), Object: "contact", WorkspaceID: c.WorkspaceID,
			Environment: c.Environment, CreatedAt: o.AddedAt, UpdatedAt: o.AddedAt,
		},
		CampaignID: c.ID, Phone: o.Contact.Phone, Context: o.Contact.Context, Timezone: o.Contact.Timezone,
		Country: o.Contact.Country, Status: lifecycle.ShownContactState(c.Status, o.State).String(),
	}
	if r := o.Result; r != nil {
		s.Outcome, s.Reason, s.Attempts, s.LastCallID = r.Outcome, r.Reason, r.Attempts, r.CallID
		s.NextAttemptAt, s.CompletedAt = r.RetryAt, r.EndedAt
		if r.EndedAt != nil {
			s.UpdatedAt = o.AddedAt
			if r.EndedAt.After(o.AddedAt) {
				s.UpdatedAt = *r.EndedAt
			}
		}
	}
	return s
}
