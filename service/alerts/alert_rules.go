// Package alerts is the service for the alert rules of operators: it manages the rules and reads the values that
// they watch.
package alerts

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	alertactor "github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// maxAlertRules is the maximum number of alert rules of one workspace.
const maxAlertRules = 100

// mailTimeout limits how long TestAlertRule waits for its mails.
const mailTimeout = 20 * time.Second

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	Workspaces workspaces
	Shards     shards
	Outbox     record.Outbox
	System     *actor.ActorSystem
	Node       node
	Mail       alertactor.Mailer // nil: no mail server is configured
	// ReadOtherShards returns the values that rules watch on the other shards. It is nil if there is only one shard.
	ReadOtherShards func(ctx context.Context, rules []*domain.AlertRule) alert.PeerFindings
	// RulesChanged makes the alerts actor of a workspace evaluate its rules at once.
	RulesChanged func(workspaceID string)
	Log          *slog.Logger
}

// workspaces gives access to the workspaces whose actors run on this node.
type workspaces interface {
	// WorkspaceIDs returns the ids of the workspaces whose actors run on this node.
	WorkspaceIDs() []string
	// Workspace returns a workspace, or nil if the workspace is unknown on this node.
	Workspace(id string) *domain.Workspace
	// TrunksPID returns the trunks actor of a workspace. Errors: not_found, unavailable.
	TrunksPID(id string) (*actor.PID, error)
}

// shards tells which workspaces belong to this shard and which to other shards.
type shards interface {
	// OwnsWorkspace reports whether a workspace belongs to this shard.
	OwnsWorkspace(id string) bool
	// OtherWorkspaces returns the workspaces of other shards. known is false until this node has read them once.
	OtherWorkspaces() (all []*domain.Workspace, known bool)
	// WorkspaceExists reports whether the installation has this workspace.
	WorkspaceExists(ctx context.Context, id string) bool
}

// node reports whether this node may evaluate rules and send mails.
type node interface {
	// IsStopping reports whether the node is stopping.
	IsStopping() bool
	// Quarantined reports whether the store is in quarantine, so that nothing may leave the node.
	Quarantined() bool
}

// Service manages alert rules and reads the values that they watch.
type Service struct {
	store           commit.Store
	workspaces      workspaces
	shards          shards
	outbox          record.Outbox
	system          *actor.ActorSystem
	node            node
	mail            alertactor.Mailer
	readOtherShards func(context.Context, []*domain.AlertRule) alert.PeerFindings
	rulesChanged    func(workspaceID string)
	log             *slog.Logger
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, workspaces: c.Workspaces, shards: c.Shards, outbox: c.Outbox, system: c.System, node: c.Node, mail: c.Mail,
		readOtherShards: c.ReadOtherShards, rulesChanged: c.RulesChanged, log: c.Log,
	}
}

// CreateAlertRule stores a rule. Errors: validation_failed, or invalid_state if there are already maxAlertRules rules.
func (s *Service) CreateAlertRule(ctx context.Context, p domain.Principal, r *domain.AlertRule) (*domain.AlertRule, error) {
	if earlier, err := record.CreatedBySameRequest[domain.AlertRule](ctx, s.store, p, domain.PrefixAlertRule); earlier != nil || err != nil {
		return earlier, err
	}
	if err := s.checkRule(ctx, r, &domain.AlertRule{}); err != nil {
		return nil, err
	}
	n := 0
	if err := commit.ForEachRow(ctx, s.store, "alert_rule", p.WorkspaceID, "all", func(*domain.AlertRule) { n++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if n >= maxAlertRules {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d alert rules, which is the maximum; delete one first", maxAlertRules)
	}
	r.Init("alert_rule", p, record.RequestResourceID(ctx, domain.PrefixAlertRule), record.Now())
	if err := record.Create(ctx, s.store, r); err != nil {
		return nil, err
	}
	s.rulesChanged(p.WorkspaceID)
	return r, nil
}

// checkRule returns a validation error if the watched workspace is unknown, or if email addresses are set but the
// installation has no mail server. It skips values that the rule had before. So a rule whose workspace was deleted can
// still be paused and changed.
func (s *Service) checkRule(ctx context.Context, r, before *domain.AlertRule) error {
	if r.WatchesWorkspaceID != "" && r.WatchesWorkspaceID != before.WatchesWorkspaceID && !s.shards.WorkspaceExists(ctx, r.WatchesWorkspaceID) {
		return domain.FieldError("watches_workspace_id", domain.CodeValidation, "there is no such workspace")
	}
	added := slices.ContainsFunc(r.Emails, func(to string) bool { return !slices.Contains(before.Emails, to) })
	if added && s.mail == nil {
		return domain.FieldError("emails", domain.CodeValidation, "no mail server is configured; set smtp_addr")
	}
	return nil
}

// AlertRule returns one rule. Errors: not_found.
func (s *Service) AlertRule(ctx context.Context, p domain.Principal, id string) (*domain.AlertRule, error) {
	r, _, err := record.Get[domain.AlertRule](ctx, s.store, p, domain.PrefixAlertRule, id)
	return r, err
}

// ListAlertRules returns a page of rules.
func (s *Service) ListAlertRules(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.AlertRule], error) {
	return record.List[domain.AlertRule](ctx, s.store, p.WorkspaceID, "all", domain.PrefixAlertRule, q, nil)
}

// UpdateAlertRule changes a rule and evaluates it at once. Its current alerts stay until that evaluation.
func (s *Service) UpdateAlertRule(ctx context.Context, p domain.Principal, id string, change func(*domain.AlertRule) error) (*domain.AlertRule, error) {
	r, err := record.Update(ctx, s.store, p, domain.PrefixAlertRule, id, func(r *domain.AlertRule) error {
		before := &domain.AlertRule{WatchesWorkspaceID: r.WatchesWorkspaceID, Emails: slices.Clone(r.Emails)}
		if err := change(r); err != nil {
			return err
		}
		return s.checkRule(ctx, r, before)
	})
	if err == nil {
		s.rulesChanged(p.WorkspaceID)
	}
	return r, err
}

// DeleteAlertRule deletes a rule with its alerts.
func (s *Service) DeleteAlertRule(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete[domain.AlertRule](ctx, s.store, p, domain.PrefixAlertRule, id)
	if err == nil {
		s.rulesChanged(p.WorkspaceID)
	}
	return err
}

// ListAlerts returns a page of the current alerts.
func (s *Service) ListAlerts(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Alert], error) {
	return record.List[domain.Alert](ctx, s.store, p.WorkspaceID, "all", domain.PrefixAlert, q, nil)
}

// TestAlertRule sends a test alert over all channels of a rule: an event, and a mail to each address. Errors:
// not_found.
func (s *Service) TestAlertRule(ctx context.Context, p domain.Principal, id string) (AlertTest, error) {
	r, err := s.AlertRule(ctx, p, id)
	if err != nil {
		return AlertTest{}, err
	}
	now := record.Now()
	a := &domain.Alert{
		Meta:   domain.Meta{ID: mailbox.NewID(domain.PrefixAlert), WorkspaceID: p.WorkspaceID},
		RuleID: r.ID, RuleName: r.Name, Kind: r.Kind, OfWorkspaceID: r.WatchesWorkspaceID, Subject: r.ID, Name: "a test of " + r.Name, Status: domain.AlertFiring, Since: now,
	}
	e := alertactor.NewEvent(a, alert.NotifyFiring, now)
	if data, ok := e.Data.(event.AlertData); ok {
		data.Message = "this is a test: " + data.Message
		e.Data = data
	}
	if _, err = s.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Events: []event.Draft{e}}); err != nil {
		return AlertTest{}, commit.StoreError(err)
	}
	s.outbox.Committed(p.WorkspaceID)
	out := AlertTest{EventID: e.ID, AlertID: a.ID, Mails: []AlertMailTest{}}
	if len(r.Emails) == 0 || s.mail == nil || s.node.Quarantined() {
		return out, nil
	}
	subject, body := alert.FormatMail(a, alert.NotifyFiring, now)
	mailCtx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	out.Mails = make([]AlertMailTest, len(r.Emails))
	var wait sync.WaitGroup
	for i, to := range r.Emails {
		wait.Go(func() {
			result := AlertMailTest{To: to, Sent: true}
			if err := s.mail.Send(mailCtx, alertactor.Email{ID: mailbox.NewID(domain.PrefixAlertMail), To: []string{to}, Subject: "this is a test: " + subject, Body: body}); err != nil {
				result.Sent, result.Error = false, err.Error()
			}
			out.Mails[i] = result
		})
	}
	wait.Wait()
	return out, nil
}
