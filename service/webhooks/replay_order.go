package webhooks

import (
	"time"
)

// ReplayOrder names the events to be delivered again: by their ids, or by time
// and type.
type ReplayOrder struct {
	EventIDs []string
	From, To time.Time // [From, To)
	Types    []string  // names, twins or wildcards; empty: all that the endpoint subscribes to
	DryRun   bool      // only say which
}

// MaxReplay bounds the events of one replay by time.
const MaxReplay = 1000

// Replay is the answer to a ReplayOrder.
type Replay struct {
	Accepted []string   `json:"accepted"`
	NotFound []string   `json:"not_found"`
	More     bool       `json:"more"`
	NextFrom *time.Time `json:"next_from,omitempty"` // where More lie
	DryRun   bool       `json:"dry_run"`
}
