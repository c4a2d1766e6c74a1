// Package simulation plays a campaign on a virtual clock: the same decisions as
// those of a real one (dialer, calendar), with calls whose ends are drawn by
// chance. It rings nobody, waits for nothing and knows no clock.
package simulation

import (
	"container/heap"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

// Crowd are contacts who may be rung at the same hours.
type Crowd struct {
	Window  calendar.Window
	Unknown bool // nobody knows their zone, and the hours are local
}

// Person is a contact who is not final yet.
type Person struct {
	Crowd int32       // index of its crowd
	Spent uint8       // attempts so far
	Due   time.Time   // of its next attempt; zero: it was never rung
	Rung  []time.Time // the number's latest attempts, by whomever, where there is a Cap
	Days  int32       // index of the zones by which its number's days go, where there is a Cap
}

// Halt is a time in which the campaign is paused.
type Halt struct{ From, To time.Time }

// Plan is what is played.
type Plan struct {
	Campaign *domain.Campaign // schedule, pacing, retry; draft and paused count as started at From
	Rules    calendar.Rules
	Crowds   []Crowd
	People   []Person
	Cap      int                // attempts per number and its day; 0: any
	Days     [][]*time.Location // zones of numbers; none: nobody knows them
	From     time.Time
	Assume   Assumptions
	Seed     uint64
	Halts    []Halt                                                       // in order of time
	Stop     func() bool                                                  // asked now and then: true ends the play; nil: never
	Watch    func(now time.Time, o dialer.EstimateInput, percent float64) // sees each whole percent; may be nil
}

// Hour is how many calls begin in an hour.
type Hour struct {
	Hour  time.Time
	Calls int
}

// Report is how it went.
type Report struct {
	Begins, Ends time.Time // the campaign goes on, the last attempt is over
	First        time.Time // the first attempt; zero: there is none
	Finished     bool      // within the horizon, and not stopped
	Reason       string    // exhausted | window_ended; "" where it did not finish
	Outcomes     map[domain.Outcome]int
	SkippedHours int
	Expired      int
	Attempts     int
	Months       map[string]int // attempts by month in UTC, YYYY-MM
	Hours        []Hour         // those with calls, in order
	Peak         int            // most calls at a time
	Talk         time.Duration  // of answered calls
}

// horizon is how long a campaign is played.
const horizon = 400 * 24 * time.Hour

// Run plays a plan to its end.
func Run(p Plan) Report {
	s := newStage(p)
	s.play()
	return s.report
}

type stage struct {
	p      Plan
	now    time.Time
	view   dialer.View
	report Report
	people []Person
	crowds []crowd
	waits  events // retries that are not due
	live   events
	seen   dialer.Statistics
	never  int // pending
	final  int
	told   int // percent
	loops  int
}

// crowd is a Crowd at work.
type crowd struct {
	Crowd
	open       bool
	opens      time.Time // where it is closed; zero: never
	fresh, due []int32   // in order
	size       int       // of all its people
	cohorts    dialer.RetryCohorts
	opened     [256]int // open attempts by number
}

func (c *crowd) waiting() int { return len(c.fresh) + len(c.due) }

// event is a contact to whom something happens at a time.
type event struct {
	at      time.Time
	who     int32
	began   time.Time
	verdict domain.Verdict
	talk    time.Duration
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push is heap.Interface's.
func (e *events) Push(x any) { *e = append(*e, x.(event)) } //nolint:forcetypeassert // only this package pushes

// Pop is heap.Interface's.
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newStage(p Plan) *stage {
	s := &stage{p: p, now: p.From, people: append([]Person(nil), p.People...)}
	s.report = Report{Begins: p.From, Outcomes: make(map[domain.Outcome]int), Months: make(map[string]int)}
	for _, c := range p.Crowds {
		s.crowds = append(s.crowds, crowd{Crowd: c})
	}
	c := p.Campaign
	s.view = dialer.View{
		Status: domain.CampaignRunning, Schedule: p.Rules.Schedule(), OpenHours: p.Rules.Global(), Pacing: c.Pacing, AutoComplete: true,
	}
	if c.Schedule.Start != nil && c.Schedule.Start.After(p.From) {
		s.view.Status, s.view.ScheduleStart = domain.CampaignScheduled, *c.Schedule.Start
	}
	if c.Schedule.End != nil {
		s.view.ScheduleEnd = *c.Schedule.End
	}
	for i, who := range s.people {
		s.crowds[who.Crowd].size++
		if who.Due.IsZero() {
			s.never++
			s.crowds[who.Crowd].fresh = append(s.crowds[who.Crowd].fresh, int32(i))
			continue
		}
		s.seen.Retries.AddContact(int(who.Spent), true)
		s.wait(int32(i), who.Due)
	}
	for i := range s.crowds {
		s.look(&s.crowds[i])
	}
	s.view.Remaining = len(s.people) - s.final
	return s
}

// wait puts a contact off until its retry is due.
func (s *stage) wait(who int32, at time.Time) {
	s.crowds[s.people[who].Crowd].cohorts.Add(int(s.people[who].Spent), at)
	heap.Push(&s.waits, event{at: at, who: who})
}

// look opens or closes a crowd; whom no hour will ever let ring is skipped as
// a campaign skips them.
func (s *stage) look(c *crowd) {
	if c.open = c.Window.Allows(s.now); c.open {
		return
	}
	var ok bool
	if c.opens, ok = c.Window.Next(s.now); ok {
		return
	}
	c.opens = time.Time{}
	if !s.view.ScheduleEnd.IsZero() && !c.Unknown {
		return
	}
	n := c.waiting()
	s.never -= len(c.fresh)
	for _, who := range c.due {
		if s.people[who].Spent == 0 { // waited for its next day
			s.never--
			continue
		}
		c.cohorts.Remove(int(s.people[who].Spent))
	}
	c.fresh, c.due = nil, nil
	s.report.SkippedHours += n
	s.final += n
	s.view.Remaining -= n
}

func (s *stage) play() {
	last := s.p.From.Add(horizon)
	for s.now.Before(last) {
		if s.loops++; s.loops%1024 == 0 && s.p.Stop != nil && s.p.Stop() {
			return
		}
		if s.halted() {
			continue
		}
		s.settle()
		s.watch()
		d := dialer.Next(s.see(), s.now)
		s.meter(d)
		switch d.Action {
		case dialer.StartRunning:
			s.view.Status = domain.CampaignRunning
			s.report.Begins = s.now
		case dialer.CompleteExhausted, dialer.CompleteExpired:
			s.finish(d.Action)
			return
		case dialer.Dial:
			if who, ok := s.take(); ok {
				if s.report.First.IsZero() {
					s.report.First = s.now
				}
				s.ring(who)
			}
		case dialer.Wait:
			next := s.next(d.NextCheck)
			if next.IsZero() {
				return
			}
			s.now = next
		}
	}
}

// halted lets the calls that are live end while the campaign is paused.
func (s *stage) halted() bool {
	if len(s.p.Halts) == 0 || s.now.Before(s.p.Halts[0].From) {
		return false
	}
	s.seen.Throughput.SetReady(false, s.now)
	if to := s.p.Halts[0].To; to.After(s.now) {
		s.now = to
	}
	s.p.Halts = s.p.Halts[1:]
	return true
}

// settle does what has fallen due by now.
func (s *stage) settle() {
	for len(s.live) > 0 && !s.live[0].at.After(s.now) {
		s.end(heap.Pop(&s.live).(event)) //nolint:forcetypeassert // only events are in it
	}
	for len(s.waits) > 0 && !s.waits[0].at.After(s.now) {
		who := heap.Pop(&s.waits).(event).who //nolint:forcetypeassert // only events are in it
		c := &s.crowds[s.people[who].Crowd]
		c.due = append(c.due, who)
		if !c.open && !c.opens.After(s.now) {
			s.look(c)
		}
	}
	for i := range s.crowds {
		if c := &s.crowds[i]; !c.open && c.waiting() > 0 && !c.opens.IsZero() && !c.opens.After(s.now) {
			s.look(c)
		}
	}
}

// see completes the view.
func (s *stage) see() dialer.View {
	v := &s.view
	v.OpenAttempts, v.ReadyContacts, v.DueRetries, v.NextOpening, v.NextRetry = len(s.live), 0, 0, time.Time{}, time.Time{}
	for i := range s.crowds {
		switch c := &s.crowds[i]; {
		case c.open:
			v.ReadyContacts += c.waiting()
			v.DueRetries += len(c.due)
		case c.waiting() > 0 && !c.opens.IsZero() && (v.NextOpening.IsZero() || c.opens.Before(v.NextOpening)):
			v.NextOpening = c.opens
		}
	}
	if len(s.waits) > 0 {
		v.NextRetry = s.waits[0].at
	}
	return *v
}

func (s *stage) meter(d dialer.Decision) {
	s.seen.Throughput.SetReady(d.IsReady(), s.now)
}

// next is when something happens again; zero: never.
func (s *stage) next(look time.Time) time.Time {
	if len(s.live) > 0 && (look.IsZero() || s.live[0].at.Before(look)) {
		look = s.live[0].at
	}
	if look.IsZero() {
		return look
	}
	if len(s.p.Halts) > 0 && s.p.Halts[0].From.Before(look) {
		look = s.p.Halts[0].From
	}
	if !look.After(s.now) {
		return s.now.Add(time.Nanosecond)
	}
	return look
}

// take is the next to be rung: due retries first, and of each kind who came
// first.
func (s *stage) take() (int32, bool) {
	for _, retry := range []bool{true, false} {
		for {
			c := s.first(retry)
			if c == nil {
				break
			}
			if !c.Window.Allows(s.now) {
				s.look(c)
				continue
			}
			q := &c.fresh
			if retry {
				q = &c.due
			}
			who := (*q)[0]
			*q = (*q)[1:]
			if s.tooOften(c, who) {
				continue
			}
			return who, true
		}
	}
	return 0, false
}

// tooOften keeps to the cap as a campaign does: whose number was rung often enough
// today waits for its next day.
func (s *stage) tooOften(c *crowd, who int32) bool {
	p := &s.people[who]
	if s.p.Cap <= 0 {
		return false
	}
	since, until := calendar.Day(s.p.Days[p.Days], s.now)
	p.Rung = slices.DeleteFunc(p.Rung, func(at time.Time) bool { return at.Before(since) })
	if len(p.Rung) < s.p.Cap {
		return false
	}
	if p.Spent > 0 {
		c.cohorts.Remove(int(p.Spent))
		s.wait(who, until)
		return true
	}
	heap.Push(&s.waits, event{at: until, who: who})
	return true
}

func (s *stage) first(retry bool) *crowd {
	var best *crowd
	var least int32
	for i := range s.crowds {
		c := &s.crowds[i]
		q := c.fresh
		if retry {
			q = c.due
		}
		if c.open && len(q) > 0 && (best == nil || q[0] < least) {
			best, least = c, q[0]
		}
	}
	return best
}

func (s *stage) ring(who int32) {
	p := &s.people[who]
	c := &s.crowds[p.Crowd]
	if p.Spent == 0 {
		s.never--
	} else {
		c.cohorts.Remove(int(p.Spent))
	}
	p.Spent++
	if s.p.Cap > 0 {
		p.Rung = append(p.Rung, s.now)
	}
	c.opened[p.Spent]++
	s.view.Remaining--
	s.view.LastSent = s.now
	s.seen.Throughput.AddAttempt()
	verdict, takes, talk := s.p.Assume.draw(s.p.Seed, uint64(who), uint64(p.Spent)) //nolint:gosec // not negative
	heap.Push(&s.live, event{at: s.now.Add(takes), who: who, began: s.now, verdict: verdict, talk: talk})
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

func (s *stage) end(e event) {
	p := &s.people[e.who]
	s.crowds[p.Crowd].opened[p.Spent]--
	s.seen.AddAttemptDuration(e.at.Sub(e.began))
	fate := dialer.TransitionAfter(e.verdict, int(p.Spent), s.p.Campaign.Retry, e.at)
	s.seen.Retries.AddAttempt(int(p.Spent), fate.State == domain.ContactRetryWait)
	s.report.Ends = e.at
	if fate.State == domain.ContactRetryWait {
		s.view.Remaining++
		s.wait(e.who, fate.RetryAt)
		return
	}
	s.final++
	s.report.Outcomes[e.verdict.Outcome]++
}

func (s *stage) finish(do dialer.Action) {
	s.report.Finished, s.report.Reason = true, "exhausted"
	if do == dialer.CompleteExpired {
		s.report.Reason, s.report.Ends = "window_ended", s.view.ScheduleEnd
	}
	s.report.Expired = s.view.Remaining
	if s.report.Ends.IsZero() {
		s.report.Ends = s.now
	}
}

// watch shows each whole percent of final contacts.
func (s *stage) watch() {
	if s.p.Watch == nil || len(s.people) == 0 || s.view.Status != domain.CampaignRunning {
		return
	}
	percent := 100 * float64(s.final) / float64(len(s.people))
	if int(percent) <= s.told {
		return
	}
	s.told = int(percent)
	live := time.Duration(0)
	for _, e := range s.live {
		live += s.now.Sub(e.began)
	}
	o := s.seen.EstimateInput(live)
	o.Status, o.ScheduleEnd = s.view.Status, s.view.ScheduleEnd
	o.Pacing, o.Retry, o.Pending = s.view.Pacing, s.p.Campaign.Retry, s.never
	for i := range s.crowds {
		c := &s.crowds[i]
		o.Groups = append(o.Groups, dialer.ContactGroup{
			Window: c.Window, NeverCalled: len(c.fresh), Size: c.size, Retries: c.cohorts.All(), OpenAttempts: c.opened[:],
		})
	}
	s.p.Watch(s.now, o, percent)
}
