package domain

import "time"

// RateWindows is the stored use of the rate limits of a workspace. It is written shortly after the requests that it
// counts.
type RateWindows struct {
	WorkspaceID string               `json:"workspace_id"`
	Counts      map[string]RateCount `json:"counts"` // by path of the limit; empty: the limit of the workspace
}

// RateCount is the use of one limit.
type RateCount struct {
	Burst int         `json:"burst,omitempty"` // used part of the burst
	Below time.Time   `json:"below,omitzero"`  // since when the window holds fewer requests than the limit; zero: the limit is reached
	Log   []RateEntry `json:"log,omitempty"`   // oldest first
}

// RateEntry counts N requests, the last of them at the time At.
type RateEntry struct {
	At int64 `json:"at"` // Unix time in milliseconds
	N  int   `json:"n"`
}

// Key returns the store key: a workspace has one row.
func (w *RateWindows) Key() Key { return Key{"rate_windows", w.WorkspaceID, "now"} }

// Indexes returns no indexes: the row is read by key.
func (w *RateWindows) Indexes() []string { return nil }

// Sort returns an unused sort key.
func (w *RateWindows) Sort() string { return "" }
