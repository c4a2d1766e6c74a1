package actors

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	alertsservice "github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/record"
)

// maxAlertRules bounds the rules that the operators of one workspace have.
const maxAlertRules = 100

// mailWithin bounds how long mails may take that somebody waits for, all
// together.
const mailWithin = 20 * time.Second

// alertsActor is the id of the actor of alerts.
const alertsActor = "alerts"

// growAlerts starts the actor that looks for alerts.
func (n *Node) growAlerts() error {
	if n.Quarantined() { // it would send mails
		return nil
	}
	root := n.sys.Root.Copy().WithGuardian(mailbox.Restart(n.cfg.Log, func(pid *actor.PID, reason any) {
		n.cfg.Log.Error("an actor was given up", slog.String("actor", pid.Id), slog.Any("reason", reason))
	}))
	cfg := alerts.Config{
		Store: n.cfg.Store, Workspaces: n.workspaceIDs, Read: n.readAlerts, Mail: n.cfg.Mail, Committed: n.Committed, Every: n.cfg.AlertsEvery, Log: n.cfg.Log,
	}
	_, err := root.SpawnNamed(mailbox.Props(n.overseen(alertsActor, func() actor.Actor { return alerts.New(cfg) }), 1000), alertsActor)
	return err
}

// alertsChanged has the actor look now.
func (n *Node) alertsChanged(workspace string) {
	if n.Quarantined() {
		return
	}
	n.sys.Root.Send(n.sys.NewLocalPID(alertsActor), alerts.Changed{Workspace: workspace})
}

// CreateAlertRule keeps a rule.
func (d *Desk) CreateAlertRule(ctx context.Context, p domain.Principal, r *domain.AlertRule) (*domain.AlertRule, error) {
	if made, err := record.CreatedBySameRequest[domain.AlertRule](ctx, d.store, p, domain.PrefixAlertRule); made != nil || err != nil {
		return made, err
	}
	if err := d.ruleFits(ctx, r, &domain.AlertRule{}); err != nil {
		return nil, err
	}
	n := 0
	if err := commit.Each(ctx, d.store, "alert_rule", p.WorkspaceID, "all", func(*domain.AlertRule) { n++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if n >= maxAlertRules {
		return nil, domain.Errorf(domain.CodeInvalidState, "there are %d alert rules, which is the most", maxAlertRules)
	}
	record.SetMeta(&r.Meta, "alert_rule", p, record.NewID(ctx, domain.PrefixAlertRule), record.Now())
	if err := record.Create(ctx, d.store, r); err != nil {
		return nil, err
	}
	d.node.alertsChanged(p.WorkspaceID)
	return r, nil
}

// ruleFits says what a change asks of this service that it has not. What a rule
// had before may be gone by now: such a rule can still be paused and changed.
func (d *Desk) ruleFits(ctx context.Context, r, before *domain.AlertRule) error {
	if r.Watches != "" && r.Watches != before.Watches && !d.node.knows(ctx, r.Watches) {
		return record.FieldError("watches_workspace_id", domain.CodeValidation, "there is no such workspace")
	}
	added := slices.ContainsFunc(r.Emails, func(to string) bool { return !slices.Contains(before.Emails, to) })
	if added && d.node.cfg.Mail == nil {
		return record.FieldError("emails", domain.CodeValidation, "no mail server is set up: smtp_addr")
	}
	return nil
}

// AlertRule reads one.
func (d *Desk) AlertRule(ctx context.Context, p domain.Principal, id string) (*domain.AlertRule, error) {
	r, _, err := record.Get[domain.AlertRule](ctx, d.store, p, domain.PrefixAlertRule, id)
	return r, err
}

// ListAlertRules reads a page.
func (d *Desk) ListAlertRules(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.AlertRule], error) {
	return record.List[domain.AlertRule](ctx, d.store, p.WorkspaceID, "all", domain.PrefixAlertRule, q, nil)
}

// UpdateAlertRule changes a rule. What it has found so far stands until the next
// look, which follows at once.
func (d *Desk) UpdateAlertRule(ctx context.Context, p domain.Principal, id string, change func(*domain.AlertRule) error) (*domain.AlertRule, error) {
	r, err := record.Update(ctx, d.store, p, domain.PrefixAlertRule, id, func(r *domain.AlertRule) error {
		before := &domain.AlertRule{Watches: r.Watches, Emails: slices.Clone(r.Emails)}
		if err := change(r); err != nil {
			return err
		}
		return d.ruleFits(ctx, r, before)
	})
	if err == nil {
		d.node.alertsChanged(p.WorkspaceID)
	}
	return r, err
}

// DeleteAlertRule removes a rule; what it has found is over.
func (d *Desk) DeleteAlertRule(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete[domain.AlertRule](ctx, d.store, p, domain.PrefixAlertRule, id)
	if err == nil {
		d.node.alertsChanged(p.WorkspaceID)
	}
	return err
}

// ListAlerts reads a page of what the rules have found and is so now.
func (d *Desk) ListAlerts(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Alert], error) {
	return record.List[domain.Alert](ctx, d.store, p.WorkspaceID, "all", domain.PrefixAlert, q, nil)
}

// TestAlertRule tells of an alert that is none, by the ways of a rule: an event,
// and a mail to each of its addresses.
func (d *Desk) TestAlertRule(ctx context.Context, p domain.Principal, id string) (alertsservice.AlertTest, error) {
	r, err := d.AlertRule(ctx, p, id)
	if err != nil {
		return alertsservice.AlertTest{}, err
	}
	now := record.Now()
	a := &domain.Alert{
		Meta:   domain.Meta{ID: mailbox.NewID(domain.PrefixAlert), WorkspaceID: p.WorkspaceID},
		RuleID: r.ID, RuleName: r.Name, Kind: r.Kind, Of: r.Watches, Subject: r.ID, Name: "a test of " + r.Name, Status: domain.AlertFiring, Since: now,
	}
	e := alerts.Event(a, alert.Firing, now)
	if data, ok := e.Data.(event.AlertData); ok {
		data.Message = "this is a test: " + data.Message
		e.Data = data
	}
	if _, err = d.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Events: []event.Draft{e}}); err != nil {
		return alertsservice.AlertTest{}, record.StoreError(err)
	}
	d.node.Committed(p.WorkspaceID)
	out := alertsservice.AlertTest{EventID: e.ID, AlertID: a.ID, Mails: []alertsservice.AlertMailTest{}}
	if len(r.Emails) == 0 || d.node.cfg.Mail == nil || d.node.Quarantined() {
		return out, nil
	}
	subject, body := alert.Mail(a, alert.Firing, now)
	bound, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	out.Mails = make([]alertsservice.AlertMailTest, len(r.Emails))
	var wait sync.WaitGroup
	for i, to := range r.Emails {
		wait.Go(func() {
			one := alertsservice.AlertMailTest{To: to, Sent: true}
			if err := d.node.cfg.Mail.Send(bound, alerts.Letter{ID: mailbox.NewID(domain.PrefixAlertMail), To: []string{to}, Subject: "this is a test: " + subject, Body: body}); err != nil {
				one.Sent, one.Error = false, err.Error()
			}
			out.Mails[i] = one
		})
	}
	wait.Wait()
	return out, nil
}
