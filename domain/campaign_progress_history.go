package domain

import "time"

// ProgressMark records the progress of a campaign when the campaign last reached a whole percentage. A campaign has at
// most 101 marks.
type ProgressMark struct {
	CampaignID  string          `json:"campaign_id"`
	WorkspaceID string          `json:"workspace_id"`
	Percent     int             `json:"percent"` // share of contacts in a final state
	At          time.Time       `json:"at"`
	Total       int             `json:"total"`
	Attempted   int             `json:"attempted"`
	Attempts    int             `json:"attempts"`
	Finished    int             `json:"finished"`
	Outcomes    map[Outcome]int `json:"outcomes"`
}

// NewProgressMark returns the mark for the current counters of a campaign at the time at.
func NewProgressMark(p *Progress, at time.Time) *ProgressMark {
	m := &ProgressMark{
		CampaignID: p.CampaignID, WorkspaceID: p.WorkspaceID, Percent: min(max(int(p.Percent()), 0), 100), At: at,
		Total: p.Total, Attempted: p.Attempted, Attempts: p.Attempts, Finished: p.FinalContacts(), Outcomes: make(map[Outcome]int, len(p.Outcomes)),
	}
	for o, n := range p.Outcomes {
		if n > 0 {
			m.Outcomes[o] = n
		}
	}
	return m
}

// Key returns the key of the progress mark in the store.
func (m *ProgressMark) Key() Key {
	return Key{"progress_mark", m.WorkspaceID, m.CampaignID + "/" + sortableNumber(m.Percent)}
}

// Indexes returns no indexes: marks are listed by key prefix.
func (m *ProgressMark) Indexes() []string { return nil }

// Sort returns the percentage as sortable text.
func (m *ProgressMark) Sort() string { return sortableNumber(m.Percent) }
