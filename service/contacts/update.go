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

// maxContext bounds the context of one contact, in bytes of JSON.
const maxContext = 64 << 10

// UpdateContact changes a contact that waits to be rung. Changes of one contact
// follow one another: each sees what the one before has left.
func (s *Service) UpdateContact(ctx context.Context, p domain.Principal, campaignID, contactID string, change func(*domain.Contact) error) (contactlist.Contact, error) {
	var none contactlist.Contact
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return none, err
	}
	end, err := s.revising.Lock(ctx, c.ID+"/"+contactID)
	if err != nil {
		return none, err
	}
	defer end()
	before, err := s.list.Find(ctx, c, contactID)
	if err != nil {
		return none, err
	}
	after, err := s.applyChange(c, before.Contact, change)
	if err != nil {
		return none, err
	}
	if !reflect.DeepEqual(after.Context, before.Contact.Context) {
		if err = s.checkRequiredVariables(ctx, p, c, after.Context); err != nil {
			return none, err
		}
	}
	if after.Phone != before.Contact.Phone {
		if err = s.checkDestination(c, after.Phone); err != nil {
			return none, err
		}
		if _, err = s.uploads.hold(c, domain.Upload{Meta: domain.Meta{WorkspaceID: c.WorkspaceID}}); err != nil {
			return none, err
		}
		defer s.uploads.release(c.ID)
		progress, errRead := s.list.Progress(ctx, c) // of now: an upload may have ended meanwhile
		if errRead != nil {
			return none, errRead
		}
		if err = s.checkUniqueNumber(ctx, c, progress, before.Ordinal, after.Phone); err != nil {
			return none, err
		}
	}
	if err = s.askCampaign(ctx, c, campaign.EditContact{Ordinal: before.Ordinal, Contact: after, Rider: commit.RiderOf(ctx)}); err != nil {
		return none, err
	}
	return s.Contact(ctx, p, c.ID, contactID)
}

// checkDestination refuses a number that the workspace of a campaign may not call. Errors:
// destination_not_allowed of phone.
func (s *Service) checkDestination(c *domain.Campaign, phone string) error {
	w := s.workspaces.Workspace(c.WorkspaceID)
	if w == nil {
		return nil
	}
	if err := domain.AllowedDestination(phone, w.Calling, w.DefaultCountry, c.Environment); err != nil {
		return domain.FieldError("phone", domain.CodeDestination, record.Message(err))
	}
	return nil
}

// checkRequiredVariables refuses a context without a value for a required variable
// of the campaign's pathway. Errors: validation_error of context.
func (s *Service) checkRequiredVariables(ctx context.Context, p domain.Principal, c *domain.Campaign, has domain.Context) error {
	script, err := s.script(ctx, p, c.AgentID, c.PathwayID)
	if err != nil {
		return nil //nolint:nilerr // the campaign says what is wrong with its script
	}
	if missing := contactlist.MissingVariables(pathway.MissingVariables(&script.Pathway, nil), has); missing != "" {
		return domain.FieldError("context", domain.CodeValidation, "context must keep a value for the required variable "+missing)
	}
	return nil
}

// DeleteContact takes a contact out: it is never rung and counts as cancelled.
func (s *Service) DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return err
	}
	o, err := s.list.Find(ctx, c, contactID)
	if err != nil {
		return err
	}
	return s.askCampaign(ctx, c, campaign.RemoveContact{Ordinal: o.Ordinal, Phone: o.Contact.Phone, Rider: commit.RiderOf(ctx)})
}

func (s *Service) askCampaign(ctx context.Context, c *domain.Campaign, msg any) error {
	if c.Status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "contacts of a campaign that is over cannot be changed").With("current_status", c.Status)
	}
	s.actors.StartIfDraft(ctx, c)
	_, err := mailbox.Ask[campaign.ContactRevised](ctx, s.system, s.actors.CampaignPID(c.WorkspaceID, c.ID), msg)
	return err
}

// applyChange is a contact with a change made to it.
func (s *Service) applyChange(c *domain.Campaign, before domain.Contact, change func(*domain.Contact) error) (domain.Contact, error) {
	one := before
	if err := change(&one); err != nil {
		return one, err
	}
	var problems domain.Problems
	if one.Timezone != before.Timezone && one.Timezone != "" {
		validation.Zone(&problems, "timezone", one.Timezone)
	}
	if one.Phone != before.Phone {
		phone, err := domain.E164(one.Phone, cmp.Or(one.Country, c.DefaultCountry))
		if err != nil {
			problems.Add("phone", domain.CodeValidation, "is %s", domain.PhoneProblem(one.Phone, err))
		}
		one.Phone = phone
	}
	if isContextTooLarge(one.Context) {
		problems.Add("context", domain.CodeValidation, "is larger than %d kB of JSON with what the contact has already", maxContext>>10)
	}
	return one, problems.Err()
}

func isContextTooLarge(c domain.Context) bool {
	text, err := json.Marshal(c)
	return err != nil || len(text) > maxContext
}

// checkUniqueNumber makes sure that no other contact of the campaign has a number.
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
	for i, one := range s.list.Numbers(ctx, c, progress.Total) {
		if i < 0 {
			return one.Err
		}
		if i != ordinal && !edited[i] && !deleted[i] && one.Number == phone {
			return taken
		}
	}
	return nil
}
