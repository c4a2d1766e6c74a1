package domain

import (
	"slices"
	"strconv"
	"time"
)

// FrequencyCaps bound how often somebody is rung.
type FrequencyCaps struct {
	PerNumberPerDay int `json:"per_number_per_day"` // 0: no cap
}

// Ring is one attempt to reach a number.
type Ring struct {
	CallID string    `json:"call_id"`
	At     time.Time `json:"at"`
}

// ringsKept is how long attempts count at most: the day of a number in several
// zones is longer than 24 hours. ringsMost bounds a row.
const (
	ringsKept = 52 * time.Hour
	ringsMost = 1000
)

// NumberDays are the latest attempts to reach a number, whoever made them. The
// commit that opens an attempt holds its row.
type NumberDays struct {
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	Number      string      `json:"number"` // E.164
	Rings       []Ring      `json:"rings"`  // oldest first
}

// Key names the row.
func (n *NumberDays) Key() Key {
	return Key{"number_days", n.WorkspaceID, string(n.Environment) + "/" + n.Number}
}

// Indexes: all, by the time of the last attempt, for the sweep.
func (n *NumberDays) Indexes() []string { return []string{"all"} }

// Sort is the time of the last attempt.
func (n *NumberDays) Sort() string {
	if len(n.Rings) == 0 {
		return RingSort(time.Time{})
	}
	return RingSort(n.Rings[len(n.Rings)-1].At)
}

// RingSort is where a row stands whose last attempt was made then.
func RingSort(at time.Time) string {
	s := strconv.FormatInt(max(0, at.Unix()), 10)
	return "000000000000"[:max(0, 12-len(s))] + s
}

// RingsOver is the time before which rows count no more.
func RingsOver(now time.Time) time.Time { return now.Add(-ringsKept) }

// Since counts the attempts from a time on.
func (n *NumberDays) Since(t time.Time) int {
	count := 0
	for _, r := range n.Rings {
		if !r.At.Before(t) {
			count++
		}
	}
	return count
}

// With is the row with one more attempt, and without what counts no more.
func (n *NumberDays) With(r Ring) *NumberDays {
	c := *n
	c.Rings = slices.DeleteFunc(slices.Clone(n.Rings), func(was Ring) bool { return was.At.Before(RingsOver(r.At)) })
	c.Rings = append(c.Rings, r)
	c.Rings = c.Rings[max(0, len(c.Rings)-ringsMost):]
	return &c
}

// Without is the row without a call that was not placed after all; false: it
// does not hold it.
func (n *NumberDays) Without(callID string) (*NumberDays, bool) {
	c := *n
	c.Rings = slices.DeleteFunc(slices.Clone(n.Rings), func(r Ring) bool { return r.CallID == callID })
	return &c, len(c.Rings) < len(n.Rings)
}
