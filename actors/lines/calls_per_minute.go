package lines

import (
	"slices"
	"time"
)

// pacer spreads calls evenly over a minute. Unused intervals do not accumulate. Calls may start up to burstTime early, so
// that a high rate needs no timer per call.
type pacer struct{ nextStart time.Time }

const burstTime = 100 * time.Millisecond

// earliestStart returns the earliest time at which the next call may start.
func (p *pacer) earliestStart() time.Time { return p.nextStart.Add(-burstTime) }

// useInterval counts a call: it postpones the next start by one interval of the limit per minute.
func (p *pacer) useInterval(now time.Time, limit int) {
	if limit <= 0 {
		return
	}
	if p.nextStart.Before(now) {
		p.nextStart = now
	}
	p.nextStart = p.nextStart.Add(rateWindow / time.Duration(limit))
}

// returnInterval undoes useInterval, because the permit of the call was returned unused.
func (p *pacer) returnInterval(limit int) {
	if limit > 0 {
		p.nextStart = p.nextStart.Add(-rateWindow / time.Duration(limit))
	}
}

// applyLimit applies a new limit of calls per minute at once. Otherwise a low old limit could delay the next start for long.
func (p *pacer) applyLimit(now time.Time, limit int) {
	if limit <= 0 {
		p.nextStart = time.Time{}
		return
	}
	if soon := now.Add(rateWindow / time.Duration(limit)); soon.Before(p.nextStart) {
		p.nextStart = soon
	}
}

// startWindow holds the start times of calls within rateWindow, oldest first.
type startWindow struct{ starts []time.Time }

func (w *startWindow) restoreStarts(opened []time.Time) {
	w.starts = slices.SortedFunc(slices.Values(opened), time.Time.Compare)
}

func (w *startWindow) addStart(at time.Time) { w.starts = append(w.starts, at) }

// nextFreeTime returns when the next call may start so that no period of rateWindow contains more than limit starts.
func (w *startWindow) nextFreeTime(now time.Time, limit int) time.Time {
	old := 0
	for old < len(w.starts) && now.Sub(w.starts[old]) >= rateWindow {
		old++
	}
	if old == len(w.starts) {
		w.starts = w.starts[:0]
	} else {
		w.starts = w.starts[old:]
	}
	if len(w.starts) < limit {
		return now
	}
	if limit <= 0 { // all permits are leased: a bind, a return or an expiry wakes up the actor earlier
		return now.Add(leaseDuration)
	}
	return w.starts[len(w.starts)-limit].Add(rateWindow)
}
