package campaign

import (
	"container/heap"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

// maxReady is the maximum number of contacts that are kept ready for their first call. The same limit applies to contacts
// that are due for a retry.
const maxReady = 64

// busyHold delays a contact whose number is in another call. unknownHold delays a contact whose number could not be checked.
const (
	busyHold    = 5 * time.Second
	unknownHold = time.Second
)

// contactQueue holds state and attempt count of each contact of a campaign, and queues of waiting contacts. Shortly before
// its turn a contact is classified: it is ready, waits for its calling hours, or is skipped.
type contactQueue struct {
	states, attempts []byte // of each contact, by its position in the contact list (ordinal)
	rules            calendar.Rules
	hours            domain.CallingHours
	scheduleEnds     bool // contacts that remain when the schedule ends expire

	unseen     int         // first ordinal that was not classified yet
	requeued   []int       // contacts to be classified again
	retries    contactHeap // contacts that wait for a retry, by due time
	held       contactHeap // contacts that may not be called for a moment
	capped     contactHeap // contacts at their daily limit
	zones      map[string]*zone
	ready, due []candidate // ready first attempts and due retries
	cache      contactCache
	skips      []skippedContact // skips that the next commit contains
	skipped    map[int]bool     // contacts whose skip or change is not durable yet
	durations  map[int]int      // in seconds, of the last answered attempt
	observed   dialer.Statistics
	cohorts    dialer.RetryCohorts // retries in unknown zones
}

// candidate is a contact that may be called now.
type candidate struct {
	ordinal int
	contact domain.Contact
	zone    *zone
	country string // country of the phone number; "": none
	retry   bool
	since   time.Time // due time of a retry; zero: the retry was due before its zone opened
}

// contactDelta is a change of a contact's state by a commit.
type contactDelta struct {
	ordinal  int
	state    domain.ContactState
	attempts byte
	retryAt  time.Time
	duration int
	zone     *zone // nil: the zone is unknown
}

// skippedContact is a contact that a rule excludes from calling, with the rule.
type skippedContact struct {
	ordinal int
	reason  SkipReason
	phone   string
	ruling  domain.Ruling
}

func newContactQueue(total int, rules calendar.Rules) *contactQueue {
	return &contactQueue{
		states: make([]byte, total), attempts: make([]byte, total), rules: rules,
		zones: make(map[string]*zone), cache: newContactCache(), skipped: make(map[int]bool), durations: make(map[int]int),
	}
}

// clear empties the queues of a campaign that has ended.
func (q *contactQueue) clear() {
	q.unseen, q.requeued, q.retries, q.held, q.capped, q.ready, q.due = len(q.states), nil, nil, nil, nil, nil, nil
	clear(q.zones)
	q.cache.clear()
}

func (q *contactQueue) state(ordinal int) domain.ContactState {
	return domain.ContactState(q.states[ordinal])
}

// addRetry queues a contact whose next attempt is due at the given time.
func (q *contactQueue) addRetry(ordinal int, at time.Time) { q.retries.add(ordinal, at) }

// nextRetry returns the time at which the first retry is due or the first held contact may be called again.
func (q *contactQueue) nextRetry() time.Time {
	return earlier(q.retries.first(), q.held.first())
}

// nextOpening returns the earliest time at which the calling hours of waiting contacts open.
func (q *contactQueue) nextOpening() time.Time {
	var first time.Time
	for _, z := range q.zones {
		if !z.isEmpty() && !z.opens.IsZero() && (first.IsZero() || z.opens.Before(first)) {
			first = z.opens
		}
	}
	return first
}

// hasUnread reports whether there may be callable contacts that are not classified yet.
func (q *contactQueue) hasUnread(now time.Time) bool {
	if len(q.cache.missing) > 0 || q.unseen < len(q.states) || len(q.requeued) > 0 {
		return true
	}
	for _, z := range q.zones {
		if z.hasOpened(now) {
			return true
		}
	}
	return q.retries.due(now) || q.held.due(now) || q.capped.due(now)
}

// fill classifies waiting contacts until the ready queues are full or contacts have to be read from the store.
func (q *contactQueue) fill(now time.Time) {
	for len(q.due) < maxReady && q.retries.due(now) {
		if !q.classify(q.retries[0].ordinal, q.retries[0].at, now) {
			break
		}
		heap.Pop(&q.retries)
	}
	q.endHolds(now)
	for len(q.requeued) > 0 && len(q.ready) < maxReady && q.classify(q.requeued[0], time.Time{}, now) {
		q.requeued = q.requeued[1:]
	}
	for _, z := range q.zones {
		q.placeOpened(z, now)
	}
	for q.unseen < len(q.states) && len(q.ready) < maxReady {
		if q.state(q.unseen) == domain.ContactPending && !q.classify(q.unseen, time.Time{}, now) {
			break
		}
		q.unseen++
	}
}

// placeOpened classifies the contacts that wait in z, if its calling hours have opened.
func (q *contactQueue) placeOpened(z *zone, now time.Time) {
	if !z.hasOpened(now) {
		return
	}
	if !z.window.Allows(now) { // the zone has closed again meanwhile
		z.refresh(now)
		return
	}
	for len(z.dueRetries) > 0 && len(q.due) < maxReady && q.classify(int(z.dueRetries[0]), time.Time{}, now) {
		z.dueRetries = z.dueRetries[1:]
	}
	for len(z.waiting) > 0 && len(q.ready) < maxReady && q.classify(int(z.waiting[0]), time.Time{}, now) {
		z.waiting = z.waiting[1:]
	}
}

// endHolds classifies the contacts that were held until now.
func (q *contactQueue) endHolds(now time.Time) {
	for _, held := range []*contactHeap{&q.held, &q.capped} {
		for len(q.ready) < maxReady && len(q.due) < maxReady && held.due(now) {
			if !q.classify((*held)[0].ordinal, (*held)[0].at, now) {
				return
			}
			heap.Pop(held)
		}
	}
}

// classify decides whether a waiting contact is ready, waits for its calling hours, or is skipped. since is the time at
// which the contact became due. classify returns false if the contact is not in memory.
func (q *contactQueue) classify(ordinal int, since, now time.Time) bool {
	s := q.state(ordinal)
	if s != domain.ContactPending && s != domain.ContactRetryWait {
		return true // the contact no longer waits
	}
	c, i := q.cache.use(ordinal)
	if c == nil {
		return false
	}
	if i >= len(c.contacts) || c.invalid[i] {
		q.skip(ordinal, SkipInvalid)
		return true
	}
	if c.dncMatches[i] != nil {
		q.skip(ordinal, SkipDNC)
		return true
	}
	z := q.zoneOf(c, i, now)
	if ordinal == q.unseen {
		z.seen++
	}
	next := candidate{ordinal: ordinal, contact: c.contacts[i], zone: z, country: c.countries[i], retry: s == domain.ContactRetryWait, since: since}
	switch {
	case z.window.Allows(now):
		q.enqueue(next, false)
	case z.opens.IsZero() && (!q.scheduleEnds || q.rules.HasLocalHours() && c.zones[i] == ""):
		q.skip(ordinal, SkipHours)
	default:
		z.add(ordinal, next.retry)
	}
	return true
}

// zoneOf returns the zone with the calling hours of contact i of a chunk. It first updates the zone's next opening time.
func (q *contactQueue) zoneOf(c *chunk, i int, now time.Time) *zone {
	key := c.zones[i]
	z := q.zones[key]
	if z == nil {
		z = &zone{key: key, window: c.windows[key]}
		q.zones[key] = z
	}
	z.refresh(now)
	return z
}

// enqueue adds a contact to the ready contacts or due retries, at the front if first is set, else at the end.
func (q *contactQueue) enqueue(c candidate, first bool) {
	list := &q.ready
	if c.retry {
		list = &q.due
	}
	if first {
		*list = slices.Insert(*list, 0, c)
		return
	}
	*list = append(*list, c)
}

// next removes and returns the next contact to call, with due retries first. A contact whose calling hours have closed
// waits for the next opening. A contact that is being changed is passed over.
func (q *contactQueue) next(now time.Time) (candidate, bool) {
	for _, list := range []*[]candidate{&q.due, &q.ready} {
		for len(*list) > 0 {
			c := (*list)[0]
			*list = (*list)[1:]
			switch {
			case !c.zone.window.Allows(now):
				q.waitForZone(c, now)
			case !q.skipped[c.ordinal]:
				return c, true
			}
		}
	}
	return candidate{}, false
}

// giveBack puts a contact back at the front of the queue. If its calling hours have closed, it waits for their opening.
func (q *contactQueue) giveBack(c candidate, now time.Time) {
	if c.zone.window.Allows(now) {
		q.enqueue(c, true)
		return
	}
	q.waitForZone(c, now)
}

func (q *contactQueue) waitForZone(c candidate, now time.Time) {
	c.zone.refresh(now)
	c.zone.add(c.ordinal, c.retry)
}

// skip excludes a contact from calling because of a rule. The next commit stores that.
func (q *contactQueue) skip(ordinal int, by SkipReason) {
	q.exclude(skippedContact{ordinal, by, q.cache.phoneOf(ordinal), q.rulingOf(ordinal, by)})
}

// exclude does the same as skip for a contact whose rule is already described in detail.
func (q *contactQueue) exclude(s skippedContact) {
	if !q.skipped[s.ordinal] {
		q.skipped[s.ordinal] = true
		q.skips = append(q.skips, s)
	}
}

// takeSkips removes up to most skipped contacts from the queue and returns them for a commit.
func (q *contactQueue) takeSkips(most int) []skippedContact {
	n := min(len(q.skips), most)
	skips := q.skips[:n:n]
	q.skips = q.skips[n:]
	return skips
}

// rulingOf describes the rule that excludes a contact, for the decision log.
func (q *contactQueue) rulingOf(ordinal int, by SkipReason) domain.Ruling {
	c, i := q.cache.at(ordinal)
	switch by {
	case SkipDNC:
		r := domain.Ruling{Rule: ruleDNC}
		if c != nil && c.dncMatches[i] != nil {
			r.Lists, r.Source = []string{c.dncMatches[i].ListID}, c.dncMatches[i].Origin.Source
		}
		return r
	case SkipHours:
		r := domain.Ruling{Rule: ruleHours, Window: q.hours.Start + "-" + q.hours.End, Zone: q.hours.Timezone}
		if c != nil && q.rules.HasLocalHours() {
			r.Zone = c.zones[i]
		}
		return r
	case SkipInvalid:
	}
	r := domain.Ruling{Rule: ruleDestination}
	if c != nil && i < len(c.countries) {
		r.Country = c.countries[i]
	}
	return r
}

// remove removes a contact from all queues. due is the time of its retry, or zero if it does not wait for one.
func (q *contactQueue) remove(ordinal int) (due time.Time) {
	same := func(c candidate) bool { return c.ordinal == ordinal }
	q.ready, q.due = slices.DeleteFunc(q.ready, same), slices.DeleteFunc(q.due, same)
	q.requeued = slices.DeleteFunc(q.requeued, func(o int) bool { return o == ordinal })
	q.held.remove(ordinal)
	q.capped.remove(ordinal)
	for _, z := range q.zones {
		here := func(o int32) bool { return int(o) == ordinal }
		z.waiting, z.dueRetries = slices.DeleteFunc(z.waiting, here), slices.DeleteFunc(z.dueRetries, here)
	}
	return q.retries.remove(ordinal)
}

// requeue queues a waiting contact again after remove. due is the time of its retry.
func (q *contactQueue) requeue(ordinal int, due time.Time) {
	switch {
	case q.state(ordinal) == domain.ContactRetryWait:
		q.addRetry(ordinal, due)
	case q.state(ordinal) == domain.ContactPending && ordinal < q.unseen:
		q.requeued = append(q.requeued, ordinal)
	}
}

// page returns the stored page of contact states with the given index. It includes the given changes.
func (q *contactQueue) page(c *domain.Campaign, index int, changes []contactDelta) *domain.ContactPage {
	from := index * domain.PageSize
	to := min(from+domain.PageSize, len(q.states))
	page := &domain.ContactPage{
		CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: index,
		States:   append([]byte(nil), q.states[from:to]...),
		Attempts: append([]byte(nil), q.attempts[from:to]...),
	}
	for _, d := range changes {
		if d.ordinal >= from && d.ordinal < to {
			page.States[d.ordinal-from], page.Attempts[d.ordinal-from] = byte(d.state), d.attempts
		}
	}
	return page
}

// apply updates the states and queues after the changes were committed.
func (q *contactQueue) apply(changes []contactDelta) {
	for _, d := range changes {
		q.learnChange(d)
		q.states[d.ordinal], q.attempts[d.ordinal] = byte(d.state), d.attempts
		if d.duration > 0 && !d.state.Final() {
			q.durations[d.ordinal] = d.duration
		} else if d.state.Final() {
			delete(q.durations, d.ordinal)
		}
		switch {
		case d.state == domain.ContactPending && d.ordinal < q.unseen: // otherwise the contact has not had its turn yet
			q.requeued = append(q.requeued, d.ordinal)
		case d.state == domain.ContactRetryWait:
			q.addRetry(d.ordinal, d.retryAt)
		}
	}
}

// cursor returns the position of the first contact whose state is pending after the changes.
func (q *contactQueue) cursor(from int, changes []contactDelta) int {
	later := make(map[int]domain.ContactState, len(changes))
	for _, d := range changes {
		later[d.ordinal] = d.state
		if d.state == domain.ContactPending {
			from = min(from, d.ordinal)
		}
	}
	for from < len(q.states) {
		s, changed := later[from]
		if !changed {
			s = q.state(from)
		}
		if s == domain.ContactPending {
			break
		}
		from++
	}
	return from
}
