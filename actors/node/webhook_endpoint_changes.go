package node

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
)

// webhookActors notifies the actors of webhook endpoints.
type webhookActors struct {
	workspaces    *workspaceTable
	sys           *actor.ActorSystem
	children      *childStarter
	webhookClient *webhook.Client   // checks URLs and sends the requests of endpoints
	webhookPool   *webhook.SendPool // shared by the endpoints of all workspaces
	webhookLedger *webhook.ResultCommitter
}

// CheckURL checks that the egress rules allow a webhook URL. The error names param as the invalid field of the request.
func (a *webhookActors) CheckURL(ctx context.Context, param, url string) error {
	err := a.webhookClient.CheckURL(ctx, url)
	if e, ok := errors.AsType[*domain.Error](err); ok {
		c := *e
		c.Param = param
		for i := range c.Details {
			c.Details[i].Param = param
		}
		return &c
	}
	return err
}

// WebhookCreating notifies the outbox of an endpoint that is about to be committed, so that it misses no event.
func (a *webhookActors) WebhookCreating(w *domain.Webhook) {
	if t := a.workspaces.tree(w.WorkspaceID); t != nil {
		a.sys.Root.Send(t.outbox, outbox.EndpointChanged{Webhook: *w})
	}
}

// WebhookChanged notifies the outbox and the endpoint actor of a new or changed endpoint.
func (a *webhookActors) WebhookChanged(ctx context.Context, w *domain.Webhook) {
	t := a.workspaces.tree(w.WorkspaceID)
	if t == nil { // the workspace was deleted meanwhile
		return
	}
	a.sys.Root.Send(t.outbox, outbox.EndpointChanged{Webhook: *w})
	a.children.startChild(ctx, t.webhooks, workspace.SpawnChild{ID: w.ID})
	a.sys.Root.Send(a.WebhookPID(w), webhook.EndpointChanged{})
}

// WebhookDeleted notifies the outbox and the endpoint actor that an endpoint was deleted.
func (a *webhookActors) WebhookDeleted(w *domain.Webhook) {
	t := a.workspaces.tree(w.WorkspaceID)
	if t == nil {
		return
	}
	a.sys.Root.Send(t.outbox, outbox.EndpointDeleted{WebhookID: w.ID})
	a.sys.Root.Send(a.WebhookPID(w), webhook.EndpointDeleted{})
}

// WebhookPID returns the actor of an endpoint.
func (a *webhookActors) WebhookPID(w *domain.Webhook) *actor.PID {
	return workspace.PID(a.sys, w.WorkspaceID, workspace.Webhooks, w.ID)
}
