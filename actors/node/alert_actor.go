package node

import (
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/mailbox"
)

// alertsActor is the actor ID of the actor that evaluates alert rules.
const alertsActor = "alerts"

// startAlerts starts the actor that evaluates alert rules.
func (n *Node) startAlerts() error {
	if n.Quarantined() { // the alerts actor would send mails
		return nil
	}
	root := n.sys.Root.Copy().WithGuardian(mailbox.RestartStrategy(n.cfg.Log, func(pid *actor.PID, reason any) {
		n.cfg.Log.Error("an actor failed too often and is not restarted", slog.String("actor", pid.Id), slog.Any("reason", reason))
	}))
	cfg := alerts.Config{
		Store: n.cfg.Store, Workspaces: n.WorkspaceIDs, ReadValues: n.services.Alerts.Read, Mailer: n.cfg.Mail, OnCommitted: n.Committed, CheckInterval: n.cfg.AlertInterval, Log: n.cfg.Log,
	}
	_, err := root.SpawnNamed(mailbox.Props(n.observeMessages(alertsActor, func() actor.Actor { return alerts.New(cfg) }), 1000), alertsActor)
	return err
}

// AlertRulesChanged makes the alerts actor evaluate the rules of a workspace now.
func (n *Node) AlertRulesChanged(workspaceID string) {
	if n.Quarantined() {
		return
	}
	n.sys.Root.Send(n.sys.NewLocalPID(alertsActor), alerts.RuleChanged{Workspace: workspaceID})
}
