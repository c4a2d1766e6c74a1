// Package simulation forecasts a campaign on a virtual clock. It uses the same decisions as a real campaign
// (packages dialer and calendar) and draws the results of calls at random. It makes no calls and does not wait.
package simulation

import (
	"container/heap"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

// ContactGroup describes contacts of a campaign that have the same calling window.
type ContactGroup struct {
	Window  calendar.Window
	Unknown bool // the zone is unknown and the calling hours are local
}

// Contact is a contact whose state is not final at the start of the forecast.
type Contact struct {
	Group    int32       // index of its group
	Spent    uint8       // attempts so far
	Due      time.Time   // time of the next attempt; zero: never called
	DialedAt []time.Time // latest attempts to reach the number, with DailyCap only
	Days     int32       // index of the zones that define the day of the number, with DailyCap only
}

// Pause is a period in which the campaign is paused.
type Pause struct{ From, To time.Time }

// Plan is the input of a forecast.
type Plan struct {
	Campaign    *domain.Campaign // schedule, pacing and retry; draft and paused count as started at From
	Rules       calendar.Rules
	Groups      []ContactGroup
	Contacts    []Contact
	DailyCap    int                // attempts for each number and day; 0: no cap
	Days        [][]*time.Location // zones of numbers; empty: unknown
	From        time.Time
	Assumptions Assumptions
	Seed        uint64
	Pauses      []Pause                                                      // in chronological order
	ShouldStop  func() bool                                                  // called from time to time. true ends the forecast. nil: it never ends early
	OnPercent   func(now time.Time, o dialer.EstimateInput, percent float64) // called at each whole percent; may be nil
}

// Hour counts the calls that start in one hour of the forecast.
type Hour struct {
	Hour  time.Time
	Calls int
}

// Report is the result of a forecast.
type Report struct {
	Begins, Ends time.Time // start of the forecast, end of the last attempt
	First        time.Time // time of the first attempt; zero: none
	Finished     bool      // ended within the horizon and was not stopped
	Reason       string    // exhausted or window_ended; empty if not Finished
	Outcomes     map[domain.Outcome]int
	SkippedHours int
	Expired      int
	Attempts     int
	Months       map[string]int // attempts by UTC month, YYYY-MM
	Hours        []Hour         // hours with calls, in order
	Peak         int            // maximum number of concurrent calls
	Talk         time.Duration  // total length of answered calls
}

// horizon is the maximum length of a forecast in simulated time.
const horizon = 400 * 24 * time.Hour

// Run simulates the campaign of a plan to its end and returns the forecast.
func Run(p Plan) Report {
	s := newSimulator(p)
	s.run()
	return s.report
}

type simulator struct {
	p               Plan
	now             time.Time
	view            dialer.CampaignView
	report          Report
	contacts        []Contact
	groups          []groupState
	retries         eventQueue // retries that are not due
	live            eventQueue
	observed        dialer.Statistics
	never           int // contacts that were never called
	final           int
	reportedPercent int // in percent
	loops           int
}

// groupState is the simulated state of a ContactGroup.
type groupState struct {
	ContactGroup
	open          bool
	opensAt       time.Time // if closed: next opening; zero: never
	pending, due  []int32   // indexes of contacts, in order
	size          int       // number of contacts
	cohorts       dialer.RetryCohorts
	openByAttempt [256]int // open attempts by attempt number
}

func (c *groupState) waiting() int { return len(c.pending) + len(c.due) }

// attemptEvent is a future event of a contact: the end of an attempt, or the time at which a retry is due.
type attemptEvent struct {
	at      time.Time
	contact int32
	began   time.Time
	verdict domain.Verdict
	talk    time.Duration
}

type eventQueue []attemptEvent

func (e eventQueue) Len() int           { return len(e) }
func (e eventQueue) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e eventQueue) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *eventQueue) Push(x any) { *e = append(*e, x.(attemptEvent)) } //nolint:forcetypeassert // only this package pushes

// Pop implements heap.Interface.
func (e *eventQueue) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newSimulator(p Plan) *simulator {
	s := &simulator{p: p, now: p.From, contacts: append([]Contact(nil), p.Contacts...)}
	s.report = Report{Begins: p.From, Outcomes: make(map[domain.Outcome]int), Months: make(map[string]int)}
	for _, c := range p.Groups {
		s.groups = append(s.groups, groupState{ContactGroup: c})
	}
	c := p.Campaign
	s.view = dialer.CampaignView{
		Status: domain.CampaignRunning, Schedule: p.Rules.ScheduleWindow(), OpenHours: p.Rules.GlobalWindow(), Pacing: c.Pacing, AutoComplete: true,
	}
	if c.Schedule.Start != nil && c.Schedule.Start.After(p.From) {
		s.view.Status, s.view.ScheduleStart = domain.CampaignScheduled, *c.Schedule.Start
	}
	if c.Schedule.End != nil {
		s.view.ScheduleEnd = *c.Schedule.End
	}
	for i, contact := range s.contacts {
		s.groups[contact.Group].size++
		if contact.Due.IsZero() {
			s.never++
			s.groups[contact.Group].pending = append(s.groups[contact.Group].pending, int32(i))
			continue
		}
		s.observed.Retries.AddContact(int(contact.Spent), true)
		s.scheduleRetry(int32(i), contact.Due)
	}
	for i := range s.groups {
		s.updateGroup(&s.groups[i])
	}
	s.view.Remaining = len(s.contacts) - s.final
	return s
}

// scheduleRetry makes a contact wait for its retry until the time at.
func (s *simulator) scheduleRetry(contact int32, at time.Time) {
	s.groups[s.contacts[contact].Group].cohorts.Add(int(s.contacts[contact].Spent), at)
	heap.Push(&s.retries, attemptEvent{at: at, contact: contact})
}

// updateGroup sets whether the contacts of a group may be called now. If the group's calling window never opens again,
// its contacts are skipped, as in a real campaign.
func (s *simulator) updateGroup(c *groupState) {
	if c.open = c.Window.Allows(s.now); c.open {
		return
	}
	var ok bool
	if c.opensAt, ok = c.Window.NextOpen(s.now); ok {
		return
	}
	c.opensAt = time.Time{}
	if !s.view.ScheduleEnd.IsZero() && !c.Unknown {
		return
	}
	n := c.waiting()
	s.never -= len(c.pending)
	for _, contact := range c.due {
		if s.contacts[contact].Spent == 0 { // waited for the next day of its number
			s.never--
			continue
		}
		c.cohorts.Remove(int(s.contacts[contact].Spent))
	}
	c.pending, c.due = nil, nil
	s.report.SkippedHours += n
	s.final += n
	s.view.Remaining -= n
}

func (s *simulator) run() {
	last := s.p.From.Add(horizon)
	for s.now.Before(last) {
		if s.loops++; s.loops%1024 == 0 && s.p.ShouldStop != nil && s.p.ShouldStop() {
			return
		}
		if s.applyPause() {
			continue
		}
		s.processDue()
		s.reportPercent()
		d := dialer.Next(s.updateView(), s.now)
		s.recordDecision(d)
		switch d.Action {
		case dialer.StartRunning:
			s.view.Status = domain.CampaignRunning
			s.report.Begins = s.now
		case dialer.CompleteExhausted, dialer.CompleteExpired:
			s.finishReport(d.Action)
			return
		case dialer.Dial:
			if contact, ok := s.nextContact(); ok {
				if s.report.First.IsZero() {
					s.report.First = s.now
				}
				s.startAttempt(contact)
			}
		case dialer.Wait:
			next := s.nextEventTime(d.NextCheck)
			if next.IsZero() {
				return
			}
			s.now = next
		}
	}
}

// applyPause moves the clock to the end of a pause that has started. Calls in progress end during the pause.
func (s *simulator) applyPause() bool {
	if len(s.p.Pauses) == 0 || s.now.Before(s.p.Pauses[0].From) {
		return false
	}
	s.observed.Throughput.SetReady(false, s.now)
	if to := s.p.Pauses[0].To; to.After(s.now) {
		s.now = to
	}
	s.p.Pauses = s.p.Pauses[1:]
	return true
}

// processDue processes all ended attempts, due retries and opening groups.
func (s *simulator) processDue() {
	for len(s.live) > 0 && !s.live[0].at.After(s.now) {
		s.endAttempt(heap.Pop(&s.live).(attemptEvent)) //nolint:forcetypeassert // only events are in it
	}
	for len(s.retries) > 0 && !s.retries[0].at.After(s.now) {
		contact := heap.Pop(&s.retries).(attemptEvent).contact //nolint:forcetypeassert // only events are in it
		c := &s.groups[s.contacts[contact].Group]
		c.due = append(c.due, contact)
		if !c.open && !c.opensAt.After(s.now) {
			s.updateGroup(c)
		}
	}
	for i := range s.groups {
		if c := &s.groups[i]; !c.open && c.waiting() > 0 && !c.opensAt.IsZero() && !c.opensAt.After(s.now) {
			s.updateGroup(c)
		}
	}
}

// updateView updates the campaign state on which the next decision of package dialer is based.
func (s *simulator) updateView() dialer.CampaignView {
	v := &s.view
	v.OpenAttempts, v.ReadyContacts, v.DueRetries, v.NextOpening, v.NextRetry = len(s.live), 0, 0, time.Time{}, time.Time{}
	for i := range s.groups {
		switch c := &s.groups[i]; {
		case c.open:
			v.ReadyContacts += c.waiting()
			v.DueRetries += len(c.due)
		case c.waiting() > 0 && !c.opensAt.IsZero() && (v.NextOpening.IsZero() || c.opensAt.Before(v.NextOpening)):
			v.NextOpening = c.opensAt
		}
	}
	if len(s.retries) > 0 {
		v.NextRetry = s.retries[0].at
	}
	return *v
}

func (s *simulator) recordDecision(d dialer.Decision) {
	s.observed.Throughput.SetReady(d.IsReady(), s.now)
}

// nextEventTime returns the time of the next event, or zero if there is none. look is the time of the next decision.
func (s *simulator) nextEventTime(look time.Time) time.Time {
	if len(s.live) > 0 && (look.IsZero() || s.live[0].at.Before(look)) {
		look = s.live[0].at
	}
	if look.IsZero() {
		return look
	}
	if len(s.p.Pauses) > 0 && s.p.Pauses[0].From.Before(look) {
		look = s.p.Pauses[0].From
	}
	if !look.After(s.now) {
		return s.now.Add(time.Nanosecond)
	}
	return look
}

// nextContact returns the next contact to call. Due retries come before first attempts.
func (s *simulator) nextContact() (int32, bool) {
	for _, retry := range []bool{true, false} {
		for {
			c := s.firstGroup(retry)
			if c == nil {
				break
			}
			if !c.Window.Allows(s.now) {
				s.updateGroup(c)
				continue
			}
			q := &c.pending
			if retry {
				q = &c.due
			}
			contact := (*q)[0]
			*q = (*q)[1:]
			if s.isOverCap(c, contact) {
				continue
			}
			return contact, true
		}
	}
	return 0, false
}

// isOverCap reports whether a contact has reached the daily cap of its number. Such a contact waits for the next day,
// as in a real campaign.
func (s *simulator) isOverCap(c *groupState, contact int32) bool {
	p := &s.contacts[contact]
	if s.p.DailyCap <= 0 {
		return false
	}
	since, until := calendar.DayBounds(s.p.Days[p.Days], s.now)
	p.DialedAt = slices.DeleteFunc(p.DialedAt, func(at time.Time) bool { return at.Before(since) })
	if len(p.DialedAt) < s.p.DailyCap {
		return false
	}
	if p.Spent > 0 {
		c.cohorts.Remove(int(p.Spent))
		s.scheduleRetry(contact, until)
		return true
	}
	heap.Push(&s.retries, attemptEvent{at: until, contact: contact})
	return true
}

func (s *simulator) firstGroup(retry bool) *groupState {
	var best *groupState
	var earliest int32
	for i := range s.groups {
		c := &s.groups[i]
		q := c.pending
		if retry {
			q = c.due
		}
		if c.open && len(q) > 0 && (best == nil || q[0] < earliest) {
			best, earliest = c, q[0]
		}
	}
	return best
}

func (s *simulator) startAttempt(contact int32) {
	p := &s.contacts[contact]
	c := &s.groups[p.Group]
	if p.Spent == 0 {
		s.never--
	} else {
		c.cohorts.Remove(int(p.Spent))
	}
	p.Spent++
	if s.p.DailyCap > 0 {
		p.DialedAt = append(p.DialedAt, s.now)
	}
	c.openByAttempt[p.Spent]++
	s.view.Remaining--
	s.view.LastSent = s.now
	s.observed.Throughput.AddAttempt()
	verdict, duration, talk := s.p.Assumptions.drawAttempt(s.p.Seed, uint64(contact), uint64(p.Spent)) //nolint:gosec // not negative
	heap.Push(&s.live, attemptEvent{at: s.now.Add(duration), contact: contact, began: s.now, verdict: verdict, talk: talk})
	s.report.Attempts++
	s.report.Peak = max(s.report.Peak, len(s.live))
	s.report.Talk += talk
	s.report.Months[s.now.UTC().Format("2006-01")]++
	hour := s.now.UTC().Truncate(time.Hour)
	if n := len(s.report.Hours); n > 0 && s.report.Hours[n-1].Hour.Equal(hour) {
		s.report.Hours[n-1].Calls++
	} else {
		s.report.Hours = append(s.report.Hours, Hour{Hour: hour, Calls: 1})
	}
}

func (s *simulator) endAttempt(e attemptEvent) {
	p := &s.contacts[e.contact]
	s.groups[p.Group].openByAttempt[p.Spent]--
	s.observed.AddAttemptDuration(e.at.Sub(e.began))
	transition := dialer.TransitionAfter(e.verdict, int(p.Spent), s.p.Campaign.Retry, e.at)
	s.observed.Retries.AddAttempt(int(p.Spent), transition.State == domain.ContactRetryWait)
	s.report.Ends = e.at
	if transition.State == domain.ContactRetryWait {
		s.view.Remaining++
		s.scheduleRetry(e.contact, transition.RetryAt)
		return
	}
	s.final++
	s.report.Outcomes[e.verdict.Outcome]++
}

func (s *simulator) finishReport(do dialer.Action) {
	s.report.Finished, s.report.Reason = true, "exhausted"
	if do == dialer.CompleteExpired {
		s.report.Reason, s.report.Ends = "window_ended", s.view.ScheduleEnd
	}
	s.report.Expired = s.view.Remaining
	if s.report.Ends.IsZero() {
		s.report.Ends = s.now
	}
}

// reportPercent calls OnPercent whenever the share of contacts in a final state reaches another whole percent.
func (s *simulator) reportPercent() {
	if s.p.OnPercent == nil || len(s.contacts) == 0 || s.view.Status != domain.CampaignRunning {
		return
	}
	percent := 100 * float64(s.final) / float64(len(s.contacts))
	if int(percent) <= s.reportedPercent {
		return
	}
	s.reportedPercent = int(percent)
	live := time.Duration(0)
	for _, e := range s.live {
		live += s.now.Sub(e.began)
	}
	o := s.observed.EstimateInput(live)
	o.Status, o.ScheduleEnd = s.view.Status, s.view.ScheduleEnd
	o.Pacing, o.Retry, o.Pending = s.view.Pacing, s.p.Campaign.Retry, s.never
	for i := range s.groups {
		c := &s.groups[i]
		o.Groups = append(o.Groups, dialer.ContactGroup{
			Window: c.Window, NeverCalled: len(c.pending), Size: c.size, Retries: c.cohorts.All(), OpenAttempts: c.openByAttempt[:],
		})
	}
	s.p.OnPercent(s.now, o, percent)
}
