package alerts

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

const (
	emailLifetime = 24 * time.Hour // how long an email is retried
	commitTimeout = 10 * time.Second
)

// ruleCheck is one check of all rules. It reads the stored rules and alerts, reads the current values, and commits
// the changes.
type ruleCheck struct {
	cfg              *Config
	activeWorkspaces map[string]bool // workspaces to read; nil: all
}

// workspaceAlerts are the rules, alerts and unsent emails of a workspace.
type workspaceAlerts struct {
	rules      map[string]*domain.AlertRule
	alerts     map[string]*domain.Alert // alerts by rule and subject
	emailCount int
}

func alertKey(rule, subject string) string { return rule + "/" + subject }

func (r *ruleCheck) run(ctx context.Context, now time.Time) (active map[string]bool, hasEmails bool, err error) {
	active = make(map[string]bool)
	byWorkspace := make(map[string]*workspaceAlerts)
	var rules []*domain.AlertRule
	for _, ws := range r.cfg.Workspaces() {
		if r.activeWorkspaces != nil && !r.activeWorkspaces[ws] {
			continue
		}
		s, err := r.readWorkspace(ctx, ws)
		if err != nil {
			return nil, false, err
		}
		if len(s.rules)+len(s.alerts)+s.emailCount == 0 {
			continue
		}
		active[ws], byWorkspace[ws] = true, s
		hasEmails = hasEmails || s.emailCount > 0
		for _, rule := range s.rules {
			if !rule.Paused {
				rules = append(rules, rule)
			}
		}
	}
	read := map[string]RuleReadings{}
	if len(rules) > 0 {
		read = r.cfg.ReadValues(ctx, rules)
	}
	for ws, s := range byWorkspace {
		sent, err := r.commitChanges(ctx, ws, s, read, now)
		if errors.Is(err, domain.ErrFenced) { // the workspace was deleted or moved
			continue
		}
		if err != nil {
			return nil, false, err
		}
		hasEmails = hasEmails || sent
	}
	return active, hasEmails, nil
}

// readWorkspace reads the alert rules and alerts of a workspace, and counts its unsent emails.
func (r *ruleCheck) readWorkspace(ctx context.Context, ws string) (*workspaceAlerts, error) {
	s := &workspaceAlerts{rules: make(map[string]*domain.AlertRule), alerts: make(map[string]*domain.Alert)}
	err := forEachRow(ctx, r.cfg.Store, "alert_rule", ws, func(rule *domain.AlertRule) { s.rules[rule.ID] = rule })
	if err == nil {
		err = forEachRow(ctx, r.cfg.Store, "alert", ws, func(a *domain.Alert) { s.alerts[alertKey(a.RuleID, a.Subject)] = a })
	}
	if err == nil {
		err = forEachRow(ctx, r.cfg.Store, "alert_mail", ws, func(*domain.AlertMail) { s.emailCount++ })
	}
	return s, err
}

// commitChanges commits the alerts of a workspace that have changed.
func (r *ruleCheck) commitChanges(ctx context.Context, ws string, s *workspaceAlerts, read map[string]RuleReadings, now time.Time) (mails bool, err error) {
	c := commit.Change{Workspace: ws}
	seen := make(map[string]bool)
	for id, rule := range s.rules {
		found, known := read[id]
		for key, a := range s.alerts {
			if a.RuleID == id && (found.UnreadWorkspaces[a.OfWorkspaceID] || !known && !rule.Paused) {
				seen[key] = true // the alert stays unchanged
			}
		}
		for _, in := range found.Readings {
			key := alertKey(id, in.Subject)
			seen[key] = true
			before := s.alerts[key]
			after, notice := alert.ApplyReading(rule, before, in, now)
			r.addChange(&c, rule, before, after, notice, now)
		}
	}
	for key, a := range s.alerts { // the subject was deleted, or its rule no longer watches it
		if seen[key] {
			continue
		}
		notice := alert.NoNotification // the person who deleted or paused the rule needs no notice
		rule := s.rules[a.RuleID]
		if a.Status == domain.AlertFiring && rule != nil && !rule.Paused {
			notice = alert.NotifyResolved
		}
		r.addEnd(&c, rule, a, notice, now)
	}
	if len(c.Puts)+len(c.Deletes) == 0 {
		return false, nil
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout) // independent of the time that the reading took
	defer cancel()
	if _, err = r.cfg.Store.Apply(bound, c); err != nil {
		return false, err
	}
	if len(c.Events) > 0 && r.cfg.OnCommitted != nil {
		r.cfg.OnCommitted(ws)
	}
	return slices.ContainsFunc(c.Puts, func(p domain.Record) bool { _, mail := p.(*domain.AlertMail); return mail }), nil
}

// addChange adds to a commit the change of an alert from before to after. nil means that the alert does not exist.
func (r *ruleCheck) addChange(c *commit.Change, rule *domain.AlertRule, before, after *domain.Alert, notice alert.Notification, now time.Time) {
	switch {
	case notice == alert.NotifyResolved:
		r.addEnd(c, rule, after, notice, now)
		return
	case !alert.HasChangedState(before, after):
		return
	case after == nil:
		c.Deletes = append(c.Deletes, before.Key())
		return
	case before == nil:
		after.Meta = domain.Meta{
			ID: mailbox.NewID(domain.PrefixAlert), Object: "alert", WorkspaceID: rule.WorkspaceID, Environment: domain.Live, CreatedAt: now,
		}
	}
	after.UpdatedAt = now
	c.Puts = append(c.Puts, after)
	r.addNotices(c, rule, after, notice, now)
}

// addEnd adds the end of an alert to a commit.
func (r *ruleCheck) addEnd(c *commit.Change, rule *domain.AlertRule, a *domain.Alert, notice alert.Notification, now time.Time) {
	c.Deletes = append(c.Deletes, a.Key())
	r.addNotices(c, rule, a, notice, now)
}

// addNotices adds the event and the emails about an alert to a commit.
func (r *ruleCheck) addNotices(c *commit.Change, rule *domain.AlertRule, a *domain.Alert, notice alert.Notification, now time.Time) {
	if notice == alert.NoNotification {
		return
	}
	c.Events = append(c.Events, NewEvent(a, notice, now))
	if len(rule.Emails) > 0 && r.cfg.Mailer != nil {
		subject, body := alert.FormatMail(a, notice, now)
		for _, to := range rule.Emails { // one email per recipient, because a server may reject single recipients
			c.Puts = append(c.Puts, &domain.AlertMail{
				ID: mailbox.NewID(domain.PrefixAlertMail), WorkspaceID: rule.WorkspaceID, RuleID: rule.ID, To: []string{to}, Subject: subject, Body: body,
				Due: now, Until: now.Add(emailLifetime),
			})
		}
	}
	r.cfg.Log.Warn("alert changed", slog.String("workspace_id", a.WorkspaceID), slog.String("rule_id", a.RuleID), slog.String("kind", string(a.Kind)),
		slog.String("subject", a.Subject), slog.Bool("resolved", notice == alert.NotifyResolved))
}

// NewEvent returns the event about the start or the end of an alert.
func NewEvent(a *domain.Alert, notice alert.Notification, now time.Time) event.Draft {
	d := event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: event.AlertFiring, CreatedAt: now, WorkspaceID: a.WorkspaceID, Environment: domain.Live,
		SvcID: domain.UnitID(a.WorkspaceID), Subject: a.ID,
	}
	if notice == alert.NotifyResolved {
		d.Type = event.AlertResolved
	}
	d.Data = event.AlertData{
		AlertID: a.ID, RuleID: a.RuleID, RuleName: a.RuleName, Kind: a.Kind, OfWorkspaceID: a.OfWorkspaceID, SubjectID: a.Subject, SubjectName: a.Name,
		Value: a.Value, Bound: a.Bound, Calls: a.Count, Since: a.Since, Message: alert.Message(a),
	}
	return d
}

// forEachRow calls each for all stored records of a kind in a workspace, oldest first.
func forEachRow[T any, R interface {
	*T
	domain.Record
}](ctx context.Context, store Store, kind, workspace string, each func(R)) error {
	q := commit.Query{Kind: kind, Workspace: workspace, Index: "all", Oldest: true, Limit: 1000}
	for {
		next, err := store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(rec domain.Record) error {
			if r, ok := rec.(R); ok {
				each(r)
			}
			return nil
		})
		if err != nil || next == "" {
			return err
		}
		q.Cursor = next
	}
}

// emailRun sends the emails that are due. It deletes emails that have expired or whose rule was deleted.
type emailRun struct {
	cfg        *Config
	workspaces []string // workspaces with unsent emails
}

const sendTimeout = 30 * time.Second

func (p *emailRun) run(ctx context.Context, now func() time.Time) error {
	var due, gone []*domain.AlertMail
	for _, ws := range slices.Sorted(slices.Values(p.workspaces)) {
		rules := make(map[string]bool)
		err := forEachRow(ctx, p.cfg.Store, "alert_rule", ws, func(r *domain.AlertRule) { rules[r.ID] = true })
		if err == nil {
			err = forEachRow(ctx, p.cfg.Store, "alert_mail", ws, func(m *domain.AlertMail) {
				switch at := now(); {
				case !rules[m.RuleID], !at.Before(m.Until):
					gone = append(gone, m)
				case !m.Due.After(at):
					due = append(due, m)
				}
			})
		}
		if err != nil {
			return err
		}
	}
	for _, m := range gone {
		p.logger(m).Warn("alert email deleted: it has expired or its rule was deleted", slog.Int("tries", m.Tries))
		if err := p.commit(ctx, commit.Change{Workspace: m.WorkspaceID, Deletes: []domain.Key{m.Key()}}); err != nil {
			return err
		}
	}
	if p.cfg.Mailer == nil {
		return nil
	}
	for _, m := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.send(ctx, m, now); err != nil {
			return err
		}
	}
	return nil
}

// send tries to send one email and stores the result. It returns only errors of the store.
func (p *emailRun) send(ctx context.Context, m *domain.AlertMail, now func() time.Time) error {
	bound, cancel := context.WithTimeout(ctx, sendTimeout)
	failed := p.cfg.Mailer.Send(bound, Email{ID: m.ID, To: m.To, Subject: m.Subject, Body: m.Body})
	cancel()
	c := commit.Change{Workspace: m.WorkspaceID}
	if failed == nil {
		c.Deletes = []domain.Key{m.Key()}
	} else {
		m.Tries++
		m.Due = now().UTC().Add(alert.MailRetryDelay(m.Tries))
		p.logger(m).Warn("alert email could not be sent; trying again", slog.Any("error", failed), slog.Time("due", m.Due))
		c.Puts = []domain.Record{m}
	}
	return p.commit(ctx, c)
}

// commit stores the result of sending an email. It ignores the deadline of ctx, because a sent email must not be sent again.
func (p *emailRun) commit(ctx context.Context, c commit.Change) error {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	_, err := p.cfg.Store.Apply(bound, c)
	if errors.Is(err, domain.ErrFenced) { // the workspace was deleted or moved
		return nil
	}
	return err
}

func (p *emailRun) logger(m *domain.AlertMail) *slog.Logger {
	return p.cfg.Log.With(slog.String("workspace_id", m.WorkspaceID), slog.String("rule_id", m.RuleID))
}
