package domain

import "time"

// DialStop says whether anybody may be rung at all, over all workspaces. There
// is one row; without it everybody may.
type DialStop struct {
	Stopped bool      `json:"stopped"`
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"`
	By      Actor     `json:"by"`
}

// Key names the row.
func (d *DialStop) Key() Key { return Key{"dialling", "", "now"} }

// Indexes: none.
func (d *DialStop) Indexes() []string { return nil }

// Sort is of no use: there is one.
func (d *DialStop) Sort() string { return "" }
