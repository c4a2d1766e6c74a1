package bulk

import (
	"cmp"
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// checkJob checks a new job. It returns an error if the whole job is invalid, and sets the error of each item that can
// never succeed.
func (s *Service) checkJob(ctx context.Context, p domain.Principal, o *NewJob) error {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	switch o.Type {
	case domain.BulkContacts:
		return s.checkCampaign(ctx, p, o.Target)
	case domain.BulkDNC:
		return s.checkNumbers(ctx, p, w, o)
	case domain.BulkCalls:
		for i := range o.Items {
			if c := o.Items[i].Call; c != nil && o.Items[i].Error == nil {
				o.Items[i].Error = s.checkCall(ctx, p, w, i, c)
			}
		}
	case domain.BulkSMS:
		return s.checkMessages(ctx, p, w, o)
	}
	return nil
}

func (s *Service) checkCampaign(ctx context.Context, p domain.Principal, campaignID string) error {
	c, err := s.cfg.Campaigns.Campaign(ctx, p, campaignID)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.FieldError("defaults.campaign_id", domain.CodeValidation, "there is no such campaign")
	}
	if err == nil && c.Status.Final() {
		err = contactlist.CampaignOverError(c)
	}
	return err
}

func (s *Service) checkNumbers(ctx context.Context, p domain.Principal, w *domain.Workspace, o *NewJob) error {
	if o.Target == "" {
		o.Target = domain.DefaultDNCID(p.WorkspaceID, p.Environment)
	}
	for i := range o.Items {
		n := o.Items[i].Number
		if n == nil {
			continue
		}
		if _, err := dnc.ListNumber(n.Phone, cmp.Or(n.Country, w.DefaultCountry)); err != nil {
			o.Items[i].Error = &domain.BulkError{Index: i, Code: "invalid_phone", Message: "phone is " + err.Error(), Param: "phone"}
		}
	}
	return s.cfg.DNC.ListExists(ctx, p, "defaults.list_id", o.Target)
}

// checkMessages returns an error if the workspace has no route for messages. It sets the error of each message to a
// number that the workspace may not text.
func (s *Service) checkMessages(ctx context.Context, p domain.Principal, w *domain.Workspace, o *NewJob) error {
	if err := s.cfg.SMS.CheckSMSRoutes(ctx, p); err != nil {
		return err
	}
	for i := range o.Items {
		if m := o.Items[i].Message; m != nil && o.Items[i].Error == nil {
			o.Items[i].Error = itemError(i, s.checkDestination(m.To, w, p.Environment))
		}
	}
	return nil
}

// checkCall returns the error of a call request that can never be placed, or nil if the call may be placed.
func (s *Service) checkCall(ctx context.Context, p domain.Principal, w *domain.Workspace, index int, o *domain.NewCall) *domain.BulkError {
	_, err := s.cfg.Scripts.ScriptForCall(ctx, p, o)
	if e, ok := errors.AsType[*domain.Error](err); ok && (e.Code == domain.CodeNoEngine || e.Code == domain.CodeValidation && e.Param != "") {
		return itemError(index, err)
	}
	if domain.CodeOf(err) == domain.CodeNotFound {
		return itemError(index, record.ScriptNotFound(ctx, s.store, p, o))
	}
	if domain.CodeOf(err) == domain.CodeValidation {
		return itemError(index, domain.FieldError("agent_id", domain.CodeValidation, "the agent has no pathway and no prompt"))
	}
	if _, inside := domain.ParsePhoneUser(o.To); inside {
		return nil
	}
	return itemError(index, s.checkDestination(o.To, w, p.Environment))
}

// checkDestination returns an error if the workspace may never call or text the number.
func (s *Service) checkDestination(to string, w *domain.Workspace, env domain.Environment) error {
	_, err := record.Destination(s.cfg.Zones, w, env, to)
	return err
}

// itemError converts an error to the error of the item with this index. It returns nil if err is nil.
func itemError(index int, err error) *domain.BulkError {
	if err == nil {
		return nil
	}
	out := &domain.BulkError{Index: index, Code: domain.CodeInternal, Message: "an internal error occurred"}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		out.Code, out.Message, out.Param = e.Code, e.Message, e.Param
	}
	return out
}
