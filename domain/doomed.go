package domain

import "time"

// Doomed says that a campaign was deleted and that some of its rows may still
// be there: they go in the background, and at the next start what a crash left.
type Doomed struct {
	WorkspaceID string      `json:"workspace_id"`
	CampaignID  string      `json:"campaign_id"`
	Environment Environment `json:"environment"`
	At          time.Time   `json:"at"`
}

// Key names the row.
func (d *Doomed) Key() Key { return Key{"doomed", d.WorkspaceID, d.CampaignID} }

// Indexes: all of them.
func (d *Doomed) Indexes() []string { return []string{"all"} }

// Sort is by campaign.
func (d *Doomed) Sort() string { return d.CampaignID }
