package domain

import "time"

// RateWindows stores how much of its rate limits a workspace has used. It is written shortly after the requests that
// it counts.
type RateWindows struct {
	WorkspaceID string               `json:"workspace_id"`
	Counts      map[string]RateCount `json:"counts"` // by path of the limit; empty: the limit of the workspace
}

// RateCount is how much of one rate limit is used.
type RateCount struct {
	Burst int         `json:"burst,omitempty"` // number of requests of the burst that are used
	Below time.Time   `json:"below,omitzero"`  // since when the window holds fewer requests than the limit; zero: the limit is reached
	Log   []RateEntry `json:"log,omitempty"`   // oldest first
}

// RateEntry counts N requests, the last of them at the time At.
type RateEntry struct {
	At int64 `json:"at"` // Unix time in milliseconds
	N  int   `json:"n"`
}

// Key returns the store key. A workspace has one RateWindows.
func (w *RateWindows) Key() Key { return Key{"rate_windows", w.WorkspaceID, "now"} }

// Indexes returns no indexes, because RateWindows is read by key.
func (w *RateWindows) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the rate windows have no index.
func (w *RateWindows) Sort() string { return "" }
