package domain

import "time"

// DeletedCampaign is a deleted campaign whose calls, contacts and other rows may still exist. A background task deletes them, also
// after a restart, and this row last.
type DeletedCampaign struct {
	WorkspaceID string      `json:"workspace_id"`
	CampaignID  string      `json:"campaign_id"`
	Environment Environment `json:"environment"`
	At          time.Time   `json:"at"`
}

// Key names the row.
func (d *DeletedCampaign) Key() Key { return Key{"doomed", d.WorkspaceID, d.CampaignID} }

// Indexes are the lists of the row.
func (d *DeletedCampaign) Indexes() []string { return []string{"all"} }

// Sort is by campaign.
func (d *DeletedCampaign) Sort() string { return d.CampaignID }
