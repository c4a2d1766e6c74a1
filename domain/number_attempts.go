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

// DialAttempt is one attempt to reach a number.
type DialAttempt struct {
	CallID string    `json:"call_id"`
	At     time.Time `json:"at"`
}

// ringsKept is how long attempts count at most: the day of a number in several
// zones is longer than 24 hours. ringsMost bounds a row.
const (
	attemptRetention  = 52 * time.Hour
	maxNumberAttempts = 1000
)

// NumberAttempts are the latest attempts to reach a number, whoever made them. The
// commit that opens an attempt holds its row.
type NumberAttempts struct {
	WorkspaceID string        `json:"workspace_id"`
	Environment Environment   `json:"environment"`
	Number      string        `json:"number"` // E.164
	Attempts    []DialAttempt `json:"rings"`  // oldest first
}

// Key names the row.
func (n *NumberAttempts) Key() Key {
	return Key{"number_days", n.WorkspaceID, string(n.Environment) + "/" + n.Number}
}

// Indexes: all, by the time of the last attempt, for the sweep.
func (n *NumberAttempts) Indexes() []string { return []string{"all"} }

// Sort is the time of the last attempt.
func (n *NumberAttempts) Sort() string {
	if len(n.Attempts) == 0 {
		return AttemptSortKey(time.Time{})
	}
	return AttemptSortKey(n.Attempts[len(n.Attempts)-1].At)
}

// AttemptSortKey is where a row stands whose last attempt was made then.
func AttemptSortKey(at time.Time) string {
	s := strconv.FormatInt(max(0, at.Unix()), 10)
	return "000000000000"[:max(0, 12-len(s))] + s
}

// AttemptCutoff is the time before which rows count no more.
func AttemptCutoff(now time.Time) time.Time { return now.Add(-attemptRetention) }

// CountSince counts the attempts from a time on.
func (n *NumberAttempts) CountSince(t time.Time) int {
	count := 0
	for _, r := range n.Attempts {
		if !r.At.Before(t) {
			count++
		}
	}
	return count
}

// WithAttempt is the row with one more attempt, and without what counts no more.
func (n *NumberAttempts) WithAttempt(r DialAttempt) *NumberAttempts {
	c := *n
	c.Attempts = slices.DeleteFunc(slices.Clone(n.Attempts), func(was DialAttempt) bool { return was.At.Before(AttemptCutoff(r.At)) })
	c.Attempts = append(c.Attempts, r)
	c.Attempts = c.Attempts[max(0, len(c.Attempts)-maxNumberAttempts):]
	return &c
}

// WithoutCall is the row without a call that was not placed after all; false: it
// does not hold it.
func (n *NumberAttempts) WithoutCall(callID string) (*NumberAttempts, bool) {
	c := *n
	c.Attempts = slices.DeleteFunc(slices.Clone(n.Attempts), func(r DialAttempt) bool { return r.CallID == callID })
	return &c, len(c.Attempts) < len(n.Attempts)
}
