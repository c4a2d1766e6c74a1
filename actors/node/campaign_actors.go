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

// contactsAddedWait bounds how long an upload of contacts waits until the status of the campaign counts them. The
// contacts are already stored when the wait begins.
const contactsAddedWait = 5 * time.Second

// campaignActors starts and notifies the actors of campaigns.
type campaignActors struct {
	workspaces *workspaceTable
	sys        *actor.ActorSystem
	store      commit.Store
	children   *childStarter
}

// CampaignPID returns the PID of a campaign's actor, which may not be running. It returns nil if the workspace is unknown.
func (a *campaignActors) CampaignPID(workspaceID, id string) *actor.PID {
	if a.workspaces.tree(workspaceID) == nil {
		return nil
	}
	return workspace.PID(a.sys, workspaceID, workspace.Campaigns, id)
}

// WakeCampaigns makes all campaigns of the node check again whether they may dial.
func (a *campaignActors) WakeCampaigns() {
	for _, t := range a.workspaces.allTrees() {
		a.sys.Root.Send(t.campaigns, workspace.Broadcast{Message: campaign.RulesChanged{}})
	}
}

// NotifyPublished makes campaigns read their agent again after a new version was published. It notifies the started
// campaigns of an environment that follow the latest version of their agent and pathway.
func (a *campaignActors) NotifyPublished(ctx context.Context, p domain.Principal) error {
	return commit.StoreError(commit.ForEachRow(ctx, a.store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.FollowLatest && c.Environment == p.Environment && c.StartedAt != nil {
			a.sys.Root.Send(a.CampaignPID(c.WorkspaceID, c.ID), campaign.RowChanged{})
		}
	}))
}

// StartIfDraft reports whether a campaign has an actor that can answer requests. It starts the actor of a draft,
// because drafts have an actor only on demand. Any other campaign without an actor has failed too often or runs on
// another node, so StartIfDraft does not start it.
func (a *campaignActors) StartIfDraft(ctx context.Context, c *domain.Campaign) bool {
	pid := a.CampaignPID(c.WorkspaceID, c.ID)
	if t := a.workspaces.tree(c.WorkspaceID); t != nil && c.Status == domain.CampaignDraft {
		if !a.IsRunning(pid) {
			a.children.startChild(ctx, t.campaigns, workspace.SpawnChild{ID: c.ID})
		}
		return true // the actor of a deleted draft ends at once
	}
	return a.IsRunning(pid)
}

// StartCampaignActor starts the actor of a stored campaign, except that of a draft.
func (a *campaignActors) StartCampaignActor(ctx context.Context, c *domain.Campaign) {
	if t := a.workspaces.tree(c.WorkspaceID); t != nil && c.Status != domain.CampaignDraft {
		a.children.startChild(ctx, t.campaigns, workspace.SpawnChild{ID: c.ID})
	}
}

// CampaignChanged makes the actor of a campaign read the campaign's database row again. A draft without an actor
// needs no notification, because its actor reads the row when it starts.
func (a *campaignActors) CampaignChanged(c *domain.Campaign) {
	if pid := a.CampaignPID(c.WorkspaceID, c.ID); a.IsRunning(pid) {
		a.sys.Root.Send(pid, campaign.RowChanged{})
	}
}

// IsRunning reports whether an actor was started and has not ended. The actor may not have read the store yet.
func (a *campaignActors) IsRunning(pid *actor.PID) bool {
	if pid == nil {
		return false
	}
	_, isRunning := a.sys.ProcessRegistry.GetLocal(pid.Id)
	return isRunning
}

// AwaitContacts notifies a campaign of added contacts and waits until its status counts total contacts. It waits at
// most contactsAddedWait.
func (a *campaignActors) AwaitContacts(ctx context.Context, c *domain.Campaign, total int) {
	pid := a.CampaignPID(c.WorkspaceID, c.ID)
	if !a.IsRunning(pid) {
		return
	}
	a.sys.Root.Send(pid, campaign.ContactsAdded{})
	bound, cancel := context.WithTimeout(ctx, contactsAddedWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := mailbox.Ask[domain.CampaignStatusObject](bound, a.sys, pid, campaign.GetStatus{})
		if err == nil && st.Progress.Total >= total {
			return
		}
		select {
		case <-bound.Done():
			return
		case <-tick.C:
		}
	}
}
