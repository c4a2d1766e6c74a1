package dashboard

import (
	"time"
)

// callRate is the rate of calls in an interval, per minute.
type callRate struct {
	At       time.Time // start of the interval
	Calls    float64   // calls per minute
	Answered float64   // percentage of calls that were answered; -1: no calls
	Failed   float64   // failed calls per minute
}

// Unix returns the start of the interval in Unix seconds.
func (r callRate) Unix() int64 { return r.At.Unix() }

// intervalWidths returns the lengths among which ratesOf selects the length of its intervals.
func intervalWidths() []time.Duration {
	return []time.Duration{
		time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
	}
}

const maxIntervals = 60

// ratesOf counts calls by creation time in intervals from one time to another. It uses the shortest interval width
// that needs at most maxIntervals. The last, incomplete interval is extrapolated, or omitted if less than a quarter of
// it has passed.
func ratesOf(calls []object, from, to time.Time) []callRate {
	if !from.Before(to) {
		return nil
	}
	all := intervalWidths()
	width := all[len(all)-1]
	for _, w := range all {
		if to.Sub(from.Truncate(w)) <= maxIntervals*w {
			width = w
			break
		}
	}
	from = from.Truncate(width)
	rates := make([]callRate, min(maxIntervals, int((to.Sub(from)-1)/width)+1))
	answered := make([]float64, len(rates))
	for i := range rates {
		rates[i].At = from.Add(time.Duration(i) * width)
	}
	for _, c := range calls {
		at, err := time.Parse(time.RFC3339Nano, text(c, "created_at"))
		if err != nil || at.Before(from) || !at.Before(to) {
			continue
		}
		i := int(at.Sub(from) / width)
		if i >= len(rates) {
			continue
		}
		rates[i].Calls++
		if text(c, "answered_at") != "" {
			answered[i]++
		}
		if text(c, "status") == "failed" {
			rates[i].Failed++
		}
	}
	last := len(rates) - 1
	begun := min(width, to.Sub(rates[last].At))
	for i := range rates {
		minutes := width.Minutes()
		if i == last {
			minutes = begun.Minutes()
		}
		rates[i].Answered = -1
		if rates[i].Calls > 0 {
			rates[i].Answered = 100 * answered[i] / rates[i].Calls
		}
		rates[i].Calls /= minutes
		rates[i].Failed /= minutes
	}
	if last > 0 && 4*begun < width {
		return rates[:last]
	}
	return rates
}

// rates returns the call rates of a list of calls between two times. It reads at most five hundred calls, so that the
// dashboard page loads fast for large workspaces.
func (r *Request) rates(path string, since, until time.Time) ([]callRate, error) {
	before := func(c object) bool {
		at, err := time.Parse(time.RFC3339Nano, text(c, "created_at"))
		return err == nil && at.Before(since)
	}
	calls, whole, err := r.newest(path, before)
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	oldest, err := time.Parse(time.RFC3339Nano, text(calls[len(calls)-1], "created_at"))
	if err == nil && (!whole || since.IsZero()) {
		since = oldest
	}
	return ratesOf(calls, since, until), nil
}
