package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
)

// maxContext bounds the context of one contact, in bytes of JSON.
const maxContext = 64 << 10

// UpdateContact changes a contact that waits to be rung. Changes of one contact
// follow one another: each sees what the one before has left.
func (d *Desk) UpdateContact(ctx context.Context, p domain.Principal, campaignID, contactID string, change func(*domain.Contact) error) (ask.Contact, error) {
	var none ask.Contact
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return none, err
	}
	end, err := d.revising.Lock(ctx, c.ID+"/"+contactID)
	if err != nil {
		return none, err
	}
	defer end()
	before, err := d.one(ctx, c, contactID)
	if err != nil {
		return none, err
	}
	after, err := d.changed(c, before.contact, change)
	if err != nil {
		return none, err
	}
	if !reflect.DeepEqual(after.Context, before.contact.Context) {
		if err = d.checkRequiredVariables(ctx, p, c, after.Context); err != nil {
			return none, err
		}
	}
	if after.Phone != before.contact.Phone {
		if err = d.mayCall(c, after.Phone); err != nil {
			return none, err
		}
		if _, err = d.uploads.hold(c, domain.Upload{Meta: domain.Meta{WorkspaceID: c.WorkspaceID}}); err != nil {
			return none, err
		}
		defer d.uploads.release(c.ID)
		progress, errRead := d.progressOf(ctx, c) // of now: an upload may have ended meanwhile
		if errRead != nil {
			return none, errRead
		}
		if err = d.alone(ctx, c, progress, before.ordinal, after.Phone); err != nil {
			return none, err
		}
	}
	if err = d.revise(ctx, c, campaign.Edit{Ordinal: before.ordinal, Contact: after, Rider: commit.RiderOf(ctx)}); err != nil {
		return none, err
	}
	return d.Contact(ctx, p, c.ID, contactID)
}

// mayCall refuses a number that the workspace of a campaign may not call. Errors:
// destination_not_allowed of phone.
func (d *Desk) mayCall(c *domain.Campaign, phone string) error {
	w := d.node.Workspace(c.WorkspaceID)
	if w == nil {
		return nil
	}
	if err := domain.AllowedDestination(phone, w.Calling, w.DefaultCountry, c.Environment); err != nil {
		return record.FieldError("phone", domain.CodeDestination, messageOf(err))
	}
	return nil
}

// checkRequiredVariables refuses a context without a value for a required variable
// of the campaign's pathway. Errors: validation_error of context.
func (d *Desk) checkRequiredVariables(ctx context.Context, p domain.Principal, c *domain.Campaign, has domain.Context) error {
	s, err := d.scriptOf(ctx, p, c.AgentID, c.PathwayID)
	if err != nil {
		return nil //nolint:nilerr // the campaign says what is wrong with its script
	}
	if missing := missingVariables(pathway.MissingVariables(&s.Pathway, nil), has); missing != "" {
		return record.FieldError("context", domain.CodeValidation, "context must keep a value for the required variable "+missing)
	}
	return nil
}

// DeleteContact takes a contact out: it is never rung and counts as cancelled.
func (d *Desk) DeleteContact(ctx context.Context, p domain.Principal, campaignID, contactID string) error {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return err
	}
	o, err := d.one(ctx, c, contactID)
	if err != nil {
		return err
	}
	return d.revise(ctx, c, campaign.Remove{Ordinal: o.ordinal, Phone: o.contact.Phone, Rider: commit.RiderOf(ctx)})
}

func (d *Desk) revise(ctx context.Context, c *domain.Campaign, msg any) error {
	if c.Status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "contacts of a campaign that is over cannot be changed").With("current_status", c.Status)
	}
	d.node.StartIfDraft(ctx, c)
	_, err := mailbox.Ask[campaign.Revised](ctx, d.node.sys, d.node.CampaignPID(c.WorkspaceID, c.ID), msg)
	return err
}

// changed is a contact with a change made to it.
func (d *Desk) changed(c *domain.Campaign, before domain.Contact, change func(*domain.Contact) error) (domain.Contact, error) {
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
			problems.Add("phone", domain.CodeValidation, "is %s", whyBad(one.Phone, err))
		}
		one.Phone = phone
	}
	if tooLarge(one.Context) {
		problems.Add("context", domain.CodeValidation, "is larger than %d kB of JSON with what the contact has already", maxContext>>10)
	}
	return one, problems.Err()
}

func tooLarge(c domain.Context) bool {
	text, err := json.Marshal(c)
	return err != nil || len(text) > maxContext
}

// alone makes sure that no other contact of the campaign has a number.
func (d *Desk) alone(ctx context.Context, c *domain.Campaign, progress *domain.Progress, ordinal int, phone string) error {
	taken := domain.Errorf(domain.CodeAlreadyExists, "another contact of this campaign has this number")
	taken.Param = "phone"
	deleted, err := d.deletedOrdinals(ctx, c, progress)
	if err != nil {
		return err
	}
	edited := make(map[int]bool)
	for e, err := range d.edits(ctx, c, progress) {
		if err != nil {
			return err
		}
		if edited[e.Ordinal] = true; e.Ordinal != ordinal && !deleted[e.Ordinal] && e.Contact.Phone == phone {
			return taken
		}
	}
	for i, one := range d.numbers(ctx, c, progress.Total) {
		if i < 0 {
			return one.err
		}
		if i != ordinal && !edited[i] && !deleted[i] && one.text == phone {
			return taken
		}
	}
	return nil
}
