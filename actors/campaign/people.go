package campaign

import (
	"container/heap"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

const (
	atHand     = 64 // candidates kept ready, and as many due retries
	keepChunks = 8  // bodies in memory: two bytes per contact are the rule
)

// people are the contacts of a campaign as it sees them: a state and a count
// of attempts each, and queues of those who may be rung. Bodies are read in
// chunks when they are about to be needed.
type people struct {
	states, attempts []byte // by ordinal
	rules            calendar.Rules
	ends             bool // the schedule has an end: whom it leaves behind expires
	fresh            int  // the first ordinal that nobody has looked at
	again            []int
	retries          waits
	holds            waits // who may not be rung just now
	capped           waits // whose numbers were rung often enough today
	zones            map[string]*zone
	ready, due       []candidate // due: retries
	chunks           map[int]*chunk
	clock            int // of the chunks' use
	needs            map[int]bool
	durations        map[int]int // of the last answered attempt, where there is one
	seen             dialer.Observed
	cohorts          dialer.Cohorts // of retries whose zone is not known
}

// candidate may be rung now.
type candidate struct {
	ordinal int
	contact domain.Contact
	zone    *zone
	country string // of the number; "": none
	retry   bool
	since   time.Time // since when a retry is due; zero: since before the zone opened
}

// zone is a bucket of contacts who wait for the same opening.
type zone struct {
	key       string
	closed    closures
	window    calendar.Window
	opens     time.Time // zero: never
	again     time.Time // where it is never: when to ask once more
	wait, due []int32   // due: retries, who come first
	seen      int       // contacts of the zone that were looked at
	cohorts   dialer.Cohorts
}

// neverFor is how long a zone that does not open within a year is left alone:
// to find that out takes long.
const neverFor = 24 * time.Hour

// refresh works out when the zone opens, where that may have changed.
func (z *zone) refresh(now time.Time) {
	if z.opens.After(now) || z.opens.IsZero() && now.Before(z.again) {
		return
	}
	var ok bool
	if z.opens, ok = z.window.Next(now); !ok {
		z.opens, z.again = time.Time{}, now.Add(neverFor)
	}
}

func (z *zone) empty() bool { return len(z.wait) == 0 && len(z.due) == 0 }

func (z *zone) park(ordinal int, retry bool) {
	q := &z.wait
	if retry {
		q = &z.due
	}
	*q = append(*q, int32(ordinal)) //nolint:gosec // below a million
}

// chunk is a run of bodies at hand, with what their numbers say.
type chunk struct {
	contacts []domain.Contact
	zones    []string // keys; "" is unknown
	invalid  []bool

	countries []string // of the numbers; "" is none
	windows   map[string]calendar.Window
	hits      map[int]*dnc.Hit // who is on a list
	used      int
}

// waits is a heap of contacts by the time of their retry.
type waits []waiting

type waiting struct {
	at      time.Time
	ordinal int
}

func (w waits) Len() int           { return len(w) }
func (w waits) Less(i, j int) bool { return w[i].at.Before(w[j].at) }
func (w waits) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

// Push is heap.Interface's.
func (w *waits) Push(x any) { *w = append(*w, x.(waiting)) } //nolint:forcetypeassert // only retry pushes

// Pop is heap.Interface's.
func (w *waits) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

func newPeople(total int, rules calendar.Rules) *people {
	return &people{
		states: make([]byte, total), attempts: make([]byte, total), rules: rules,
		zones: make(map[string]*zone), chunks: make(map[int]*chunk), needs: make(map[int]bool),
		durations: make(map[int]int),
	}
}

// rest lets go of what only a campaign that may still ring needs: it may stay
// for as long as its last calls go on.
func (p *people) rest() {
	p.fresh, p.again, p.retries, p.holds, p.capped, p.ready, p.due = len(p.states), nil, nil, nil, nil, nil, nil
	clear(p.zones)
	p.chunks = make(map[int]*chunk)
	clear(p.needs)
}

func (p *people) state(ordinal int) domain.ContactState {
	return domain.ContactState(p.states[ordinal])
}

// retry makes a contact wait for its next attempt.
func (p *people) retry(ordinal int, at time.Time) { heap.Push(&p.retries, waiting{at, ordinal}) }

// first is the earliest time in it; zero: it is empty.
func (w waits) first() time.Time {
	if len(w) == 0 {
		return time.Time{}
	}
	return w[0].at
}

// nextRetry is when the earliest retry is due, or somebody may be rung again
// whose number was taken.
func (p *people) nextRetry() time.Time {
	return earlier(p.retries.first(), p.holds.first())
}

// nextOpening is when the first zone opens in which somebody waits.
func (p *people) nextOpening() time.Time {
	var first time.Time
	for _, z := range p.zones {
		if !z.empty() && !z.opens.IsZero() && (first.IsZero() || z.opens.Before(first)) {
			first = z.opens
		}
	}
	return first
}

// unread says whether somebody may be ready whose body is not at hand yet.
func (p *people) unread(now time.Time) bool {
	if len(p.needs) > 0 || p.fresh < len(p.states) || len(p.again) > 0 {
		return true
	}
	for _, z := range p.zones {
		if !z.empty() && !z.opens.IsZero() && !z.opens.After(now) {
			return true
		}
	}
	return len(p.retries) > 0 && !p.retries[0].at.After(now) || len(p.holds) > 0 && !p.holds[0].at.After(now) || len(p.capped) > 0 && !p.capped[0].at.After(now)
}

// fill moves contacts into the ready queues until they are full or bodies are
// missing; whom no rule lets ring is given to skip.
func (p *people) fill(now time.Time, skip func(ordinal int, by Skip)) {
	for len(p.due) < atHand && len(p.retries) > 0 && !p.retries[0].at.After(now) {
		if !p.look(p.retries[0].ordinal, p.retries[0].at, now, skip) {
			break
		}
		heap.Pop(&p.retries)
	}
	p.unhold(now, skip)
	for len(p.again) > 0 && len(p.ready) < atHand && p.look(p.again[0], time.Time{}, now, skip) {
		p.again = p.again[1:]
	}
	for _, z := range p.zones {
		p.reopen(z, now, skip)
	}
	for p.fresh < len(p.states) && len(p.ready) < atHand {
		if p.state(p.fresh) == domain.ContactPending && !p.look(p.fresh, time.Time{}, now, skip) {
			break
		}
		p.fresh++
	}
}

// reopen looks at those who waited for a zone once it is open.
func (p *people) reopen(z *zone, now time.Time, skip func(int, Skip)) {
	if z.empty() || z.opens.IsZero() || z.opens.After(now) {
		return
	}
	if !z.window.Allows(now) { // it has closed again meanwhile
		z.refresh(now)
		return
	}
	for len(z.due) > 0 && len(p.due) < atHand && p.look(int(z.due[0]), time.Time{}, now, skip) {
		z.due = z.due[1:]
	}
	for len(z.wait) > 0 && len(p.ready) < atHand && p.look(int(z.wait[0]), time.Time{}, now, skip) {
		z.wait = z.wait[1:]
	}
}

// look decides about one idle contact, who is due since then; false: its body
// is not at hand.
func (p *people) look(ordinal int, since, now time.Time, skip func(int, Skip)) bool {
	s := p.state(ordinal)
	if s != domain.ContactPending && s != domain.ContactRetryWait {
		return true // it is no longer idle
	}
	c := p.chunks[ordinal/domain.ChunkSize]
	if c == nil {
		p.needs[ordinal/domain.ChunkSize] = true
		return false
	}
	p.clock++
	c.used = p.clock
	i := ordinal % domain.ChunkSize
	if i >= len(c.contacts) || c.invalid[i] {
		skip(ordinal, SkipInvalid)
		return true
	}
	if c.hits[i] != nil {
		skip(ordinal, SkipDNC)
		return true
	}
	z := p.zoneOf(c, i, now)
	if ordinal == p.fresh {
		z.seen++
	}
	who := candidate{ordinal: ordinal, contact: c.contacts[i], zone: z, country: c.countries[i], retry: s == domain.ContactRetryWait, since: since}
	switch {
	case z.window.Allows(now):
		p.enqueue(who, false)
	case z.opens.IsZero() && (!p.ends || p.rules.Local() && c.zones[i] == ""):
		skip(ordinal, SkipHours)
	default:
		z.park(ordinal, who.retry)
	}
	return true
}

// zoneOf is the bucket of a contact, whose opening is up to date.
func (p *people) zoneOf(c *chunk, i int, now time.Time) *zone {
	key := c.zones[i]
	z := p.zones[key]
	if z == nil {
		z = &zone{key: key, window: c.windows[key]}
		p.zones[key] = z
	}
	z.refresh(now)
	return z
}

func (p *people) enqueue(c candidate, first bool) {
	q := &p.ready
	if c.retry {
		q = &p.due
	}
	if first {
		*q = slices.Insert(*q, 0, c)
		return
	}
	*q = append(*q, c)
}

// take is the next to be rung: due retries come first. Whose window has closed
// since goes back to its zone.
func (p *people) take(now time.Time) (candidate, bool) {
	for _, q := range []*[]candidate{&p.due, &p.ready} {
		for len(*q) > 0 {
			c := (*q)[0]
			*q = (*q)[1:]
			if c.zone.window.Allows(now) {
				return c, true
			}
			p.park(c, now)
		}
	}
	return candidate{}, false
}

// park puts a candidate into its zone's bucket.
func (p *people) park(c candidate, now time.Time) {
	c.zone.refresh(now)
	c.zone.park(c.ordinal, c.retry)
}

// keep takes bodies that were read and lets go of those used longest ago.
func (p *people) keep(read map[int]*chunk) {
	for i, c := range read {
		delete(p.needs, i)
		p.clock++
		c.used = p.clock
		p.chunks[i] = c
	}
	for len(p.chunks) > keepChunks {
		oldest, at := -1, 0
		for i, c := range p.chunks {
			if oldest < 0 || c.used < at {
				oldest, at = i, c.used
			}
		}
		delete(p.chunks, oldest)
	}
}

// page is one page of states with changes made to it.
func (p *people) page(c *domain.Campaign, index int, changes []delta) *domain.ContactPage {
	from := index * domain.PageSize
	to := min(from+domain.PageSize, len(p.states))
	page := &domain.ContactPage{
		CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: index,
		States:   append([]byte(nil), p.states[from:to]...),
		Attempts: append([]byte(nil), p.attempts[from:to]...),
	}
	for _, d := range changes {
		if d.ordinal >= from && d.ordinal < to {
			page.States[d.ordinal-from], page.Attempts[d.ordinal-from] = byte(d.state), d.attempts
		}
	}
	return page
}

// apply makes changes that are durable.
func (p *people) apply(changes []delta) {
	for _, d := range changes {
		p.observe(d)
		p.states[d.ordinal], p.attempts[d.ordinal] = byte(d.state), d.attempts
		if d.duration > 0 && !d.state.Final() {
			p.durations[d.ordinal] = d.duration
		} else if d.state.Final() {
			delete(p.durations, d.ordinal)
		}
		switch {
		case d.state == domain.ContactPending && d.ordinal < p.fresh: // else it is still to be looked at
			p.again = append(p.again, d.ordinal)
		case d.state == domain.ContactRetryWait:
			p.retry(d.ordinal, d.retryAt)
		}
	}
}

// observe learns from a change what an estimate needs.
func (p *people) observe(d delta) {
	was, spent := p.state(d.ordinal), p.attempts[d.ordinal]
	if was == domain.ContactRetryWait {
		p.drop(d.zone, int(spent))
	}
	waits := d.state == domain.ContactRetryWait
	switch {
	case waits && d.zone != nil:
		d.zone.cohorts.Add(int(d.attempts), d.retryAt)
	case waits:
		p.cohorts.Add(int(d.attempts), d.retryAt)
	}
	if was == domain.ContactOpen && d.attempts == spent && (waits || d.state.Final()) { // else it was not spent
		p.seen.Yields.Add(int(spent), waits)
	}
}

// drop takes one who waits no longer out of the cohorts of its zone, or, where
// its zone is not known, out of any that has one of its kind.
func (p *people) drop(z *zone, spent int) {
	if z != nil && z.cohorts.Drop(spent) || p.cohorts.Drop(spent) {
		return
	}
	for _, z := range p.zones {
		if z.cohorts.Drop(spent) {
			return
		}
	}
}

// recall learns from what the store has what an estimate needs.
func (p *people) recall() {
	for i, b := range p.states {
		spent := int(p.attempts[i])
		switch s := domain.ContactState(b); {
		case spent == 0:
		case s == domain.ContactOpen:
			p.seen.Yields.Seen(spent-1, true)
		default:
			p.seen.Yields.Seen(spent, s == domain.ContactRetryWait)
		}
	}
	for _, w := range p.retries {
		p.cohorts.Add(int(p.attempts[w.ordinal]), w.at)
	}
}

// cursor is the first ordinal that is still pending once changes are made.
func (p *people) cursor(from int, changes []delta) int {
	later := make(map[int]domain.ContactState, len(changes))
	for _, d := range changes {
		later[d.ordinal] = d.state
		if d.state == domain.ContactPending {
			from = min(from, d.ordinal)
		}
	}
	for from < len(p.states) {
		s, changed := later[from]
		if !changed {
			s = p.state(from)
		}
		if s == domain.ContactPending {
			break
		}
		from++
	}
	return from
}
