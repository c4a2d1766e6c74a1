package domain

import "time"

// AlertKind selects what an alert rule watches, such as a trunk or the spend.
type AlertKind string

// The kinds of alert rules.
const (
	AlertAnswerRate       AlertKind = "answer_rate"       // too few outbound calls are answered
	AlertTrunkDown        AlertKind = "trunk_down"        // all targets of a trunk are down, or its registration failed
	AlertSpend            AlertKind = "spend"             // outbound calls reached a share of the daily spend cap
	AlertEndpointDisabled AlertKind = "endpoint_disabled" // a webhook endpoint was disabled after failures
)

// Values returns the kinds of alert rules.
func (AlertKind) Values() []string {
	return values(AlertAnswerRate, AlertTrunkDown, AlertSpend, AlertEndpointDisabled)
}

// AlertRule defines when operators are alerted. It belongs to the workspace whose key created it, and its events
// appear there. It may watch other workspaces.
type AlertRule struct {
	Meta
	Name               string    `json:"name"`
	Kind               AlertKind `json:"kind"`
	WatchesWorkspaceID string    `json:"watches_workspace_id,omitempty"` // empty: every workspace of the installation
	Together           bool      `json:"together"`                       // all workspaces are counted together; for answer_rate and spend
	Below              float64   `json:"below,omitempty"`                // answer_rate: share of answered calls, 0 to 1
	MinCalls           int       `json:"min_calls,omitempty"`            // answer_rate: with fewer calls the rule is not evaluated
	Minutes            int       `json:"minutes,omitempty"`              // answer_rate: length of the window; trunk_down: delay before the alert fires
	Share              float64   `json:"share,omitempty"`                // spend: share of the daily spend cap, 0 to 1
	Emails             []string  `json:"emails"`
	Paused             bool      `json:"paused"`
}

// Key returns the key of the alert rule in the store.
func (r *AlertRule) Key() Key { return Key{"alert_rule", r.WorkspaceID, r.ID} }

// Indexes returns the index of all alert rules.
func (r *AlertRule) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (r *AlertRule) Sort() string { return r.ID }

// AlertStatus is the state of an alert.
type AlertStatus string

// States of an alert. An alert that is resolved is deleted.
const (
	AlertPending AlertStatus = "pending" // the condition is met, but not for long enough
	AlertFiring  AlertStatus = "firing"  // notifications were sent
)

// Values returns the states of an alert.
func (AlertStatus) Values() []string {
	return values(AlertPending, AlertFiring)
}

// Alert is a subject of an alert rule, such as a trunk, that meets the condition of the rule. There is at most one alert
// for each rule and subject.
type Alert struct {
	Meta
	RuleID        string      `json:"rule_id"`
	RuleName      string      `json:"rule_name"`
	Kind          AlertKind   `json:"kind"`
	OfWorkspaceID string      `json:"of_workspace_id,omitempty"` // workspace of the subject; empty: all workspaces together
	Subject       string      `json:"subject"`                   // ID of the trunk, endpoint or workspace, or "all"
	Name          string      `json:"subject_name"`
	Status        AlertStatus `json:"status"`
	Since         time.Time   `json:"since"`
	FiredAt       *time.Time  `json:"fired_at"`
	WellSince     *time.Time  `json:"well_since"` // firing: since when the condition is not met; the alert resolves after a delay
	Value         float64     `json:"value"`
	Bound         float64     `json:"bound"`
	Count         int         `json:"count"` // answer_rate: number of calls
}

// Key returns the key of the alert in the store. It contains the rule ID and the subject.
func (a *Alert) Key() Key { return Key{"alert", a.WorkspaceID, a.RuleID + "/" + a.Subject} }

// Indexes returns the index of all alerts.
func (a *Alert) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (a *Alert) Sort() string { return a.ID }

// AlertMail is an alert notification to one email address that is not yet sent. The service tries until a mail server
// accepts it or Until has passed. After a crash it may send the mail twice.
type AlertMail struct {
	ID          string    `json:"id"`
	WorkspaceID string    `json:"workspace_id"`
	RuleID      string    `json:"rule_id"`
	To          []string  `json:"to"`
	Subject     string    `json:"subject"`
	Body        string    `json:"body"`
	Tries       int       `json:"tries"`
	Due         time.Time `json:"due"`
	Until       time.Time `json:"until"` // no further attempts after this time
}

// Key returns the key of the alert mail in the store.
func (m *AlertMail) Key() Key { return Key{"alert_mail", m.WorkspaceID, m.ID} }

// Indexes returns the index of all alert mails.
func (m *AlertMail) Indexes() []string { return []string{"all"} }

// Sort returns the ID, which sorts by creation time.
func (m *AlertMail) Sort() string { return m.ID }
