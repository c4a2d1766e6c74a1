package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/validation"
)

// Alerts are what operators want to be told of, and what was found. The front
// door has checked that an operator asks.
type Alerts interface {
	// CreateAlertRule: 422 with param where a rule watches a workspace that is
	// not there, or is to send mail where there is no mail server.
	CreateAlertRule(ctx context.Context, p domain.Principal, r *domain.AlertRule) (*domain.AlertRule, error)
	AlertRule(ctx context.Context, p domain.Principal, id string) (*domain.AlertRule, error)
	ListAlertRules(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.AlertRule], error)
	UpdateAlertRule(ctx context.Context, p domain.Principal, id string, change func(*domain.AlertRule) error) (*domain.AlertRule, error)
	// DeleteAlertRule: what the rule has found is over, and nobody is told of it.
	DeleteAlertRule(ctx context.Context, p domain.Principal, id string) error
	ListAlerts(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Alert], error)
	// TestAlertRule sends by all ways of a rule, and waits for the mails.
	TestAlertRule(ctx context.Context, p domain.Principal, id string) (ask.AlertTest, error)
	// LookFor looks at this part's workspaces for rules of another part, by their
	// ids.
	LookFor(ctx context.Context, rules []*domain.AlertRule) (map[string]alert.Look, error)
}

// NewAlertRule is a rule as it is sent.
type NewAlertRule struct {
	Name     string            `json:"name,omitempty" required:"true" example:"Carrier is down"`
	Kind     string            `json:"kind,omitempty" required:"true" enum:"answer_rate,trunk_down,spend,endpoint_disabled" doc:"What is looked for; it stays as the rule was made. answer_rate: below of at least min_calls outbound calls of the last minutes were answered. trunk_down: every target of a trunk is out, or its registration failed, for minutes. spend: share of the daily_spend_cap is used up. endpoint_disabled: a webhook endpoint was disabled because it failed."`
	Watches  string            `json:"watches_workspace_id,omitempty" doc:"The workspace that is watched; empty: each of the install by itself."`
	Together bool              `json:"together,omitempty" doc:"Of answer_rate and spend: all workspaces as if they were one."`
	Below    float64           `json:"below,omitempty" minimum:"0" maximum:"1" doc:"Of answer_rate: the share of the calls, 0 to 1."`
	MinCalls int               `json:"min_calls,omitempty" doc:"Of answer_rate: with fewer calls nothing is said; 20 where it is left out."`
	Minutes  int               `json:"minutes,omitempty" doc:"1 to 60. Of answer_rate: how far back calls count, 15 where it is left out. Of trunk_down: for how long it must be down, 2 where it is left out."`
	Share    float64           `json:"share,omitempty" minimum:"0" maximum:"1" doc:"Of spend: the share of the cap, 0 to 1."`
	Emails   []string          `json:"emails,omitempty" nullable:"false" doc:"Addresses that are sent a mail, ten at most; it takes smtp_addr of the service."`
	Paused   bool              `json:"paused,omitempty" doc:"true: nobody looks."`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// apply writes the settings to a rule, and checks the rule.
func (n *NewAlertRule) apply(r *domain.AlertRule) error {
	if r.Kind != "" && n.Kind != string(r.Kind) {
		p := &domain.Problems{}
		p.Add("kind", domain.CodeValidation, "cannot be changed: the rule is of the kind %s; delete it and create another one", r.Kind)
		return p.Err()
	}
	r.Name, r.Kind, r.Watches, r.Together = n.Name, domain.AlertKind(n.Kind), n.Watches, n.Together
	r.Below, r.MinCalls, r.Minutes, r.Share = n.Below, n.MinCalls, n.Minutes, n.Share
	r.Emails, r.Paused, r.Metadata = n.Emails, n.Paused, n.Metadata
	return validation.AlertRule(r).Err()
}

func (s *Server) alertRoutes() {
	const tag, path = "Alerts", "/v1/alert-rules"
	add(s.Router, operation{
		method: http.MethodPost, path: path, id: "createAlertRule", credential: keyOrSession, tag: tag, status: http.StatusCreated, summary: "Create an alert rule",
		about: "Operators only, as all of alerts. It is looked every 15 seconds whether it is so. Once it is, alert.firing is sent to the webhooks of the workspace whose key made the rule, and a mail to each address; " +
			"once it is well again for five minutes, alert.resolved. Each is told once, also across restarts.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewAlertRule }) (*answer[*domain.AlertRule], error) {
		if err := byOperator(p); err != nil {
			return nil, err
		}
		r := &domain.AlertRule{}
		if err := in.Body.apply(r); err != nil {
			return nil, err
		}
		made, err := s.ports.Alerts.CreateAlertRule(ctx, p, r)
		if err != nil {
			return nil, err
		}
		return touched(ctx, made, nil)
	})
	add(s.Router, operation{method: http.MethodGet, path: path, id: "listAlertRules", tag: tag, summary: "List alert rules"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.AlertRule]], error) {
			if err := byOperator(p); err != nil {
				return nil, err
			}
			l, err := s.ports.Alerts.ListAlertRules(ctx, p, in.page())
			return page(l, err, same)
		})
	add(s.Router, operation{method: http.MethodGet, path: path + "/{id}", id: "getAlertRule", tag: tag, summary: "Get an alert rule"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*domain.AlertRule], error) {
			id, err := alertRule(p, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.Alerts.AlertRule(ctx, p, id))
		})
	add(s.Router, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateAlertRule", credential: keyOrSession, tag: tag, summary: "Change an alert rule"},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Body Patch[NewAlertRule]
		},
		) (*answer[*domain.AlertRule], error) {
			id, err := alertRule(p, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.Alerts.UpdateAlertRule(ctx, p, id, patchFunc(s.Registry, &in.Body, (*NewAlertRule).apply)))
		})
	add(s.Router, operation{
		method: http.MethodDelete, path: path + "/{id}", id: "deleteAlertRule", credential: keyOrSession, tag: tag, summary: "Delete an alert rule",
		about: "What it has found is over, and nobody is told of that.",
	}, func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
		id, err := alertRule(p, in.ID)
		if err != nil {
			return nil, err
		}
		return deleted(id, "alert_rule", s.ports.Alerts.DeleteAlertRule(ctx, p, id))
	})
	add(s.Router, operation{
		method: http.MethodPost, path: path + "/{id}/test", id: "testAlertRule", tag: tag, summary: "Try the ways of an alert rule",
		about: "Sends an alert.firing that says it is a test, and a mail to each address, and tells what the mail server said.",
	}, func(ctx context.Context, p domain.Principal, in *One) (*answer[ask.AlertTest], error) {
		id, err := alertRule(p, in.ID)
		if err != nil {
			return nil, err
		}
		return ok(s.ports.Alerts.TestAlertRule(ctx, p, id))
	})
	add(s.Router, operation{
		method: http.MethodGet, path: "/v1/alerts", id: "listAlerts", tag: tag, summary: "List the alerts of now",
		about: "What the rules have found and is so now; what is over is in the events.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.Alert]], error) {
		if err := byOperator(p); err != nil {
			return nil, err
		}
		l, err := s.ports.Alerts.ListAlerts(ctx, p, in.page())
		return page(l, err, same)
	})
}

// alertRule is the rule that an operator names.
func alertRule(p domain.Principal, text string) (string, error) {
	if err := byOperator(p); err != nil {
		return "", err
	}
	return named(domain.PrefixAlertRule, text)
}

// CheckRules checks what the schema cannot express.
func (n *NewAlertRule) CheckRules(context.Context, Workspaces, domain.Principal) error {
	return n.apply(&domain.AlertRule{})
}
