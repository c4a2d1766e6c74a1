package contacts

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// maxContext is the maximum size of the context variables of one contact, in bytes of JSON.
const maxContext = 64 << 10

// UpdateContact changes a contact that the campaign has not called yet. Concurrent changes of one contact are made one
// after another.
func (s *Service) UpdateContact(ctx context.Context, p domain.Principal, campaignID, contactID string, change func(*domain.Contact) error) (contactlist.Contact, error) {
	var empty contactlist.Contact
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return empty, err
	}
	unlock, err := s.editLocks.Lock(ctx, c.ID+"/"+contactID)
	if err != nil {
		return empty, err
	}
	defer unlock()
	before, err := s.list.Find(ctx, c, contactID)
	if err != nil {
		return empty, err
	}
	after, err := s.applyChange(c, before.Contact, change)
	if err != nil {
		return empty, err
	}
	if !reflect.DeepEqual(after.Context, before.Contact.Context) {
		if err = s.checkRequiredVariables(ctx, p, c, after.Context); err != nil {
			return empty, err
		}
	}
	if after.Phone != before.Contact.Phone {
		if err = s.checkDestination(c, after.Phone); err != nil {
			return empty, err
		}
		if _, err = s.uploads.beginUpload(c, domain.Upload{Meta: domain.Meta{WorkspaceID: c.WorkspaceID}}); err != nil {
			return empty, err
		}
		defer s.uploads.release(c.ID)
		progress, errRead := s.list.Progress(ctx, c) // read the progress again: an upload may have ended since
		if errRead != nil {
			return empty, errRead
		}
		if err = s.checkUniqueNumber(ctx, c, progress, before.Ordinal, after.Phone); err != nil {
			return empty, err
		}
	}
	if err = s.requestRevision(ctx, c, campaign.EditContact{Ordinal: before.Ordinal, Contact: after, Rider: commit.AuditFrom(ctx)}); err != nil {
		return empty, err
	}
	return s.Contact(ctx, p, c.ID, contactID)
}

// checkDestination returns destination_not_allowed for the request field phone if the workspace may not call the number.
func (s *Service) checkDestination(c *domain.Campaign, phone string) error {
	w := s.workspaces.Workspace(c.WorkspaceID)
	if w == nil {
		return nil
	}
	if err := domain.CheckDestination(phone, w.Calling, w.DefaultCountry, c.Environment); err != nil {
		return domain.FieldError("phone", domain.CodeDestinationNotAllowed, record.Message(err))
	}
	return nil
}

// checkRequiredVariables returns a validation error for the request field context if a variable that the campaign's
// pathway requires has no value.
func (s *Service) checkRequiredVariables(ctx context.Context, p domain.Principal, c *domain.Campaign, has domain.Context) error {
	script, err := s.script(ctx, p, c.AgentID, c.PathwayID)
	if err != nil {
		return nil //nolint:nilerr // starting the campaign reports an unusable script
	}
	if missing := contactlist.MissingVariables(pathway.MissingVariables(&script.Pathway, nil), has); missing != "" {
		return domain.FieldError("context", domain.CodeValidation, "context must keep a value for the required variable "+missing)
	}
	return nil
}

// DeleteContact deletes a contact. The campaign does not call the contact and counts it as cancelled.
func (s *Service) DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return err
	}
	o, err := s.list.Find(ctx, c, contactID)
	if err != nil {
		return err
	}
	return s.requestRevision(ctx, c, campaign.RemoveContact{Ordinal: o.Ordinal, Phone: o.Contact.Phone, Rider: commit.AuditFrom(ctx)})
}

func (s *Service) requestRevision(ctx context.Context, c *domain.Campaign, msg any) error {
	if c.Status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "contacts of a campaign that has ended cannot be changed").With("current_status", c.Status)
	}
	s.actors.StartIfDraft(ctx, c)
	_, err := mailbox.Ask[campaign.ContactRevised](ctx, s.system, s.actors.CampaignPID(c.WorkspaceID, c.ID), msg)
	return err
}

// applyChange returns the contact with the change applied. Errors: validation_failed.
func (s *Service) applyChange(c *domain.Campaign, before domain.Contact, change func(*domain.Contact) error) (domain.Contact, error) {
	contact := before
	if err := change(&contact); err != nil {
		return contact, err
	}
	var problems domain.Problems
	if contact.Timezone != before.Timezone && contact.Timezone != "" {
		validation.Zone(&problems, "timezone", contact.Timezone)
	}
	if contact.Phone != before.Phone {
		phone, err := domain.E164(contact.Phone, cmp.Or(contact.Country, c.DefaultCountry))
		if err != nil {
			problems.Add("phone", domain.CodeValidation, "is %s", domain.PhoneProblem(contact.Phone, err))
		}
		contact.Phone = phone
	}
	if isContextTooLarge(contact.Context) {
		problems.Add("context", domain.CodeValidation, "is larger than %d kB of JSON together with the contact's existing context", maxContext>>10)
	}
	return contact, problems.Err()
}

func isContextTooLarge(c domain.Context) bool {
	text, err := json.Marshal(c)
	return err != nil || len(text) > maxContext
}

// checkUniqueNumber returns already_exists if another contact of the campaign has the number.
func (s *Service) checkUniqueNumber(ctx context.Context, c *domain.Campaign, progress *domain.Progress, ordinal int, phone string) error {
	taken := domain.Errorf(domain.CodeAlreadyExists, "another contact of this campaign has this number")
	taken.Param = "phone"
	deleted, err := s.list.DeletedOrdinals(ctx, c, progress)
	if err != nil {
		return err
	}
	edited := make(map[int]bool)
	for e, err := range s.list.Edits(ctx, c, progress) {
		if err != nil {
			return err
		}
		if edited[e.Ordinal] = true; e.Ordinal != ordinal && !deleted[e.Ordinal] && e.Contact.Phone == phone {
			return taken
		}
	}
	for i, stored := range s.list.Numbers(ctx, c, progress.Total) {
		if i < 0 {
			return stored.Err
		}
		if i != ordinal && !edited[i] && !deleted[i] && stored.Number == phone {
			return taken
		}
	}
	return nil
}
