package domain

import "time"

// DeletedCampaign is a deleted campaign of which calls, contacts and other rows may still exist. A background task
// deletes them, also after a restart, and deletes this row last.
type DeletedCampaign struct {
	WorkspaceID string      `json:"workspace_id"`
	CampaignID  string      `json:"campaign_id"`
	Environment Environment `json:"environment"`
	At          time.Time   `json:"at"`
}

// Key returns the store key.
func (d *DeletedCampaign) Key() Key { return Key{"doomed", d.WorkspaceID, d.CampaignID} }

// Indexes returns one index of all deleted campaigns.
func (d *DeletedCampaign) Indexes() []string { return []string{"all"} }

// Sort returns the campaign ID.
func (d *DeletedCampaign) Sort() string { return d.CampaignID }
