package events

import (
	"github.com/callboard/callboard/service/record"
)

// Query reads events forwards, oldest first, after the id given.
type Query struct {
	After   string   // an event id; "": from the oldest kept
	Types   []string // names, twins or wildcards; empty: all
	Limit   int
	Created record.TimeRange
}

// FromNow is the Query.After that means the end of the log.
const FromNow = "now"
