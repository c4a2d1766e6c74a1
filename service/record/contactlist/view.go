package contactlist

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// View returns the contact as the API shows it.
func (o Entry) View(c *domain.Campaign) Contact {
	s := Contact{
		Meta: domain.Meta{
			ID: domain.ContactID(c.ID, o.Ordinal), Object: "contact", WorkspaceID: c.WorkspaceID,
			Environment: c.Environment, CreatedAt: o.AddedAt, UpdatedAt: o.AddedAt,
		},
		CampaignID: c.ID, Phone: o.Contact.Phone, Context: o.Contact.Context, Timezone: o.Contact.Timezone,
		Country: o.Contact.Country, Status: lifecycle.Seen(c.Status, o.State).String(),
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
