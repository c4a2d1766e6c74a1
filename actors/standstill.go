package actors

import (
	"context"
	"errors"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// Standstill pauses every campaign that would dial, in a store on which no node
// runs: a state that is older than what was rung since must not go on by
// itself. It answers how many.
func Standstill(ctx context.Context, store commit.Store, reason string) (paused int, err error) {
	all, err := Workspaces(ctx, store)
	if err != nil {
		return 0, err
	}
	for _, w := range all {
		var live []*domain.Campaign
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			err = commit.Each(ctx, store, "campaign", w.ID, "env="+string(env), func(c *domain.Campaign) {
				if c.Status == domain.CampaignRunning || c.Status == domain.CampaignScheduled {
					live = append(live, c)
				}
			})
			if err != nil {
				return paused, err
			}
		}
		for _, c := range live {
			if err = still(ctx, store, c, reason); err != nil {
				return paused, err
			}
			paused++
		}
	}
	return paused, nil
}

func still(ctx context.Context, store commit.Store, c *domain.Campaign, reason string) error {
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
			Environment: c.Environment, SvcID: domain.Unit(unit), Subject: c.ID,
			Data: event.CampaignData{CampaignID: c.ID, Name: c.Name, Status: c.Status, Reason: reason},
		}},
	})
	return err
}

// MissingRecordings counts the calls whose recording is said to be there, and
// those of them whose file is not.
func MissingRecordings(ctx context.Context, store commit.Store, has func(workspace, name string) bool) (recorded, missing int, err error) {
	all, err := Workspaces(ctx, store)
	for _, w := range all {
		err = errors.Join(err, commit.Each(ctx, store, "call", w.ID, "recorded", func(c *domain.Call) {
			if recorded++; !has(w.ID, recording.BlobName(c.ID)) {
				missing++
			}
		}))
	}
	return recorded, missing, err
}
