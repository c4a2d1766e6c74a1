package calls

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/registrar"
)

// parties are the caller and the callee of an outbound call. If the callee is a registered phone of the workspace,
// contacts are its SIP contacts, and the field for the callee's number holds the phone's extension.
type parties struct {
	from     string
	to       domain.Number
	contacts []registrar.Contact
	media    domain.Trunk // the media settings of the called phone
}

// toPhone reports whether the callee is a phone of the workspace.
func (p *parties) toPhone() bool { return len(p.contacts) > 0 }

// findParties checks the callee and the caller ID of a new call. The rules for destinations, calling hours and
// do-not-call lists apply to telephone numbers only, not to phones of the workspace.
func (s *Service) findParties(ctx context.Context, p domain.Principal, w *domain.Workspace, o *domain.NewCall) (parties, error) {
	phone, isPhone, err := s.cfg.Phones.FindRegistered(ctx, p, o.To)
	if err != nil {
		return parties{}, err
	}
	if isPhone {
		from, problem := s.phoneCallerID(ctx, p, o.From)
		return parties{from: from, to: domain.Number{E164: phone.Phone.Extension}, contacts: phone.Contacts, media: phone.Phone.MediaTrunk()}, problem
	}
	number, err := record.Destination(s.cfg.Zones, w, p.Environment, o.To)
	if err != nil {
		return parties{}, err
	}
	if err = s.checkCallingHours(o.CallingHours, number); err != nil {
		return parties{}, err
	}
	if err = s.cfg.DNC.CheckNotListed(ctx, p, number.E164); err != nil {
		return parties{}, err
	}
	return parties{from: o.From, to: number}, s.cfg.CallerIDs.CheckCallerID(ctx, p, o.From)
}

// agentCallerID is the caller ID for calls to a phone if the workspace has no number.
const agentCallerID = "agent"

// phoneCallerID returns the caller ID for a call to a phone of the workspace: the number in the request, the first
// number of the workspace, or agentCallerID.
func (s *Service) phoneCallerID(ctx context.Context, p domain.Principal, from string) (string, error) {
	own, err := s.cfg.CallerIDs.CallerIDs(ctx, p)
	return cmp.Or(slices.Concat([]string{from}, own, []string{agentCallerID})...), err
}

// checkCallingHours returns the error outside_calling_hours, with next_allowed_at, if the number may not be called now.
// If h is nil, calls are allowed at any time.
func (s *Service) checkCallingHours(h *domain.CallingHours, to domain.Number) error {
	if h == nil {
		return nil
	}
	window, err := s.cfg.Zones.HoursWindow(*h, to)
	if err != nil {
		return err
	}
	now := time.Now()
	if window.Allows(now) {
		return nil
	}
	e := domain.Errorf(domain.CodeOutsideCallingHours, "the current time is outside the calling hours of this number")
	if next, ok := window.NextOpen(now); ok {
		e = e.With("next_allowed_at", next.UTC())
	}
	return e
}
