package webhooks

import (
	"time"
)

// ReplayOrder selects the events to deliver again: by id, or by time and type.
type ReplayOrder struct {
	EventIDs []string
	From, To time.Time // [From, To)
	Types    []string  // names, aliases or wildcards; empty: all that the endpoint subscribes to
	DryRun   bool      // return the events, deliver none
}

// MaxReplay bounds the events of one replay by time.
const MaxReplay = 1000

// Replay is the answer to a ReplayOrder.
type Replay struct {
	Accepted []string   `json:"accepted"`
	NotFound []string   `json:"not_found"`
	More     bool       `json:"more"`
	NextFrom *time.Time `json:"next_from,omitempty"` // where the next replay begins, if More
	DryRun   bool       `json:"dry_run"`
}
