package dialer

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// Fate is what becomes of a contact after an attempt.
type Fate struct {
	State   domain.ContactState
	RetryAt time.Time // where State is ContactRetryWait
}

// After is the fate of a contact whose attempt ended at now; spent counts its
// attempts, this one included where it counts. An attempt that is not spent
// goes back to where it came from.
func After(v domain.Verdict, spent int, r domain.Retry, now time.Time) Fate {
	switch {
	case !v.Spent() && spent == 0:
		return Fate{State: domain.ContactPending}
	case !v.Spent():
		return Fate{State: domain.ContactRetryWait, RetryAt: now}
	case r.Enabled && v.RetryOn != "" && spent < r.MaxAttempts && slices.Contains(r.RetryOn, v.RetryOn):
		return Fate{State: domain.ContactRetryWait, RetryAt: now.Add(time.Duration(r.IntervalHours * float64(time.Hour)))}
	}
	return Fate{State: domain.ContactStateOf(v.Outcome)}
}

// The rule that pauses a campaign whose trunk fails.
const (
	tripWindow = 120 * time.Second
	tripCalls  = 5
)

// Trip remembers how the calls of the last two minutes ended.
type Trip struct {
	ends []end // in order of time
	bad  int   // of these
}

type end struct {
	at  time.Time
	bad bool
}

// Add notes the end of a call. Some ends say nothing about the trunk: the
// person was busy or away, the number wrong, the carrier short of channels,
// the service interrupted, the agent of no use, or the call given up by us.
func (t *Trip) Add(v domain.Verdict, now time.Time) {
	if v.Throttled {
		return
	}
	switch v.Reason {
	case domain.ReasonInterrupted, domain.ReasonBusy, domain.ReasonNoAnswer, domain.ReasonInvalidNumber,
		domain.ReasonThrottled, domain.ReasonNotSent, domain.ReasonCancelled, domain.ReasonAgent:
		return
	case domain.ReasonTrunkError:
		t.ends = append(t.ends, end{now, true})
		t.bad++
	case domain.ReasonCompleted, domain.ReasonRemoteHangup, domain.ReasonHangup, domain.ReasonMaxDuration,
		domain.ReasonMediaLost, domain.ReasonTrunkRejected, domain.ReasonRejected, domain.ReasonBlocked,
		domain.ReasonMedia, domain.ReasonIdentity, domain.ReasonRedirected, domain.ReasonInternal,
		domain.ReasonConcurrency, domain.ReasonNumberUnknown, domain.ReasonProtocol, domain.ReasonRemoved, domain.ReasonTransferred,
		domain.ReasonSpendCap:
		t.ends = append(t.ends, end{now, false})
	default: // sip_<code>: the carrier answered
		t.ends = append(t.ends, end{now, false})
	}
}

// Tripped says whether at least half of at least five calls within 120 s
// failed in the trunk.
func (t *Trip) Tripped(now time.Time) bool {
	for len(t.ends) > 0 && now.Sub(t.ends[0].at) > tripWindow {
		if t.ends[0].bad {
			t.bad--
		}
		t.ends = t.ends[1:]
	}
	return len(t.ends) >= tripCalls && 2*t.bad >= len(t.ends)
}

// Reset forgets: after a pause the trunk gets a fresh chance.
func (t *Trip) Reset() { t.ends, t.bad = nil, 0 }

// The rule of campaign.progress.
const (
	tellEvery = time.Minute
	tellStep  = 5 // percent
)

// Tell says whether campaign.progress is due: at each 5 %, and each minute if
// something has changed. lookAt is when it will be due if nothing more
// happens; zero where it will not.
func Tell(p *domain.Progress, changed bool, now time.Time) (due bool, lookAt time.Time) {
	if int(p.Percent())/tellStep > p.ToldPercent/tellStep {
		return true, time.Time{}
	}
	if !changed {
		return false, time.Time{}
	}
	at := p.ToldAt.Add(tellEvery)
	return !now.Before(at), at
}
