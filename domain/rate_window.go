package domain

import "time"

// RateWindows is what a workspace has used of its rate limits, as far as it
// outlives the process: written a moment after the requests that it counts.
type RateWindows struct {
	WorkspaceID string               `json:"workspace_id"`
	Counts      map[string]RateCount `json:"counts"` // by the path of the limit, "" for that of the workspace
}

// RateCount is what was counted against one limit.
type RateCount struct {
	Burst int         `json:"burst,omitempty"` // spent of it
	Below time.Time   `json:"below,omitzero"`  // since when fewer than the limit are in the window; zero: not so
	Log   []RateEntry `json:"log,omitempty"`   // oldest first
}

// RateEntry is so many requests, the last of them made at most at that time.
type RateEntry struct {
	At int64 `json:"at"` // Unix time in milliseconds
	N  int   `json:"n"`
}

// Key names the row: a workspace has one.
func (w *RateWindows) Key() Key { return Key{"rate_windows", w.WorkspaceID, "now"} }

// Indexes: none; it is read by its key.
func (w *RateWindows) Indexes() []string { return nil }

// Sort is of no use.
func (w *RateWindows) Sort() string { return "" }
