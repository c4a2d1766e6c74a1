package validation

import (
	"net/mail"
	"slices"

	"github.com/callboard/callboard/domain"
)

// Limits of alert rules.
const (
	MaxEmails       = 10
	MaxAlertMinutes = 60 // length of the call statistics of a trunk
	MaxAlertCalls   = 1_000_000
)

// AlertRule returns all problems with an alert rule and sets omitted fields to their defaults. Fields that belong to
// another kind of rule must be omitted.
func AlertRule(r *domain.AlertRule) *domain.Problems {
	p := &domain.Problems{}
	Text(p, "name", r.Name, true, MaxName)
	Metadata(p, r.Metadata)
	uses := map[string]bool{}
	switch r.Kind {
	case domain.AlertAnswerRate:
		uses = map[string]bool{"below": true, "min_calls": true, "minutes": true, "together": true}
		if r.Minutes == 0 {
			r.Minutes = 15
		}
		if r.MinCalls == 0 {
			r.MinCalls = 20
		}
		if r.Below <= 0 || r.Below > 1 {
			p.Add("below", domain.CodeValidation, "must be above 0 and at most 1: the share of calls that are to be answered")
		}
		if r.MinCalls < 1 || r.MinCalls > MaxAlertCalls {
			p.Add("min_calls", domain.CodeValidation, "must be from 1 to %d", MaxAlertCalls)
		}
	case domain.AlertTrunkDown:
		uses = map[string]bool{"minutes": true}
		if r.Minutes == 0 {
			r.Minutes = 2
		}
	case domain.AlertSpend:
		uses = map[string]bool{"share": true, "together": true}
		if r.Share <= 0 || r.Share > 1 {
			p.Add("share", domain.CodeValidation, "must be above 0 and at most 1: the share of the daily spend cap")
		}
	case domain.AlertEndpointDisabled:
	default:
		p.Add("kind", domain.CodeValidation, "must be answer_rate, trunk_down, spend or endpoint_disabled")
		return p
	}
	if uses["minutes"] && (r.Minutes < 1 || r.Minutes > MaxAlertMinutes) {
		p.Add("minutes", domain.CodeValidation, "must be from 1 to %d", MaxAlertMinutes)
	}
	for _, one := range []struct {
		name string
		set  bool
	}{{"below", r.Below != 0}, {"min_calls", r.MinCalls != 0}, {"minutes", r.Minutes != 0}, {"share", r.Share != 0}, {"together", r.Together}} {
		if one.set && !uses[one.name] {
			p.Add(one.name, domain.CodeValidation, "is not a field of a rule of the kind %s", r.Kind)
		}
	}
	if r.Together && r.WatchesWorkspaceID != "" {
		p.Add("together", domain.CodeValidation, "must not be combined with watches_workspace_id")
	}
	checkEmails(p, r)
	return p
}

func checkEmails(p *domain.Problems, r *domain.AlertRule) {
	if len(r.Emails) > MaxEmails {
		p.Add("emails", domain.CodeValidation, "has %d addresses; %d at most", len(r.Emails), MaxEmails)
		return
	}
	for i, text := range r.Emails {
		at, err := mail.ParseAddress(text)
		if err != nil || at.Address != text || len(text) > 254 || slices.Contains(r.Emails[:i], text) {
			p.Add("emails", domain.CodeValidation, "must be plain addresses such as ops@example.com, each once")
			return
		}
	}
}
