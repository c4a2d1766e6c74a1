package domain

import (
	"slices"
	"strconv"
	"time"
)

// FrequencyCaps limits how often a number is called.
type FrequencyCaps struct {
	PerNumberPerDay int `json:"per_number_per_day"` // 0: no cap
}

// DialAttempt is one attempt to reach a number.
type DialAttempt struct {
	CallID string    `json:"call_id"`
	At     time.Time `json:"at"`
}

// attemptRetention is how long attempts count at most: the day of a number in several time zones is longer than 24
// hours. maxNumberAttempts limits the size of a row.
const (
	attemptRetention  = 52 * time.Hour
	maxNumberAttempts = 1000
)

// NumberAttempts holds the latest attempts to reach a number, of all campaigns and callers. The commit that opens
// an attempt contains this row.
type NumberAttempts struct {
	WorkspaceID string        `json:"workspace_id"`
	Environment Environment   `json:"environment"`
	Number      string        `json:"number"` // E.164
	Attempts    []DialAttempt `json:"rings"`  // oldest first
}

// Key returns the store key.
func (n *NumberAttempts) Key() Key {
	return Key{"number_days", n.WorkspaceID, string(n.Environment) + "/" + n.Number}
}

// Indexes returns one index of all rows, by time of the last attempt, for cleanup.
func (n *NumberAttempts) Indexes() []string { return []string{"all"} }

// Sort returns the sort key for the time of the last attempt.
func (n *NumberAttempts) Sort() string {
	if len(n.Attempts) == 0 {
		return AttemptSortKey(time.Time{})
	}
	return AttemptSortKey(n.Attempts[len(n.Attempts)-1].At)
}

// AttemptSortKey returns the sort key of a row with its last attempt at a time.
func AttemptSortKey(at time.Time) string {
	s := strconv.FormatInt(max(0, at.Unix()), 10)
	return "000000000000"[:max(0, 12-len(s))] + s
}

// AttemptCutoff returns the time before which attempts no longer count.
func AttemptCutoff(now time.Time) time.Time { return now.Add(-attemptRetention) }

// CountSince returns the number of attempts since a time.
func (n *NumberAttempts) CountSince(t time.Time) int {
	count := 0
	for _, r := range n.Attempts {
		if !r.At.Before(t) {
			count++
		}
	}
	return count
}

// WithAttempt returns a copy of the row with one more attempt and without attempts that no longer count.
func (n *NumberAttempts) WithAttempt(r DialAttempt) *NumberAttempts {
	c := *n
	c.Attempts = slices.DeleteFunc(slices.Clone(n.Attempts), func(was DialAttempt) bool { return was.At.Before(AttemptCutoff(r.At)) })
	c.Attempts = append(c.Attempts, r)
	c.Attempts = c.Attempts[max(0, len(c.Attempts)-maxNumberAttempts):]
	return &c
}

// WithoutCall returns a copy of the row without a call that was not placed. It returns false if the row does not
// contain the call.
func (n *NumberAttempts) WithoutCall(callID string) (*NumberAttempts, bool) {
	c := *n
	c.Attempts = slices.DeleteFunc(slices.Clone(n.Attempts), func(r DialAttempt) bool { return r.CallID == callID })
	return &c, len(c.Attempts) < len(n.Attempts)
}
