package httpapi_test

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/record"
)

// fakeAlerts holds the alert rules and alerts of fakeServices.
type fakeAlerts struct {
	alertRules fakeRecords[*domain.AlertRule]
	alerts     fakeRecords[*domain.Alert]
}

func (w *fakeAlerts) setKinds() {
	w.alertRules.kind, w.alerts.kind = domain.PrefixAlertRule, domain.PrefixAlert
	at := w.alerts.add(&domain.Alert{
		RuleID: "alertrule_" + ulidOf(1), RuleName: "r", Kind: domain.AlertTrunkDown, OfWorkspaceID: "ws_" + ulidOf(1), Subject: "trunk_" + ulidOf(1), Name: "carrier",
		Status: domain.AlertFiring,
	})
	at.Since, at.FiredAt = at.CreatedAt, &at.CreatedAt
}

func (f *fakeServices) CreateAlertRule(_ context.Context, _ domain.Principal, r *domain.AlertRule) (*domain.AlertRule, error) {
	return f.alertRules.add(r), nil
}

func (f *fakeServices) AlertRule(_ context.Context, _ domain.Principal, id string) (*domain.AlertRule, error) {
	return f.alertRules.get(id)
}

func (f *fakeServices) ListAlertRules(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.AlertRule], error) {
	return f.alertRules.list(q), nil
}

func (f *fakeServices) UpdateAlertRule(_ context.Context, _ domain.Principal, id string, change func(*domain.AlertRule) error) (*domain.AlertRule, error) {
	return updateRecord(&f.alertRules, id, change)
}

func (f *fakeServices) DeleteAlertRule(_ context.Context, _ domain.Principal, id string) error {
	return f.alertRules.remove(id)
}

func (f *fakeServices) ListAlerts(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Alert], error) {
	return f.alerts.list(q), nil
}

func (f *fakeServices) EvaluateRules(_ context.Context, rules []*domain.AlertRule) (map[string]alert.Findings, error) {
	out := make(map[string]alert.Findings)
	for _, r := range rules {
		out[r.ID] = alert.Findings{Attempts: 7, Readings: []alert.Reading{{WorkspaceID: f.workspace.ID, Subject: string(r.Kind)}}}
	}
	return out, nil
}

func (f *fakeServices) TestAlertRule(_ context.Context, _ domain.Principal, id string) (alerts.AlertTest, error) {
	_, err := f.alertRules.get(id)
	return alerts.AlertTest{EventID: "evt_" + ulidOf(1), Mails: []alerts.AlertMailTest{{To: "ops@example.com", Error: "no"}}}, err
}
