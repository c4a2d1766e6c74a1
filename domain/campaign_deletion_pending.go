package domain

import "time"

// DeletedCampaign marks a campaign as deleted while its calls, contacts and other records may still exist. A
// background task deletes these records, also after a restart, and deletes the DeletedCampaign last.
type DeletedCampaign struct {
	WorkspaceID string      `json:"workspace_id"`
	CampaignID  string      `json:"campaign_id"`
	Environment Environment `json:"environment"`
	At          time.Time   `json:"at"`
}

// Key returns the key of the deleted campaign in the store.
func (d *DeletedCampaign) Key() Key { return Key{"doomed", d.WorkspaceID, d.CampaignID} }

// Indexes returns one index of all deleted campaigns.
func (d *DeletedCampaign) Indexes() []string { return []string{"all"} }

// Sort returns the campaign ID.
func (d *DeletedCampaign) Sort() string { return d.CampaignID }
