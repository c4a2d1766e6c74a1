package dashboard

import (
	"time"
)

// rate is what happened in a stretch of time, each as if it had gone on for a
// minute.
type rate struct {
	At       time.Time // its beginning
	Calls    float64   // a minute
	Answered float64   // per cent of the calls; -1: there were none
	Failed   float64   // a minute
}

// Unix is when it began, in seconds.
func (r rate) Unix() int64 { return r.At.Unix() }

// intervalWidths are how long stretches may be.
func intervalWidths() []time.Duration {
	return []time.Duration{
		time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
	}
}

const maxIntervals = 60

// ratesOf counts calls by when they began, in stretches from one time to
// another: the shortest ones of which no more than sixty are needed. The last
// one is under way: it counts by how much of it has gone by, and is left out
// while that is less than a quarter, which tells no rate.
func ratesOf(calls []object, from, to time.Time) []rate {
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
	rates := make([]rate, min(maxIntervals, int((to.Sub(from)-1)/width)+1))
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

// rates are those of the newest calls of a list since a time: of five hundred
// at most, so that a page costs no more where there are many.
func (r *Request) rates(path string, since, until time.Time) ([]rate, error) {
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
