package dialer

import (
	"math"
	"slices"
	"time"
)

// mostAttempts is how often a contact is rung at most; see the rules of retry.
const mostAttempts = 20

// Yields count by the number of an attempt how many ended, and after how many
// of them the contact waited for another.
type Yields struct{ ended, again [mostAttempts + 1]int }

// Add counts the end of the n-th attempt of a contact, from 1.
func (y *Yields) Add(n int, again bool) {
	n = min(max(1, n), mostAttempts)
	y.ended[n]++
	if again {
		y.again[n]++
	}
}

// Seen counts what is known of a contact that spent so many attempts and
// waits for another, or does not.
func (y *Yields) Seen(spent int, again bool) {
	for n := 1; n < spent; n++ {
		y.Add(n, true)
	}
	if spent > 0 {
		y.Add(spent, again)
	}
}

// guess is what is assumed of retries where nothing was seen yet, and prior how
// many attempts of the kind it counts as.
const (
	guess = 0.3
	prior = 4
)

// shares are how likely another attempt follows the n-th. What little is known
// of late attempts leans on what is known of those before.
func (y *Yields) shares(most int) (p [mostAttempts + 1]float64) {
	last := guess
	for n := 1; n < min(most, mostAttempts+1); n++ {
		last = (float64(y.again[n]) + prior*last) / (float64(y.ended[n]) + prior)
		p[n] = last
	}
	return p
}

// Cohort are contacts who have been rung equally often and whose next attempt
// falls due in the same minute.
type Cohort struct {
	At     time.Time
	Number int // attempts spent
	Count  int
}

// Cohorts are all who wait for a retry. Their size depends on the interval of
// retries, not on the number of contacts.
type Cohorts struct {
	by [mostAttempts + 1][]Cohort // by attempts spent, each in order of time
}

// Add counts a contact that waits until at.
func (c *Cohorts) Add(spent int, at time.Time) {
	spent = min(max(0, spent), mostAttempts)
	at = at.Truncate(time.Minute)
	q := c.by[spent]
	i, found := slices.BinarySearchFunc(q, at, func(c Cohort, t time.Time) int { return c.At.Compare(t) })
	if found {
		q[i].Count++
		return
	}
	c.by[spent] = slices.Insert(q, i, Cohort{At: at, Number: spent, Count: 1})
}

// Drop counts one that no longer waits: of those who were rung as often, it is
// taken to be the one that waited longest. false: none was.
func (c *Cohorts) Drop(spent int) bool {
	spent = min(max(0, spent), mostAttempts)
	q := c.by[spent]
	if len(q) == 0 {
		return false
	}
	if q[0].Count--; q[0].Count == 0 {
		c.by[spent] = q[1:]
	}
	return true
}

// All are the cohorts in order of time.
func (c *Cohorts) All() []Cohort {
	var all []Cohort
	for _, q := range c.by {
		all = append(all, q...)
	}
	slices.SortStableFunc(all, func(a, b Cohort) int { return a.At.Compare(b.At) })
	return all
}

// Meter measures how fast a campaign really gets on while somebody is at hand
// to be rung: its share of lines and trunks, whatever holds it back. What is
// long ago counts less.
type Meter struct {
	at    time.Time
	able  bool
	spent float64 // seconds of that kind
	sent  float64 // attempts in them
}

const (
	halfLife = 20 * time.Minute
	leastSaw = 10 // attempts, before the measure says anything
)

// Look says whether somebody is at hand from now on.
func (m *Meter) Look(able bool, now time.Time) {
	if m.able && now.After(m.at) {
		passed := now.Sub(m.at).Seconds()
		fades := math.Exp2(-passed / halfLife.Seconds())
		m.spent, m.sent = m.spent*fades+passed, m.sent*fades
	}
	m.at, m.able = now, able
}

// Sent counts an attempt.
func (m *Meter) Sent() { m.sent++ }

// Rate is attempts per second, 0 where too little is known.
func (m *Meter) Rate() float64 {
	if m.sent < leastSaw || m.spent < 1 {
		return 0
	}
	return m.sent / m.spent
}

// Observed is what an estimate needs to know of a campaign's past.
type Observed struct {
	Yields Yields
	Meter  Meter
	held   time.Duration
	ended  int
}

// mostHeld bounds how many attempts the average of their lengths remembers.
const mostHeld = 5000

// Held counts how long an attempt took its line.
func (o *Observed) Held(d time.Duration) {
	if o.ended == mostHeld {
		o.held -= o.held / mostHeld
		o.ended--
	}
	o.held += max(0, d)
	o.ended++
}

// Outlook is an outlook with what was observed; live is how long the attempts
// that are open have taken their lines already, all together. Early on those
// who speak long are among them, and only those who were short have ended.
func (o *Observed) Outlook(live time.Duration) Outlook {
	out := Outlook{Yields: o.Yields, Rate: o.Meter.Rate()}
	if o.ended == mostHeld {
		live = 0
	}
	if o.ended > 0 {
		out.Hold = (o.held + live) / time.Duration(o.ended)
	}
	return out
}

// Carry takes over what was observed before the campaign was read again; with
// another pace, how fast it got on says nothing any more.
func (o *Observed) Carry(before *Observed, samePace bool) {
	o.held, o.ended = before.held, before.ended
	if samePace {
		o.Meter = before.Meter
	}
}
