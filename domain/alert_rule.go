package domain

import "time"

// AlertKind is what an alert rule watches.
type AlertKind string

// The kinds of alert rules.
const (
	AlertAnswerRate       AlertKind = "answer_rate"       // too few of the outbound calls are answered
	AlertTrunkDown        AlertKind = "trunk_down"        // every target of a trunk is out, or its registration failed
	AlertSpend            AlertKind = "spend"             // a share of the daily spend cap is used up
	AlertEndpointDisabled AlertKind = "endpoint_disabled" // a webhook endpoint was disabled because it failed
)

// Values are the kinds of an alert.
func (AlertKind) Values() []string {
	return values(AlertAnswerRate, AlertTrunkDown, AlertSpend, AlertEndpointDisabled)
}

// AlertRule is what an operator wants to be told of. It is of the workspace
// whose key made it: its events are that workspace's. What it watches may be
// others.
type AlertRule struct {
	Meta
	Name               string    `json:"name"`
	Kind               AlertKind `json:"kind"`
	WatchesWorkspaceID string    `json:"watches_workspace_id,omitempty"` // "": every workspace of the install
	Together           bool      `json:"together"`                       // all workspaces as one; answer_rate and spend
	Below              float64   `json:"below,omitempty"`                // answer_rate: share of the calls, 0 to 1
	MinCalls           int       `json:"min_calls,omitempty"`            // answer_rate: with fewer nothing is said
	Minutes            int       `json:"minutes,omitempty"`              // answer_rate: of so many minutes; trunk_down: for so long
	Share              float64   `json:"share,omitempty"`                // spend: of the cap, 0 to 1
	Emails             []string  `json:"emails"`
	Paused             bool      `json:"paused"`
}

// Key names the row.
func (r *AlertRule) Key() Key { return Key{"alert_rule", r.WorkspaceID, r.ID} }

// Indexes: all.
func (r *AlertRule) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (r *AlertRule) Sort() string { return r.ID }

// AlertStatus is where an alert stands.
type AlertStatus string

// The states of an alert. One that is over has no row.
const (
	AlertPending AlertStatus = "pending" // it is so, and not for long enough yet
	AlertFiring  AlertStatus = "firing"  // somebody was told
)

// Values are the states of an alert.
func (AlertStatus) Values() []string {
	return values(AlertPending, AlertFiring)
}

// Alert is one thing that a rule has found. There is at most one of a rule and
// a subject.
type Alert struct {
	Meta
	RuleID        string      `json:"rule_id"`
	RuleName      string      `json:"rule_name"`
	Kind          AlertKind   `json:"kind"`
	OfWorkspaceID string      `json:"of_workspace_id,omitempty"` // which workspace it is about; "": all together
	Subject       string      `json:"subject"`                   // id of the trunk, the endpoint, the workspace; or all
	Name          string      `json:"subject_name"`
	Status        AlertStatus `json:"status"`
	Since         time.Time   `json:"since"`
	FiredAt       *time.Time  `json:"fired_at"`
	WellSince     *time.Time  `json:"well_since"` // of one that fires: it is not so any more, and not for long enough yet
	Value         float64     `json:"value"`
	Bound         float64     `json:"bound"`
	Count         int         `json:"count"` // calls, of an answer rate
}

// Key names the row: a rule and what it was found at.
func (a *Alert) Key() Key { return Key{"alert", a.WorkspaceID, a.RuleID + "/" + a.Subject} }

// Indexes: all.
func (a *Alert) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (a *Alert) Sort() string { return a.ID }

// AlertMail is a mail to one address that is to be sent: at least once, until it
// is taken or given up.
type AlertMail struct {
	ID          string    `json:"id"`
	WorkspaceID string    `json:"workspace_id"`
	RuleID      string    `json:"rule_id"`
	To          []string  `json:"to"`
	Subject     string    `json:"subject"`
	Body        string    `json:"body"`
	Tries       int       `json:"tries"`
	Due         time.Time `json:"due"`
	Until       time.Time `json:"until"` // given up then
}

// Key names the row.
func (m *AlertMail) Key() Key { return Key{"alert_mail", m.WorkspaceID, m.ID} }

// Indexes: all.
func (m *AlertMail) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (m *AlertMail) Sort() string { return m.ID }
