package routing

import (
	"maps"
	"time"

	"github.com/callboard/callboard/domain"
)

// Span is how far back a Record looks, in steps of a minute.
const StatisticsWindow = time.Hour

const steps = int(StatisticsWindow / time.Minute)

// CallStatistics is what became of a trunk's calls within the last hour. The zero
// value is empty.
type CallStatistics struct {
	steps [steps]minuteCounts
	last  int64 // minute of the newest step
	sum   CallTotals
}

type minuteCounts struct {
	minute int64
	sum    CallTotals
}

// CallTotals counts calls: attempts are legs that came to an answer or a refusal.
type CallTotals struct {
	Attempts, Answered int
	Ended, Short       int           // of the answered ones
	Talked             time.Duration // of the ended ones
	Refusals           map[string]int
}

// CountAnswered counts a leg that was answered.
func (r *CallStatistics) CountAnswered(now time.Time) {
	s := r.minuteAt(now)
	for _, x := range []*CallTotals{&s.sum, &r.sum} {
		x.Attempts++
		x.Answered++
	}
}

// CountRefused counts a leg that was not, and why.
func (r *CallStatistics) CountRefused(reason string, now time.Time) {
	s := r.minuteAt(now)
	for _, x := range []*CallTotals{&s.sum, &r.sum} {
		x.Attempts++
		if x.Refusals == nil {
			x.Refusals = make(map[string]int)
		}
		x.Refusals[reason]++
	}
}

// CountEnded counts an answered call that is over; up to short it is a short one.
func (r *CallStatistics) CountEnded(talked, short time.Duration, now time.Time) {
	s := r.minuteAt(now)
	for _, x := range []*CallTotals{&s.sum, &r.sum} {
		x.Ended++
		x.Talked += talked
		if talked <= short {
			x.Short++
		}
	}
}

// Totals is what the last hour brought. Its map must not be written to.
func (r *CallStatistics) Totals(now time.Time) CallTotals {
	r.minuteAt(now)
	return r.sum
}

// minuteAt is the step of now; what is older than the span is forgotten.
func (r *CallStatistics) minuteAt(now time.Time) *minuteCounts {
	minute := now.Unix() / 60
	if minute > r.last {
		for m := max(r.last+1, minute-int64(steps)+1); m <= minute; m++ {
			r.dropMinute(&r.steps[m%int64(steps)])
		}
		r.last = minute
	}
	s := &r.steps[r.last%int64(steps)] // a clock that was set back counts into the newest
	s.minute = r.last
	return s
}

func (r *CallStatistics) dropMinute(s *minuteCounts) {
	if s.minute == 0 {
		return
	}
	r.sum.Attempts -= s.sum.Attempts
	r.sum.Answered -= s.sum.Answered
	r.sum.Ended -= s.sum.Ended
	r.sum.Short -= s.sum.Short
	r.sum.Talked -= s.sum.Talked
	for reason, n := range s.sum.Refusals {
		if r.sum.Refusals[reason] -= n; r.sum.Refusals[reason] <= 0 {
			delete(r.sum.Refusals, reason)
		}
	}
	*s = minuteCounts{}
}

// Minutes is the record as it is kept, the oldest minute first.
func (r *CallStatistics) Minutes(now time.Time) []domain.TrunkMinute {
	r.minuteAt(now)
	var out []domain.TrunkMinute
	for m := r.last - int64(steps) + 1; m <= r.last; m++ {
		s := &r.steps[(m+int64(steps))%int64(steps)]
		if s.minute != m || s.sum.Attempts == 0 && s.sum.Ended == 0 {
			continue
		}
		out = append(out, domain.TrunkMinute{
			Minute: m, Attempts: s.sum.Attempts, Answered: s.sum.Answered, Ended: s.sum.Ended, Short: s.sum.Short, Talked: s.sum.Talked,
			Refusals: maps.Clone(s.sum.Refusals),
		})
	}
	return out
}

// AddMinutes adds what was kept to what was counted since; what is beyond the span, or
// ahead of now, is left out.
func (r *CallStatistics) AddMinutes(kept []domain.TrunkMinute, now time.Time) {
	r.minuteAt(now)
	for i := range kept {
		k := &kept[i]
		if k.Minute > r.last || k.Minute <= r.last-int64(steps) {
			continue
		}
		s := &r.steps[k.Minute%int64(steps)]
		if s.minute != k.Minute {
			*s = minuteCounts{minute: k.Minute}
		}
		for _, x := range []*CallTotals{&s.sum, &r.sum} {
			x.Attempts += k.Attempts
			x.Answered += k.Answered
			x.Ended += k.Ended
			x.Short += k.Short
			x.Talked += k.Talked
			for reason, n := range k.Refusals {
				if x.Refusals == nil {
					x.Refusals = make(map[string]int)
				}
				x.Refusals[reason] += n
			}
		}
	}
}

// ASR is the answer-seizure ratio, 0 to 1; 0 without attempts.
func (s *CallTotals) ASR() float64 { return share(s.Answered, s.Attempts) }

// ACD is the average duration of answered calls.
func (s *CallTotals) ACD() time.Duration {
	if s.Ended == 0 {
		return 0
	}
	return s.Talked / time.Duration(s.Ended)
}

// ShortShare is the share of short calls among the answered ones, 0 to 1.
func (s *CallTotals) ShortShare() float64 { return share(s.Short, s.Ended) }

func share(of, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}

// RefusalsByReason are the refusals, in a map of the caller's own.
func (s *CallTotals) RefusalsByReason() map[string]int {
	if s.Refusals == nil {
		return map[string]int{}
	}
	return maps.Clone(s.Refusals)
}

// Measure names what an alarm watches.
type Measure string

// The measures of a trunk.
const (
	ASR        Measure = "asr"
	ACD        Measure = "acd"
	ShortCalls Measure = "short_call_share"
)

// Breach is a measure beyond its bound. ACD counts in seconds.
type Breach struct {
	Measure      Measure
	Value, Bound float64
	Calls        int // it was taken over
}

// ShortCallLimit is up to where an answered call is short by the alarms' settings.
func ShortCallLimit(a domain.TrunkAlarms) time.Duration {
	if a.ShortCallSeconds <= 0 {
		return 6 * time.Second
	}
	return time.Duration(a.ShortCallSeconds) * time.Second
}

// FindBreaches finds what is beyond its bound.
func FindBreaches(s CallTotals, a domain.TrunkAlarms) []Breach {
	least := a.MinCalls
	if least <= 0 {
		least = 20
	}
	var out []Breach
	if a.MinASR > 0 && s.Attempts >= least && s.ASR() < a.MinASR {
		out = append(out, Breach{ASR, s.ASR(), a.MinASR, s.Attempts})
	}
	if a.MinACDSeconds > 0 && s.Ended >= least && s.ACD().Seconds() < a.MinACDSeconds {
		out = append(out, Breach{ACD, s.ACD().Seconds(), a.MinACDSeconds, s.Ended})
	}
	if a.MaxShortCallShare > 0 && s.Ended >= least && s.ShortShare() > a.MaxShortCallShare {
		out = append(out, Breach{ShortCalls, s.ShortShare(), a.MaxShortCallShare, s.Ended})
	}
	return out
}

// CountSince counts the attempts of a window that ends now, in whole minutes, and
// those of them that were answered.
func (r *CallStatistics) CountSince(now time.Time, window time.Duration) (attempts, answered int) {
	r.minuteAt(now)
	for m := max(r.last-int64(window/time.Minute)+1, r.last-int64(steps)+1); m <= r.last; m++ {
		if s := &r.steps[(m+int64(steps))%int64(steps)]; s.minute == m {
			attempts += s.sum.Attempts
			answered += s.sum.Answered
		}
	}
	return attempts, answered
}
