package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// CampaignPID returns the actor of a campaign; nil if the workspace is unknown.
func (n *Node) CampaignPID(workspaceID, id string) *actor.PID {
	if n.tree(workspaceID) == nil {
		return nil
	}
	return workspace.PID(n.sys, workspaceID, workspace.Campaigns, id)
}

// holdCalls has the user agent send no INVITE that begins a call.
func (n *Node) holdCalls(on bool) {
	switch {
	case n.cfg.Board != nil:
		n.cfg.Board.holdCalls(n, on)
	case n.cfg.SIP != nil:
		n.cfg.SIP.HoldCalls(on)
	}
}

// wakeAllCampaigns wakes the campaigns of all nodes of the process.
func (n *Node) wakeAllCampaigns() {
	if n.cfg.Board != nil {
		n.cfg.Board.wakeCampaigns()
		return
	}
	n.WakeCampaigns()
}

// WakeCampaigns has every campaign decide again whether it may dial.
func (n *Node) WakeCampaigns() {
	for _, t := range n.allTrees() {
		n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Decide{}})
	}
}

// NotifyPublished lets the running campaigns of an environment that follow the
// latest version of their agent and pathway read it.
func (n *Node) NotifyPublished(ctx context.Context, p domain.Principal) error {
	return commit.StoreError(commit.Each(ctx, n.cfg.Store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.FollowLatest && c.Environment == p.Environment && c.StartedAt != nil {
			n.sys.Root.Send(n.CampaignPID(c.WorkspaceID, c.ID), campaign.Changed{})
		}
	}))
}

// StartIfDraft says whether a campaign's actor may be asked. That of a draft grows
// where it does not live: it has none until something is wanted of it. Any other
// that does not live failed too often or gave way to another node, and is not
// revived by whoever asks.
func (n *Node) StartIfDraft(ctx context.Context, c *domain.Campaign) bool {
	pid := n.CampaignPID(c.WorkspaceID, c.ID)
	if t := n.tree(c.WorkspaceID); t != nil && c.Status == domain.CampaignDraft {
		if !n.IsRunning(pid) {
			n.startChild(ctx, t.campaigns, workspace.Hatch{ID: c.ID})
		}
		return true // or it ended at once, because the campaign was deleted
	}
	return n.IsRunning(pid)
}

// StartCampaignActor grows the actor of a campaign that stands in the store, and is no
// draft: one that waits for its start from its creation on.
func (n *Node) StartCampaignActor(ctx context.Context, c *domain.Campaign) {
	if t := n.tree(c.WorkspaceID); t != nil && c.Status != domain.CampaignDraft {
		n.startChild(ctx, t.campaigns, workspace.Hatch{ID: c.ID})
	}
}

// CampaignChanged lets a campaign that lives read itself anew; a draft is read
// when something is wanted of it.
func (n *Node) CampaignChanged(c *domain.Campaign) {
	if pid := n.CampaignPID(c.WorkspaceID, c.ID); n.IsRunning(pid) {
		n.sys.Root.Send(pid, campaign.Changed{})
	}
}

// IsRunning says whether an actor was grown and has not ended. What it reads of the
// store, it reads later than it is said to live.
func (n *Node) IsRunning(pid *actor.PID) bool {
	if pid == nil {
		return false
	}
	_, lives := n.sys.ProcessRegistry.GetLocal(pid.Id)
	return lives
}

// startChild grows a child of a family, later where that does not answer now.
func (n *Node) startChild(ctx context.Context, family *actor.PID, egg workspace.Hatch) {
	_, err := mailbox.Ask[workspace.Hatched](ctx, n.sys, family, egg)
	if err == nil {
		return
	}
	n.cfg.Log.Warn("an actor is late", slog.String("actor", egg.ID), slog.Any("error", err))
	n.RunInBackground(func() {
		wait := time.NewTicker(startRetry)
		defer wait.Stop()
		for range wait.C {
			bound, cancel := context.WithTimeout(context.Background(), startLimit)
			_, err := mailbox.Ask[workspace.Hatched](bound, n.sys, family, egg)
			cancel()
			if err == nil || n.Draining() {
				return
			}
		}
	})
}

// ContactsAdded tells a campaign that it has total contacts and waits until its
// status counts them.
func (n *Node) ContactsAdded(ctx context.Context, c *domain.Campaign, total int) {
	pid := n.CampaignPID(c.WorkspaceID, c.ID)
	if !n.IsRunning(pid) {
		return
	}
	n.sys.Root.Send(pid, campaign.Added{})
	bound, cancel := context.WithTimeout(ctx, showWithin)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		st, err := mailbox.Ask[domain.CampaignStatusObject](bound, n.sys, pid, campaign.Status{})
		if err == nil && st.Progress.Total >= total {
			return
		}
		select {
		case <-bound.Done():
			return
		case <-look.C:
		}
	}
}

// CheckURL says whether a webhook may go to a URL; param is the field to blame.
func (n *Node) CheckURL(ctx context.Context, param, url string) error {
	err := n.sender.Check(ctx, url)
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

// WebhookCreating tells the outbox of an endpoint that is about to be committed.
func (n *Node) WebhookCreating(w *domain.Webhook) {
	if t := n.tree(w.WorkspaceID); t != nil {
		n.sys.Root.Send(t.outbox, outbox.Changed{Webhook: *w})
	}
}

// WebhookChanged notifies the outbox and the endpoint actor of a new or changed endpoint.
func (n *Node) WebhookChanged(ctx context.Context, w *domain.Webhook) {
	t := n.tree(w.WorkspaceID)
	if t == nil { // it was deleted meanwhile
		return
	}
	n.sys.Root.Send(t.outbox, outbox.Changed{Webhook: *w})
	n.startChild(ctx, t.webhooks, workspace.Hatch{ID: w.ID})
	n.sys.Root.Send(n.WebhookPID(w), webhook.Changed{})
}

// WebhookDeleted stops the actor of a deleted endpoint.
func (n *Node) WebhookDeleted(w *domain.Webhook) {
	t := n.tree(w.WorkspaceID)
	if t == nil {
		return
	}
	n.sys.Root.Send(t.outbox, outbox.Deleted{WebhookID: w.ID})
	n.sys.Root.Send(n.WebhookPID(w), webhook.Deleted{})
}

// WebhookPID is the actor of an endpoint.
func (n *Node) WebhookPID(w *domain.Webhook) *actor.PID {
	return workspace.PID(n.sys, w.WorkspaceID, workspace.Webhooks, w.ID)
}

// ReloadTrunks tells the trunks and the book what is stored now.
func (n *Node) ReloadTrunks(ctx context.Context, workspaceID string) error {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	turn := n.book.Turn()
	trunks, err := n.stored.trunks(ctx, workspaceID)
	if err != nil {
		return commit.StoreError(err)
	}
	n.sys.Root.Send(t.trunks, trunk.Set{Trunks: trunks})
	n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Decide{}})
	n.book.Set(ctx, turn, workspaceID, trunks)
	return nil
}

// JoinRecordingParts has the calls of a workspace join the parts of recordings in the spool.
func (n *Node) JoinRecordingParts(workspaceID string) {
	if t := n.tree(workspaceID); t != nil {
		n.sys.Root.Send(t.calls, recording.JoinParts{})
	}
}

// trunks returns the trunks of a workspace, each with the numbers that it may show as caller IDs.
func (st *workspaceStore) trunks(ctx context.Context, workspaceID string) ([]domain.Trunk, error) {
	var out []domain.Trunk
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		numbers, err := trunk.LiveNumbers(ctx, st.rows, workspaceID, env)
		if err != nil {
			return nil, err
		}
		err = commit.Each(ctx, st.rows, "trunk", workspaceID, "env="+string(env), func(t *domain.Trunk) {
			t.CallerIDs = trunk.CallerIDs(t, numbers)
			out = append(out, *t)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
