package routing

import (
	"maps"
	"time"

	"github.com/callboard/callboard/domain"
)

// StatisticsWindow is the period that CallStatistics covers, in steps of one minute.
const StatisticsWindow = time.Hour

const steps = int(StatisticsWindow / time.Minute)

// CallStatistics counts the calls of a trunk in the last hour. The zero value is empty.
type CallStatistics struct {
	steps [steps]minuteCounts
	last  int64 // newest minute
	sum   CallTotals
}

type minuteCounts struct {
	minute int64
	sum    CallTotals
}

// CallTotals counts calls of a trunk. Attempts are legs that were answered or rejected.
type CallTotals struct {
	Attempts, Answered int
	Ended, Short       int           // of the answered calls
	Talked             time.Duration // total length of the ended calls
	Refusals           map[string]int
}

// CountAnswered counts an answered leg.
func (r *CallStatistics) CountAnswered(now time.Time) {
	s := r.minuteAt(now)
	for _, x := range []*CallTotals{&s.sum, &r.sum} {
		x.Attempts++
		x.Answered++
	}
}

// CountRefused counts a leg that was not answered, by the reason.
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

// CountEnded counts the end of an answered call of length talked. The call counts as short if talked is at most short.
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

// Totals returns the counters of the last hour. The caller must not modify their map.
func (r *CallStatistics) Totals(now time.Time) CallTotals {
	r.minuteAt(now)
	return r.sum
}

// minuteAt returns the counters of the current minute and drops minutes older than StatisticsWindow.
func (r *CallStatistics) minuteAt(now time.Time) *minuteCounts {
	minute := now.Unix() / 60
	if minute > r.last {
		for m := max(r.last+1, minute-int64(steps)+1); m <= minute; m++ {
			r.dropMinute(&r.steps[m%int64(steps)])
		}
		r.last = minute
	}
	s := &r.steps[r.last%int64(steps)] // after the clock was set back, the newest minute is used
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

// Minutes returns the counters of each minute for storage, oldest first.
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

// AddMinutes adds stored minutes to the counters. Minutes older than StatisticsWindow or in the future are ignored.
func (r *CallStatistics) AddMinutes(rows []domain.TrunkMinute, now time.Time) {
	r.minuteAt(now)
	for i := range rows {
		k := &rows[i]
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

// ASR returns the answer-seizure ratio, 0 to 1. Without attempts it is 0.
func (s *CallTotals) ASR() float64 { return share(s.Answered, s.Attempts) }

// ACD returns the average call duration, the average length of answered calls.
func (s *CallTotals) ACD() time.Duration {
	if s.Ended == 0 {
		return 0
	}
	return s.Talked / time.Duration(s.Ended)
}

// ShortShare returns the share of short calls among the answered calls, 0 to 1.
func (s *CallTotals) ShortShare() float64 { return share(s.Short, s.Ended) }

func share(of, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}

// RefusalsByReason returns a copy of the counters of refused legs by reason.
func (s *CallTotals) RefusalsByReason() map[string]int {
	if s.Refusals == nil {
		return map[string]int{}
	}
	return maps.Clone(s.Refusals)
}

// Measure names a measured value of a trunk's call quality that alarms watch.
type Measure string

// The measured values of a trunk that alarms watch.
const (
	ASR        Measure = "asr"
	ACD        Measure = "acd"
	ShortCalls Measure = "short_call_share"
)

// Breach is a measured value that is beyond its alarm threshold. The unit of ACD is seconds.
type Breach struct {
	Measure      Measure
	Value, Bound float64
	Calls        int // number of calls in the measure
}

// ShortCallLimit returns the length up to which an answered call counts as short.
func ShortCallLimit(a domain.TrunkAlarms) time.Duration {
	if a.ShortCallSeconds <= 0 {
		return 6 * time.Second
	}
	return time.Duration(a.ShortCallSeconds) * time.Second
}

// FindBreaches returns the measured values that are beyond their alarm thresholds.
func FindBreaches(s CallTotals, a domain.TrunkAlarms) []Breach {
	minCalls := a.MinCalls
	if minCalls <= 0 {
		minCalls = 20
	}
	var out []Breach
	if a.MinASR > 0 && s.Attempts >= minCalls && s.ASR() < a.MinASR {
		out = append(out, Breach{ASR, s.ASR(), a.MinASR, s.Attempts})
	}
	if a.MinACDSeconds > 0 && s.Ended >= minCalls && s.ACD().Seconds() < a.MinACDSeconds {
		out = append(out, Breach{ACD, s.ACD().Seconds(), a.MinACDSeconds, s.Ended})
	}
	if a.MaxShortCallShare > 0 && s.Ended >= minCalls && s.ShortShare() > a.MaxShortCallShare {
		out = append(out, Breach{ShortCalls, s.ShortShare(), a.MaxShortCallShare, s.Ended})
	}
	return out
}

// CountSince returns how many call attempts ended in the last window, in whole minutes, and how many were answered.
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
