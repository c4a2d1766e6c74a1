package events

import (
	"github.com/callboard/callboard/service/record"
)

// Query selects events in commit order, oldest first, that follow the event with the id After.
type Query struct {
	After   string   // event id; "": from the oldest stored event
	Types   []string // event types, aliases or wildcards; empty: all
	Limit   int
	Created record.TimeRange
}

// FromNow as Query.After selects only events that are committed from now on.
const FromNow = "now"
