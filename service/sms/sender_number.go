package sms

import (
	"cmp"
	"context"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

// senderNumber returns the sender of a new message: the requested number, or else a number of the message's route.
// Numbers with sms_enabled come first.
func (svc *Service) senderNumber(ctx context.Context, p domain.Principal, w *domain.Workspace, from, to string) (string, error) {
	switch {
	case from == "" && p.Environment == domain.Test:
		return svc.testSender(ctx, p)
	case from == "":
		return svc.senderOfRoute(ctx, p, to)
	}
	e164, err := domain.E164(from, w.DefaultCountry)
	if err != nil {
		return "", domain.FieldError("from", domain.CodeValidation, "from must be a full telephone number, best in E.164")
	}
	if own, err := svc.cfg.Numbers.LiveNumber(ctx, p.WorkspaceID, p.Environment, e164); err != nil {
		return "", err
	} else if own != nil && !own.SMSEnabled && p.Environment == domain.Live {
		return "", domain.FieldError("from", domain.CodeValidation, "from is a number that does not send messages; set its sms_enabled")
	}
	return e164, svc.cfg.CheckCallerID(ctx, p, e164)
}

// senderOfRoute returns the sender number that the best route to a recipient shows.
func (svc *Service) senderOfRoute(ctx context.Context, p domain.Principal, to string) (string, error) {
	all, _, err := svc.routeSources(ctx, p.WorkspaceID, p.Environment)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", noSMSRouteError()
	}
	call := routing.Call{To: to, Environment: p.Environment}
	best, refused := routing.SelectTrunks(all, call)
	if len(best) == 0 {
		return "", cmp.Or(refused, noSMSRouteError())
	}
	t := all[best[0]]
	number, err := svc.smsNumber(ctx, p, func(number string) bool { return slices.Contains(t.CallerIDs, number) })
	if err != nil || number != "" {
		return number, err
	}
	return routing.SelectCallerID(t, call)
}

// testSender returns the sender of a message in the test environment. It prefers a number with sms_enabled, then any
// number of the workspace, then a number of the test carrier.
func (svc *Service) testSender(ctx context.Context, p domain.Principal) (string, error) {
	number, err := svc.smsNumber(ctx, p, func(string) bool { return true })
	if err != nil || number != "" {
		return number, err
	}
	own, err := svc.cfg.Numbers.CallerIDs(ctx, p)
	if err != nil || len(own) == 0 {
		return domain.TestCarrierPrefix + "0100", err
	}
	return own[0], nil
}

// smsNumber returns the first live number of the workspace that has sms_enabled and for which may returns true; "" if
// there is none.
func (svc *Service) smsNumber(ctx context.Context, p domain.Principal, may func(number string) bool) (string, error) {
	numbers, err := svc.cfg.Numbers.LiveNumbers(ctx, p.WorkspaceID, p.Environment)
	for _, n := range numbers {
		if n.SMSEnabled && may(n.Number) {
			return n.Number, err
		}
	}
	return "", err
}
