package webhooks

import (
	"time"
)

// ReplayOrder selects events that are delivered again: by id, or by time and type.
type ReplayOrder struct {
	EventIDs []string
	From, To time.Time // [From, To)
	Types    []string  // names, aliases or wildcards; empty: all that the endpoint subscribes to
	DryRun   bool      // list the events without delivering them
}

// MaxReplay is the number of events after which one replay by time ends.
const MaxReplay = 1000

// Replay is the result of a replay.
type Replay struct {
	Accepted []string   `json:"accepted"`
	NotFound []string   `json:"not_found"`
	More     bool       `json:"more"`
	NextFrom *time.Time `json:"next_from,omitempty"` // start of the next replay, if More
	DryRun   bool       `json:"dry_run"`
}
