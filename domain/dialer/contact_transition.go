package dialer

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// ContactTransition is the state of a contact after a call attempt, and the time of the retry if one follows.
type ContactTransition struct {
	State   domain.ContactState
	RetryAt time.Time // set if State is ContactRetryWait
}

// TransitionAfter returns the state of a contact whose attempt ended at now with the verdict v. spent counts the
// attempts that use up one of r.MaxAttempts, including this attempt if it does. An attempt that does not count
// returns the contact to the state before the attempt.
func TransitionAfter(v domain.Verdict, spent int, r domain.Retry, now time.Time) ContactTransition {
	switch {
	case !v.SpendsAttempt() && spent == 0:
		return ContactTransition{State: domain.ContactPending}
	case !v.SpendsAttempt():
		return ContactTransition{State: domain.ContactRetryWait, RetryAt: now}
	case r.Enabled && v.RetryOn != "" && spent < r.MaxAttempts && slices.Contains(r.RetryOn, v.RetryOn):
		return ContactTransition{State: domain.ContactRetryWait, RetryAt: now.Add(time.Duration(r.IntervalHours * float64(time.Hour)))}
	}
	return ContactTransition{State: domain.ContactStateOf(v.Outcome)}
}
