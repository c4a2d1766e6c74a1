package operator

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	alertsservice "github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/record"
)

// alertHandlers serves the operations of alert rules.
type alertHandlers struct {
	*router.Router

	alerts Alerts
}

// Alerts are alert rules and alerts of operators. The middleware has checked that the credential is an operator's.
type Alerts interface {
	// CreateAlertRule: 422 with param where a rule watches a workspace that is
	// not there, or is to send mail where there is no mail server.
	CreateAlertRule(ctx context.Context, p domain.Principal, r *domain.AlertRule) (*domain.AlertRule, error)
	AlertRule(ctx context.Context, p domain.Principal, id string) (*domain.AlertRule, error)
	ListAlertRules(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.AlertRule], error)
	UpdateAlertRule(ctx context.Context, p domain.Principal, id string, change func(*domain.AlertRule) error) (*domain.AlertRule, error)
	// DeleteAlertRule: what the rule has found is over, and nobody is told of it.
	DeleteAlertRule(ctx context.Context, p domain.Principal, id string) error
	ListAlerts(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Alert], error)
	// TestAlertRule sends by all ways of a rule, and waits for the mails.
	TestAlertRule(ctx context.Context, p domain.Principal, id string) (alertsservice.AlertTest, error)
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
	r.Name, r.Kind, r.WatchesWorkspaceID, r.Together = n.Name, domain.AlertKind(n.Kind), n.Watches, n.Together
	r.Below, r.MinCalls, r.Minutes, r.Share = n.Below, n.MinCalls, n.Minutes, n.Share
	r.Emails, r.Paused, r.Metadata = n.Emails, n.Paused, n.Metadata
	return validation.AlertRule(r).Err()
}

// registerAlerts registers the operations of alert rules.
func registerAlerts(r *router.Router, alerts Alerts) {
	s := &alertHandlers{Router: r, alerts: alerts}
	const tag, path = "Alerts", "/v1/alert-rules"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createAlertRule", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an alert rule",
		Description: "Operators only, as all of alerts. It is looked every 15 seconds whether it is so. Once it is, alert.firing is sent to the webhooks of the workspace whose key made the rule, and a mail to each address; " +
			"once it is well again for five minutes, alert.resolved. Each is told once, also across restarts.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewAlertRule }) (*router.Response[*domain.AlertRule], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		r := &domain.AlertRule{}
		if err := in.Body.apply(r); err != nil {
			return nil, err
		}
		made, err := s.alerts.CreateAlertRule(ctx, p, r)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, made, nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAlertRules", Tag: tag, Summary: "List alert rules"},
		func(ctx context.Context, p domain.Principal, in *struct{ router.Paging }) (*router.Response[router.List[*domain.AlertRule]], error) {
			if err := router.RequireOperator(p); err != nil {
				return nil, err
			}
			l, err := s.alerts.ListAlertRules(ctx, p, in.Query())
			return router.Page(l, err, router.Identity)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getAlertRule", Tag: tag, Summary: "Get an alert rule"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.AlertRule], error) {
			id, err := alertRule(p, in.ID)
			if err != nil {
				return nil, err
			}
			return router.Respond(s.alerts.AlertRule(ctx, p, id))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateAlertRule", Credential: router.KeyOrSession, Tag: tag, Summary: "Change an alert rule"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body router.Patch[NewAlertRule]
		},
		) (*router.Response[*domain.AlertRule], error) {
			id, err := alertRule(p, in.ID)
			if err != nil {
				return nil, err
			}
			return router.Respond(s.alerts.UpdateAlertRule(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, (*NewAlertRule).apply)))
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteAlertRule", Credential: router.KeyOrSession, Tag: tag, Summary: "Delete an alert rule",
		Description: "What it has found is over, and nobody is told of that.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[router.Deleted], error) {
		id, err := alertRule(p, in.ID)
		if err != nil {
			return nil, err
		}
		return router.RespondDeleted(id, "alert_rule", s.alerts.DeleteAlertRule(ctx, p, id))
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", ID: "testAlertRule", Tag: tag, Summary: "Try the ways of an alert rule",
		Description: "Sends an alert.firing that says it is a test, and a mail to each address, and tells what the mail server said.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[alertsservice.AlertTest], error) {
		id, err := alertRule(p, in.ID)
		if err != nil {
			return nil, err
		}
		return router.Respond(s.alerts.TestAlertRule(ctx, p, id))
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/alerts", ID: "listAlerts", Tag: tag, Summary: "List the alerts of now",
		Description: "What the rules have found and is so now; what is over is in the events.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ router.Paging }) (*router.Response[router.List[*domain.Alert]], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		l, err := s.alerts.ListAlerts(ctx, p, in.Query())
		return router.Page(l, err, router.Identity)
	})
}

// alertRule is the rule that an operator names.
func alertRule(p domain.Principal, text string) (string, error) {
	if err := router.RequireOperator(p); err != nil {
		return "", err
	}
	return router.PathID(domain.PrefixAlertRule, text)
}

// CheckRules checks what the schema cannot express.
func (n *NewAlertRule) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.AlertRule{})
}
