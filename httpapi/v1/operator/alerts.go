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

// Alerts manages the alert rules of operators and lists alerts. The handlers have checked that the principal is an
// operator.
type Alerts interface {
	// CreateAlertRule stores a rule. It returns a 422 error with param for an unknown workspace, and for mail addresses
	// if no mail server is configured.
	CreateAlertRule(ctx context.Context, p domain.Principal, r *domain.AlertRule) (*domain.AlertRule, error)
	AlertRule(ctx context.Context, p domain.Principal, id string) (*domain.AlertRule, error)
	ListAlertRules(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.AlertRule], error)
	UpdateAlertRule(ctx context.Context, p domain.Principal, id string, change func(*domain.AlertRule) error) (*domain.AlertRule, error)
	// DeleteAlertRule deletes a rule and its alerts. It sends no notifications.
	DeleteAlertRule(ctx context.Context, p domain.Principal, id string) error
	ListAlerts(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Alert], error)
	// TestAlertRule sends a test event and a test mail to each address of a rule. It waits for the mail server's
	// responses.
	TestAlertRule(ctx context.Context, p domain.Principal, id string) (alertsservice.AlertTest, error)
}

// NewAlertRule is an alert rule in a request body.
type NewAlertRule struct {
	Name     string            `json:"name,omitempty" required:"true" example:"Carrier is down"`
	Kind     string            `json:"kind,omitempty" required:"true" enum:"answer_rate,trunk_down,spend,endpoint_disabled" doc:"Condition of the rule; it cannot change. answer_rate: the share of answered calls is lower than below, among at least min_calls outbound calls of the last minutes. trunk_down: for minutes every target of a trunk is down, or its registration fails. spend: share of daily_spend_cap is used. endpoint_disabled: a webhook endpoint was disabled after failures."`
	Watches  string            `json:"watches_workspace_id,omitempty" doc:"The watched workspace. Empty: every workspace of the installation, each separately."`
	Together bool              `json:"together,omitempty" doc:"true: all workspaces are evaluated together. For answer_rate and spend."`
	Below    float64           `json:"below,omitempty" minimum:"0" maximum:"1" doc:"For answer_rate: the minimum share of answered calls, 0 to 1."`
	MinCalls int               `json:"min_calls,omitempty" doc:"For answer_rate: the minimum number of calls for an alert. Default: 20."`
	Minutes  int               `json:"minutes,omitempty" doc:"1 to 60. For answer_rate: the period of counted calls, by default 15. For trunk_down: how long the trunk must be down, by default 2."`
	Share    float64           `json:"share,omitempty" minimum:"0" maximum:"1" doc:"For spend: the used share of the cap, 0 to 1."`
	Emails   []string          `json:"emails,omitempty" nullable:"false" doc:"Mail addresses, at most ten. They require the setting smtp_addr."`
	Paused   bool              `json:"paused,omitempty" doc:"true: the rule is not evaluated."`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// apply copies the settings of the request body to r and validates r. The kind of a stored rule cannot change.
func (n *NewAlertRule) apply(r *domain.AlertRule) error {
	if r.Kind != "" && n.Kind != string(r.Kind) {
		p := &domain.Problems{}
		p.Add("kind", domain.CodeValidation, "cannot be changed: the kind of the rule is %s; delete the rule and create another one", r.Kind)
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
		Description: "Operators only, like all alert operations. The rule is evaluated every 15 seconds. When its condition holds, Callboard sends alert.firing to the webhooks of the workspace whose key created the rule, and a mail to each address; " +
			"when the condition has not held for five minutes, it sends alert.resolved. Each notification is sent once, also across restarts.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewAlertRule }) (*router.Response[*domain.AlertRule], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		r := &domain.AlertRule{}
		if err := in.Body.apply(r); err != nil {
			return nil, err
		}
		created, err := s.alerts.CreateAlertRule(ctx, p, r)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, created, nil)
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
		Description: "Its alerts end without a notification.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[router.Deleted], error) {
		id, err := alertRule(p, in.ID)
		if err != nil {
			return nil, err
		}
		return router.RespondDeleted(id, "alert_rule", s.alerts.DeleteAlertRule(ctx, p, id))
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", ID: "testAlertRule", Tag: tag, Summary: "Send test notifications of an alert rule",
		Description: "Sends a test alert.firing to the webhooks and a mail to each address. The response has the answers of the mail server.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[alertsservice.AlertTest], error) {
		id, err := alertRule(p, in.ID)
		if err != nil {
			return nil, err
		}
		return router.Respond(s.alerts.TestAlertRule(ctx, p, id))
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/alerts", ID: "listAlerts", Tag: tag, Summary: "List current alerts",
		Description: "Lists alerts whose condition holds. Ended alerts are in the events.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ router.Paging }) (*router.Response[router.List[*domain.Alert]], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		l, err := s.alerts.ListAlerts(ctx, p, in.Query())
		return router.Page(l, err, router.Identity)
	})
}

// alertRule checks that the principal is an operator and returns the validated alert rule id.
func alertRule(p domain.Principal, text string) (string, error) {
	if err := router.RequireOperator(p); err != nil {
		return "", err
	}
	return router.PathID(domain.PrefixAlertRule, text)
}

// CheckRules returns the violations of rules that the JSON schema cannot express.
func (n *NewAlertRule) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.AlertRule{})
}
