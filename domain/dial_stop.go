package domain

import "time"

// DialStop reports whether an operator has stopped all outbound calls and messages, in all workspaces. The store has
// at most one row; without a row, dialing is allowed.
type DialStop struct {
	Stopped bool      `json:"stopped"`
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"`
	By      Actor     `json:"by"`
}

// Key returns the store key.
func (d *DialStop) Key() Key { return Key{"dialling", "", "now"} }

// Indexes returns no indexes.
func (d *DialStop) Indexes() []string { return nil }

// Sort returns an unused sort key: the store has one row.
func (d *DialStop) Sort() string { return "" }
