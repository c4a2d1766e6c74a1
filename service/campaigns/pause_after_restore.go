package campaigns

import (
	"context"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// PauseAll pauses the running and scheduled campaigns of a store that no node is using, and returns their number. It
// is meant for a restored store: this store lacks the latest calls, so its campaigns would call contacts again.
func PauseAll(ctx context.Context, store commit.Store, reason string) (paused int, err error) {
	all, err := record.AllWorkspaces(ctx, store)
	if err != nil {
		return 0, err
	}
	for _, w := range all {
		var active []*domain.Campaign
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			err = commit.ForEachRow(ctx, store, "campaign", w.ID, "env="+string(env), func(c *domain.Campaign) {
				if c.Status == domain.CampaignRunning || c.Status == domain.CampaignScheduled {
					active = append(active, c)
				}
			})
			if err != nil {
				return paused, err
			}
		}
		for _, c := range active {
			if err = pauseStored(ctx, store, c, reason); err != nil {
				return paused, err
			}
			paused++
		}
	}
	return paused, nil
}

// pauseStored commits the paused status of a campaign together with its event.
func pauseStored(ctx context.Context, store commit.Store, c *domain.Campaign, reason string) error {
	version, err := store.Get(ctx, c)
	if err != nil {
		return err
	}
	c.Status, c.PauseReason, c.UpdatedAt = domain.CampaignPaused, reason, record.Now()
	unit := c.AgentID
	if unit == "" {
		unit = c.WorkspaceID
	}
	_, err = store.Apply(ctx, commit.Change{
		Workspace: c.WorkspaceID, Guards: []commit.Guard{{Key: c.Key(), Version: version}}, Puts: []domain.Record{c},
		Events: []event.Draft{{
			ID: mailbox.NewID(domain.PrefixEvent), Type: event.CampaignPaused, CreatedAt: c.UpdatedAt, WorkspaceID: c.WorkspaceID,
			Environment: c.Environment, SvcID: domain.UnitID(unit), Subject: c.ID,
			Data: event.CampaignData{CampaignID: c.ID, Name: c.Name, Status: c.Status, Reason: reason},
		}},
	})
	return err
}
