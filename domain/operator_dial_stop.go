package domain

import "time"

// DialStop reports whether an operator has stopped all outbound calls and messages, in all workspaces. The store has
// at most one DialStop. If it has none, dialing is allowed.
type DialStop struct {
	Stopped bool      `json:"stopped"`
	Reason  string    `json:"reason"`
	Since   time.Time `json:"since"`
	By      Actor     `json:"by"`
}

// Key returns the key of the dial stop in the store.
func (d *DialStop) Key() Key { return Key{"dialling", "", "now"} }

// Indexes returns nil: the dial stop is read by key or key prefix only.
func (d *DialStop) Indexes() []string { return nil }

// Sort returns an unused sort key, because the store has at most one DialStop.
func (d *DialStop) Sort() string { return "" }
