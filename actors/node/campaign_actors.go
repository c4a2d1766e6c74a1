package node

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// contactsAddedWait bounds how long an upload waits until its campaign counts the contacts.
// They are stored before.
const contactsAddedWait = 5 * time.Second

// campaignActors starts and notifies the actors of campaigns.
type campaignActors struct {
	workspaces *workspaceTable
	sys        *actor.ActorSystem
	store      commit.Store
	children   *childStarter
}

// CampaignPID returns the actor of a campaign; nil if the workspace is unknown.
func (a *campaignActors) CampaignPID(workspaceID, id string) *actor.PID {
	if a.workspaces.tree(workspaceID) == nil {
		return nil
	}
	return workspace.PID(a.sys, workspaceID, workspace.Campaigns, id)
}

// WakeCampaigns has every campaign decide again whether it may dial.
func (a *campaignActors) WakeCampaigns() {
	for _, t := range a.workspaces.allTrees() {
		a.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Decide{}})
	}
}

// NotifyPublished notifies the running campaigns of an environment that follow the latest
// version of their agent and pathway.
func (a *campaignActors) NotifyPublished(ctx context.Context, p domain.Principal) error {
	return commit.StoreError(commit.Each(ctx, a.store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.FollowLatest && c.Environment == p.Environment && c.StartedAt != nil {
			a.sys.Root.Send(a.CampaignPID(c.WorkspaceID, c.ID), campaign.Changed{})
		}
	}))
}

// StartIfDraft reports whether the actor of a campaign may be asked. A draft has no actor
// until it is needed: it is started. The actor of another campaign that does not run has
// failed too often or runs on another node; it is not started.
func (a *campaignActors) StartIfDraft(ctx context.Context, c *domain.Campaign) bool {
	pid := a.CampaignPID(c.WorkspaceID, c.ID)
	if t := a.workspaces.tree(c.WorkspaceID); t != nil && c.Status == domain.CampaignDraft {
		if !a.IsRunning(pid) {
			a.children.startChild(ctx, t.campaigns, workspace.Hatch{ID: c.ID})
		}
		return true // or it ended at once, because the campaign was deleted
	}
	return a.IsRunning(pid)
}

// StartCampaignActor starts the actor of a stored campaign that is created with a start
// time. A draft gets none.
func (a *campaignActors) StartCampaignActor(ctx context.Context, c *domain.Campaign) {
	if t := a.workspaces.tree(c.WorkspaceID); t != nil && c.Status != domain.CampaignDraft {
		a.children.startChild(ctx, t.campaigns, workspace.Hatch{ID: c.ID})
	}
}

// CampaignChanged has a running campaign read its row again. A draft is read when it is
// needed.
func (a *campaignActors) CampaignChanged(c *domain.Campaign) {
	if pid := a.CampaignPID(c.WorkspaceID, c.ID); a.IsRunning(pid) {
		a.sys.Root.Send(pid, campaign.Changed{})
	}
}

// IsRunning reports whether an actor was started and has not ended. It may not have read
// the store yet.
func (a *campaignActors) IsRunning(pid *actor.PID) bool {
	if pid == nil {
		return false
	}
	_, lives := a.sys.ProcessRegistry.GetLocal(pid.Id)
	return lives
}

// AwaitContacts tells a campaign that it has total contacts and waits until its
// status counts them.
func (a *campaignActors) AwaitContacts(ctx context.Context, c *domain.Campaign, total int) {
	pid := a.CampaignPID(c.WorkspaceID, c.ID)
	if !a.IsRunning(pid) {
		return
	}
	a.sys.Root.Send(pid, campaign.Added{})
	bound, cancel := context.WithTimeout(ctx, contactsAddedWait)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		st, err := mailbox.Ask[domain.CampaignStatusObject](bound, a.sys, pid, campaign.Status{})
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
