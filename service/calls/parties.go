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

// parties are the caller and the callee of an outbound call. A phone of the
// workspace has contacts, and its extension stands in place of a number.
type parties struct {
	from     string
	to       domain.Number
	contacts []registrar.Contact
	media    domain.Trunk // the media settings of that phone
}

// toPhone says whether a phone of the workspace is called.
func (w *parties) toPhone() bool { return len(w.contacts) > 0 }

// findParties checks who is called and which number is shown. The rules for
// destinations do not apply to phones of the workspace.
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

// agentCallerID is shown to a phone if the workspace has no number.
const agentCallerID = "agent"

// phoneCallerID returns what a phone of the workspace is shown: the number of the
// order, the first number of the workspace, or agentCallerID.
func (s *Service) phoneCallerID(ctx context.Context, p domain.Principal, from string) (string, error) {
	own, err := s.cfg.CallerIDs.CallerIDs(ctx, p)
	return cmp.Or(slices.Concat([]string{from}, own, []string{agentCallerID})...), err
}

// checkCallingHours returns outside_calling_hours with next_allowed_at for a number
// that may not be called now. nil hours allow any time.
func (s *Service) checkCallingHours(h *domain.CallingHours, to domain.Number) error {
	if h == nil {
		return nil
	}
	window, err := s.cfg.Zones.Window(*h, to)
	if err != nil {
		return err
	}
	now := time.Now()
	if window.Allows(now) {
		return nil
	}
	e := domain.Errorf(domain.CodeOutsideCallingHours, "it is outside the calling hours of this number")
	if next, ok := window.Next(now); ok {
		e = e.With("next_allowed_at", next.UTC())
	}
	return e
}
