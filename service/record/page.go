package record

import (
	"time"
)

// PageQuery selects a page of a list: the newest rows first, at most Limit (1 to 100), after the Cursor of the page before.
type PageQuery struct {
	Limit         int
	Cursor        string
	CreatedAfter  time.Time // zero: open; exclusive
	CreatedBefore time.Time // zero: open; exclusive
}

// Created returns the range in which the rows of the page were created.
func (p PageQuery) Created() TimeRange {
	return TimeRange{After: p.CreatedAfter, Before: p.CreatedBefore}
}

// TimeRange is a range of time without its ends. A zero end is open.
type TimeRange struct{ After, Before time.Time }

// Contains says whether t lies in the range.
func (r TimeRange) Contains(t time.Time) bool {
	return (r.After.IsZero() || t.After(r.After)) && (r.Before.IsZero() || t.Before(r.Before))
}

// Page is one page of a list. Next is the cursor of the following one, "" at the end.
type Page[T any] struct {
	Data []T
	Next string
}
