package domain

import "time"

// Money is an amount in a currency, as decimal text.
type Money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// LedgerRow is the bill of one attempt: written at most once, in the commit
// that closes it, guarded to be absent.
type LedgerRow struct {
	AttemptID   string      `json:"attempt_id"`
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	CallID      string      `json:"call_id"`
	CampaignID  string      `json:"campaign_id,omitempty"`
	OpenedAt    time.Time   `json:"opened_at"` // sets the month
	ClosedAt    time.Time   `json:"closed_at"`
	Seconds     int         `json:"seconds"`
}

// Key names the row.
func (l *LedgerRow) Key() Key { return Key{"ledger", l.WorkspaceID, l.AttemptID} }

// Indexes: by month of opening.
func (l *LedgerRow) Indexes() []string {
	return []string{"month=" + l.OpenedAt.UTC().Format("2006-01")}
}

// Sort is by time of opening.
func (l *LedgerRow) Sort() string {
	return l.OpenedAt.UTC().Format("20060102T150405.000000000") + l.CallID
}
