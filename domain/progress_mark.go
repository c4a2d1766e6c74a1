package domain

import "time"

// ProgressMark is how far a campaign was when it had come to a whole per cent,
// the last time that it did. There are a hundred and one at most, however many
// contacts there are and however long it takes.
type ProgressMark struct {
	CampaignID  string          `json:"campaign_id"`
	WorkspaceID string          `json:"workspace_id"`
	Percent     int             `json:"percent"` // contacts to which nothing more happens, of all
	At          time.Time       `json:"at"`
	Total       int             `json:"total"`
	Attempted   int             `json:"attempted"`
	Attempts    int             `json:"attempts"`
	Finished    int             `json:"finished"`
	Outcomes    map[Outcome]int `json:"outcomes"`
}

// NewProgressMark is the mark of a campaign's counters at a time.
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

// Key names the row.
func (m *ProgressMark) Key() Key {
	return Key{"progress_mark", m.WorkspaceID, m.CampaignID + "/" + sortableNumber(m.Percent)}
}

// Indexes: none; marks are listed by the key's beginning.
func (m *ProgressMark) Indexes() []string { return nil }

// Sort is by per cent.
func (m *ProgressMark) Sort() string { return sortableNumber(m.Percent) }
