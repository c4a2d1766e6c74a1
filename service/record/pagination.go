package record

import (
	"time"
)

// PageQuery selects a page of a list, the newest items first. Limit is 1 to 100. Cursor is Page.Next of the previous
// page, or "" for the first page.
type PageQuery struct {
	Limit         int
	Cursor        string
	CreatedAfter  time.Time // exclusive; zero: no bound
	CreatedBefore time.Time // exclusive; zero: no bound
}

// Created returns the range of creation times that the query selects.
func (p PageQuery) Created() TimeRange {
	return TimeRange{After: p.CreatedAfter, Before: p.CreatedBefore}
}

// TimeRange is a range of time. After and Before themselves are outside the range. A zero After or Before means that
// the range has no limit on that side.
type TimeRange struct{ After, Before time.Time }

// Contains reports whether t lies in the range.
func (r TimeRange) Contains(t time.Time) bool {
	return (r.After.IsZero() || t.After(r.After)) && (r.Before.IsZero() || t.Before(r.Before))
}

// Page is one page of a list. Next is the cursor of the next page, or "" on the last page.
type Page[T any] struct {
	Data []T
	Next string
}
