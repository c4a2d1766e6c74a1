package dialer

import (
	"math"
	"slices"
	"time"
)

// maxAttempts is the largest number of attempts per contact that domain.Retry allows.
const maxAttempts = 20

// RetryStatistics counts, by the number of an attempt, how many attempts ended and how many of them were followed
// by a retry.
type RetryStatistics struct{ ended, retried [maxAttempts + 1]int }

// AddAttempt counts the end of a contact's n-th attempt, counted from 1. again reports whether a retry follows.
func (y *RetryStatistics) AddAttempt(n int, again bool) {
	n = min(max(1, n), maxAttempts)
	y.ended[n]++
	if again {
		y.retried[n]++
	}
}

// AddContact counts the spent ended attempts of a contact. again reports whether the contact waits for another
// attempt.
func (y *RetryStatistics) AddContact(spent int, again bool) {
	for n := 1; n < spent; n++ {
		y.AddAttempt(n, true)
	}
	if spent > 0 {
		y.AddAttempt(spent, again)
	}
}

// defaultRetryRate is the assumed share of attempts that are followed by a retry. The assumption has the weight of
// priorAttempts observed attempts.
const (
	defaultRetryRate = 0.3
	priorAttempts    = 4
)

// rates returns the probability that a retry follows an attempt, by attempt number up to most-1. With few
// observations the rate stays close to the rate of the previous attempt number.
func (y *RetryStatistics) rates(most int) (p [maxAttempts + 1]float64) {
	last := defaultRetryRate
	for n := 1; n < min(most, maxAttempts+1); n++ {
		last = (float64(y.retried[n]) + priorAttempts*last) / (float64(y.ended[n]) + priorAttempts)
		p[n] = last
	}
	return p
}

// RetryCohort counts contacts that have made the same number of attempts and whose next attempt is due in the same
// minute.
type RetryCohort struct {
	At       time.Time
	Attempts int // attempts made so far
	Count    int
}

// RetryCohorts counts the contacts that wait for a retry. Its memory depends on the retry interval, not on the number
// of contacts.
type RetryCohorts struct {
	byAttempts [maxAttempts + 1][]RetryCohort // by attempts made so far, each in order of time
}

// Add counts a contact that has made spent attempts and waits for a retry at the time at.
func (c *RetryCohorts) Add(spent int, at time.Time) {
	spent = min(max(0, spent), maxAttempts)
	at = at.Truncate(time.Minute)
	q := c.byAttempts[spent]
	i, found := slices.BinarySearchFunc(q, at, func(c RetryCohort, t time.Time) int { return c.At.Compare(t) })
	if found {
		q[i].Count++
		return
	}
	c.byAttempts[spent] = slices.Insert(q, i, RetryCohort{At: at, Attempts: spent, Count: 1})
}

// Remove subtracts a contact that has made spent attempts and stops waiting. It subtracts the contact from the cohort
// with the earliest retry. It returns false if no contact with this number of attempts waits.
func (c *RetryCohorts) Remove(spent int) bool {
	spent = min(max(0, spent), maxAttempts)
	q := c.byAttempts[spent]
	if len(q) == 0 {
		return false
	}
	if q[0].Count--; q[0].Count == 0 {
		c.byAttempts[spent] = q[1:]
	}
	return true
}

// All returns all cohorts in order of their retry time.
func (c *RetryCohorts) All() []RetryCohort {
	var all []RetryCohort
	for _, q := range c.byAttempts {
		all = append(all, q...)
	}
	slices.SortStableFunc(all, func(a, b RetryCohort) int { return a.At.Compare(b.At) })
	return all
}

// ThroughputMeter measures how many attempts per second a campaign makes while contacts are ready to be called.
// Older attempts count less.
type ThroughputMeter struct {
	since    time.Time
	ready    bool
	seconds  float64 // weighted seconds with contacts ready
	attempts float64 // weighted attempts in these seconds
}

const (
	halfLife    = 20 * time.Minute
	minAttempts = 10 // attempts before Rate returns a value
)

// SetReady records whether contacts are ready to be called from now on. The rate only counts time with ready contacts.
func (m *ThroughputMeter) SetReady(able bool, now time.Time) {
	if m.ready && now.After(m.since) {
		passed := now.Sub(m.since).Seconds()
		fades := math.Exp2(-passed / halfLife.Seconds())
		m.seconds, m.attempts = m.seconds*fades+passed, m.attempts*fades
	}
	m.since, m.ready = now, able
}

// AddAttempt counts an attempt whose INVITE is sent.
func (m *ThroughputMeter) AddAttempt() { m.attempts++ }

// Rate returns the attempts per second, or 0 if too few attempts were counted.
func (m *ThroughputMeter) Rate() float64 {
	if m.attempts < minAttempts || m.seconds < 1 {
		return 0
	}
	return m.attempts / m.seconds
}

// Statistics holds the observations of a running campaign from which Estimate computes the time of completion.
type Statistics struct {
	Retries       RetryStatistics
	Throughput    ThroughputMeter
	totalDuration time.Duration
	attempts      int
}

// maxDurations is the number of attempts that the average attempt duration covers.
const maxDurations = 5000

// AddAttemptDuration adds the time for which an attempt occupied its call permit to the average.
func (o *Statistics) AddAttemptDuration(d time.Duration) {
	if o.attempts == maxDurations {
		o.totalDuration -= o.totalDuration / maxDurations
		o.attempts--
	}
	o.totalDuration += max(0, d)
	o.attempts++
}

// EstimateInput returns an EstimateInput with the statistics filled in. live is the total time that the open attempts
// have lasted so far. It avoids a bias at the start of a campaign, when only short attempts have ended.
func (o *Statistics) EstimateInput(live time.Duration) EstimateInput {
	out := EstimateInput{RetryRates: o.Retries, Rate: o.Throughput.Rate()}
	if o.attempts == maxDurations {
		live = 0
	}
	if o.attempts > 0 {
		out.AttemptDuration = (o.totalDuration + live) / time.Duration(o.attempts)
	}
	return out
}

// CarryOver copies the durations from the statistics before the campaign was reloaded. It copies the throughput only
// if the pacing is the same.
func (o *Statistics) CarryOver(before *Statistics, samePace bool) {
	o.totalDuration, o.attempts = before.totalDuration, before.attempts
	if samePace {
		o.Throughput = before.Throughput
	}
}
