package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// learnHistory collects retry statistics of all contacts after loading, for the estimate of the campaign's end.
func (q *contactQueue) learnHistory() {
	for i, b := range q.states {
		spent := int(q.attempts[i])
		switch s := domain.ContactState(b); {
		case spent == 0:
		case s == domain.ContactOpen:
			q.observed.Retries.AddContact(spent-1, true)
		default:
			q.observed.Retries.AddContact(spent, s == domain.ContactRetryWait)
		}
	}
	for _, w := range q.retries {
		q.cohorts.Add(int(q.attempts[w.ordinal]), w.at)
	}
}

// learnChange updates the retry statistics after a change of a contact's state.
func (q *contactQueue) learnChange(d contactDelta) {
	was, spent := q.state(d.ordinal), q.attempts[d.ordinal]
	if was == domain.ContactRetryWait {
		q.dropFromCohorts(d.zone, int(spent))
	}
	waits := d.state == domain.ContactRetryWait
	switch {
	case waits && d.zone != nil:
		d.zone.cohorts.Add(int(d.attempts), d.retryAt)
	case waits:
		q.cohorts.Add(int(d.attempts), d.retryAt)
	}
	if was == domain.ContactOpen && d.attempts == spent && (waits || d.state.Final()) { // other attempts do not count
		q.observed.Retries.AddAttempt(int(spent), waits)
	}
}

// dropFromCohorts removes a contact that has stopped waiting for a retry from the retry cohorts of its zone. If the zone is
// unknown, it reduces any cohort with the same number of attempts.
func (q *contactQueue) dropFromCohorts(z *zone, spent int) {
	if z != nil && z.cohorts.Remove(spent) || q.cohorts.Remove(spent) {
		return
	}
	for _, z := range q.zones {
		if z.cohorts.Remove(spent) {
			return
		}
	}
}

// contactGroups groups the classified contacts by their calling hours, for the estimate of the campaign's end. live contains
// the numbers of open attempts by zone and attempt number.
func (q *contactQueue) contactGroups(live map[*zone][]int) []dialer.ContactGroup {
	var all []dialer.ContactGroup
	for _, z := range q.zones {
		if q.scheduleEnds || !z.opens.IsZero() { // contacts of zones that never open are skipped
			all = append(all, dialer.ContactGroup{
				Window: z.window, NeverCalled: len(z.waiting), Size: z.seen, Retries: z.cohorts.All(), OpenAttempts: live[z],
			})
		}
	}
	if len(all) == 0 {
		return []dialer.ContactGroup{{Window: q.rules.GlobalWindow(), Size: 1}}
	}
	return all
}
