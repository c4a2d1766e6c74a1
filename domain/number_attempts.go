package domain

import (
	"slices"
	"strconv"
	"time"
)

// FrequencyCaps limits how often a workspace calls a phone number.
type FrequencyCaps struct {
	PerNumberPerDay int `json:"per_number_per_day"` // 0: no cap
}

// DialAttempt is one attempt to reach a phone number.
type DialAttempt struct {
	CallID string    `json:"call_id"`
	At     time.Time `json:"at"`
}

// attemptRetention is how long attempts count toward a daily cap. It exceeds 24 hours, because the day of a number
// that can be in several time zones lasts longer. maxNumberAttempts limits the attempts that are stored for a number.
const (
	attemptRetention  = 52 * time.Hour
	maxNumberAttempts = 1000
)

// NumberAttempts holds the latest attempts to reach a phone number, by all campaigns and single calls. The commit that
// opens an attempt updates it.
type NumberAttempts struct {
	WorkspaceID string        `json:"workspace_id"`
	Environment Environment   `json:"environment"`
	Number      string        `json:"number"` // E.164
	Attempts    []DialAttempt `json:"rings"`  // oldest first
}

// Key returns the key of the attempts to reach a number in the store.
func (n *NumberAttempts) Key() Key {
	return Key{"number_days", n.WorkspaceID, string(n.Environment) + "/" + n.Number}
}

// Indexes returns the index of all NumberAttempts, by which a periodic task deletes old ones.
func (n *NumberAttempts) Indexes() []string { return []string{"all"} }

// Sort returns a sort key that orders NumberAttempts by the time of the last attempt.
func (n *NumberAttempts) Sort() string {
	if len(n.Attempts) == 0 {
		return AttemptSortKey(time.Time{})
	}
	return AttemptSortKey(n.Attempts[len(n.Attempts)-1].At)
}

// AttemptSortKey returns the sort key of NumberAttempts whose last attempt was at the given time.
func AttemptSortKey(at time.Time) string {
	s := strconv.FormatInt(max(0, at.Unix()), 10)
	return "000000000000"[:max(0, 12-len(s))] + s
}

// AttemptCutoff returns the time before which attempts do not count toward a daily cap.
func AttemptCutoff(now time.Time) time.Time { return now.Add(-attemptRetention) }

// CountSince returns the number of attempts at or after a time.
func (n *NumberAttempts) CountSince(t time.Time) int {
	count := 0
	for _, r := range n.Attempts {
		if !r.At.Before(t) {
			count++
		}
	}
	return count
}

// WithAttempt returns a copy with one more attempt and without attempts older than AttemptCutoff.
func (n *NumberAttempts) WithAttempt(r DialAttempt) *NumberAttempts {
	c := *n
	c.Attempts = slices.DeleteFunc(slices.Clone(n.Attempts), func(was DialAttempt) bool { return was.At.Before(AttemptCutoff(r.At)) })
	c.Attempts = append(c.Attempts, r)
	c.Attempts = c.Attempts[max(0, len(c.Attempts)-maxNumberAttempts):]
	return &c
}

// WithoutCall returns a copy without the attempt of a call, because the call was not placed. It returns false if there
// is no attempt of this call.
func (n *NumberAttempts) WithoutCall(callID string) (*NumberAttempts, bool) {
	c := *n
	c.Attempts = slices.DeleteFunc(slices.Clone(n.Attempts), func(r DialAttempt) bool { return r.CallID == callID })
	return &c, len(c.Attempts) < len(n.Attempts)
}
