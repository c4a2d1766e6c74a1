package modeltest_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// model is the reference: a plain program, one thing after another, that knows
// what is allowed. It is told of every durable commit, of every ring and of
// every request, and notes what must not be.
type model struct {
	far     *farEnd
	tenants map[string]*tenant
	byID    map[string]*board
	boot    string
	broken  []string
}

type tenant struct {
	space
	log       []logged // by offset
	forbidden map[string]time.Time
	ledger    map[string]bool // by attempt
	billed    int
}

type logged struct {
	id, subject string
	kind        event.Type
}

// board is what the model knows of a campaign.
type board struct {
	of       *tenant
	row      domain.Campaign
	progress domain.Progress
	people   []person
	open     map[string]domain.Attempt
	statuses []was[domain.CampaignStatus]
	pacings  []was[domain.Pacing]
	asked    map[kind]time.Time
	ends     []end // of the last minutes
	attempts int   // spent
	skipped  int
}

type was[T any] struct {
	from time.Time
	what T
}

type end struct {
	at  time.Time
	bad bool
}

type person struct {
	domain.Contact
	state    domain.ContactState
	attempts int
	due      time.Time // no ring before
}

// grace is how long what was durable before may still be acted on: nothing is
// slower in the scenarios.
const grace = 25 * time.Second

func newModel(s scenario, far *farEnd) *model {
	m := &model{far: far, tenants: make(map[string]*tenant), byID: make(map[string]*board)}
	for _, sp := range s.spaces {
		t := &tenant{space: sp, forbidden: make(map[string]time.Time), ledger: make(map[string]bool)}
		m.tenants[sp.id] = t
		for _, c := range sp.campaigns {
			b := &board{of: t, row: c.row, open: make(map[string]domain.Attempt), asked: make(map[kind]time.Time)}
			b.progress.Total = len(c.people)
			for _, who := range c.people {
				b.people = append(b.people, person{Contact: who})
			}
			b.note(time.Time{})
			m.byID[c.row.ID] = b
		}
	}
	return m
}

// note keeps what holds from now on.
func (b *board) note(now time.Time) {
	if n := len(b.statuses); n == 0 || b.statuses[n-1].what != b.row.Status {
		b.statuses = append(b.statuses, was[domain.CampaignStatus]{now, b.row.Status})
	}
	if n := len(b.pacings); n == 0 || b.pacings[n-1].what != b.row.Pacing {
		b.pacings = append(b.pacings, was[domain.Pacing]{now, b.row.Pacing})
	}
}

// within are the values that held at some time since.
func within[T any](all []was[T], since time.Time) []T {
	var out []T
	for i, w := range all {
		if i+1 == len(all) || !all[i+1].from.Before(since) {
			out = append(out, w.what)
		}
	}
	return out
}

func (m *model) fault(format string, args ...any) {
	if len(m.broken) < 8 {
		m.broken = append(m.broken, fmt.Sprintf(format, args...))
	}
}

// rung is an INVITE that reaches the far end.
func (m *model) rung(r *ring) {
	b := m.byID[r.campaign]
	who := &b.people[r.ordinal]
	at, name := r.at, fmt.Sprintf("%s contact %d attempt %d", r.campaign[len(r.campaign)-3:], r.ordinal, r.number)
	a, open := b.open[r.attempt]
	switch {
	case !open:
		m.fault("%s: rung without an attempt that is durable and open", name)
	case a.CallID != r.call:
		m.fault("%s: rung by another call than the one that is durable", name)
	case r.number != who.attempts || r.phone != who.Phone || r.space != b.of.id:
		m.fault("%s: attempt %d of %s is open, rung was %d of %s", name, who.attempts, who.Phone, r.number, r.phone)
	}
	for _, before := range m.far.rings {
		if before.campaign != r.campaign || before.ordinal != r.ordinal {
			continue
		}
		if before.ended.IsZero() && before.boot == r.boot {
			m.fault("%s: rung while a call to the same contact is live", name)
		}
		if before.attempt == r.attempt && !before.row.free {
			m.fault("%s: rung twice for one attempt", name)
		}
	}
	if at.Before(who.due) {
		m.fault("%s: rung %v before its retry is due", name, who.due.Sub(at))
	}
	if b.row.Status != domain.CampaignRunning && b.statuses[len(b.statuses)-1].from.Before(at) {
		m.fault("%s: rung while the campaign is %s", name, b.row.Status)
	}
	if why := forbiddenAt(b.row, who.Contact, at); why != "" {
		m.fault("%s: rung at %s: %s", name, at.Format(time.TimeOnly), why)
	}
	if since, listed := b.of.forbidden[r.phone]; listed && at.Sub(since) > time.Second {
		m.fault("%s: rung %v after the number was listed", name, at.Sub(since))
	}
	m.limits(b, r, name)
}

// limits holds a ring to the pace and to what may be live; r is not among the
// far end's rings yet.
func (m *model) limits(b *board, r *ring, name string) {
	mine := func(o *ring) bool { return o.campaign == r.campaign }
	ours := func(o *ring) bool { return o.space == r.space }
	pacing := domain.Pacing{}
	for _, p := range within(b.pacings, r.at.Add(-time.Minute-grace)) {
		pacing.CallsPerMinute = max(pacing.CallsPerMinute, p.CallsPerMinute)
	}
	for _, p := range within(b.pacings, r.at.Add(-grace)) {
		pacing.MaxConcurrent = max(pacing.MaxConcurrent, p.MaxConcurrent)
	}
	if n := 1 + m.far.since(r.at.Add(-time.Minute), mine); n > pacing.CallsPerMinute {
		m.fault("%s: the %dth call within a minute at a pace of %d", name, n, pacing.CallsPerMinute)
	}
	gap := time.Minute / time.Duration(pacing.CallsPerMinute)
	for _, o := range slices.Backward(m.far.rings) {
		if mine(o) {
			if r.at.Sub(o.at) < gap {
				m.fault("%s: %v after the call before at a pace of %d in a minute", name, r.at.Sub(o.at), pacing.CallsPerMinute)
			}
			break
		}
	}
	if n := 1 + m.far.live(mine); n > pacing.MaxConcurrent {
		m.fault("%s: %d live calls of a campaign that may have %d", name, n, pacing.MaxConcurrent)
	}
	if n := 1 + m.far.live(ours); n > b.of.lines {
		m.fault("%s: %d live calls of a workspace that has %d lines", name, n, b.of.lines)
	}
	if n := 1 + m.far.since(r.at.Add(-time.Minute), ours); b.of.perMinute > 0 && n > b.of.perMinute {
		m.fault("%s: the %dth call of a workspace within a minute that may have %d", name, n, b.of.perMinute)
	}
}

// forbiddenAt is the rule of the calendar that forbids a ring, or "": worked
// out in the plainest way.
func forbiddenAt(c domain.Campaign, who domain.Contact, at time.Time) string {
	s := c.Schedule
	switch {
	case s.Start != nil && at.Before(*s.Start):
		return "before the start of the schedule"
	case s.End != nil && !at.Before(*s.End):
		return "after the end of the schedule"
	case slices.Contains(s.ExcludedDates, at.UTC().Format(time.DateOnly)):
		return "on an excluded date"
	}
	h := c.Compliance.CallingHours
	if h.Start == "" {
		return ""
	}
	zone := h.Timezone
	if zone == "local" {
		zone = who.Timezone
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return "nobody knows its zone"
	}
	clock := at.In(loc).Format("15:04")
	in := clock >= h.Start && clock < h.End
	if h.End < h.Start {
		in = clock >= h.Start || clock < h.End
	}
	if !in {
		return fmt.Sprintf("it is %s in %s, the hours are %s to %s", clock, zone, h.Start, h.End)
	}
	return ""
}

// answered is the answer to a request.
func (m *model) answered(b *board, k kind, since time.Time, got domain.CampaignStatus, err error) {
	seen := within(b.statuses, since)
	if err != nil {
		m.refused(b, k, seen, err)
		return
	}
	want := map[kind][]domain.CampaignStatus{
		begin: {domain.CampaignRunning, domain.CampaignScheduled}, resume: {domain.CampaignRunning, domain.CampaignScheduled},
		pause: {domain.CampaignPaused}, cancel: {domain.CampaignCancelled},
	}[k]
	if want != nil && !slices.Contains(want, got) {
		m.fault("%v was answered with %s", k, got)
	}
	if !slices.Contains(seen, got) {
		m.fault("%v was answered with %s, which the campaign was not since it was asked: %v", k, got, seen)
	}
}

func (m *model) refused(b *board, k kind, seen []domain.CampaignStatus, err error) {
	switch domain.CodeOf(err) { //nolint:exhaustive // the others must not come
	case domain.CodeInvalidState:
		allowed := map[kind]string{
			begin: "draft scheduled running", resume: "paused scheduled running", pause: "scheduled running paused",
			cancel: "draft scheduled running paused cancelled",
		}[k]
		if !slices.ContainsFunc(seen, func(s domain.CampaignStatus) bool { return !strings.Contains(allowed, string(s)) }) {
			m.fault("%v was refused while the campaign was %v", k, seen)
		}
	case domain.CodeNoContacts:
		if len(b.people) > 0 {
			m.fault("%v: no contacts, though there are %d", k, len(b.people))
		}
	case domain.CodeUnavailable, "": // a fault, or a process that died
	default:
		m.fault("%v was refused: %v", k, err)
	}
}

// ended: every campaign is over, and so is the run.
func (m *model) ended() {
	for _, b := range m.byID {
		left := 0
		for _, who := range b.people {
			if !who.state.Final() {
				left++
			}
		}
		switch {
		case !b.row.Status.Final():
			m.fault("%s is %s at the end: %d forgotten", b.row.ID, b.row.Status, left)
		case b.row.CompletionReason == "exhausted" && left > 0:
			m.fault("%s is exhausted, and %d contacts are not final", b.row.ID, left)
		}
		if len(b.open) > 0 {
			m.fault("%s is over, and %d attempts are open", b.row.ID, len(b.open))
		}
	}
	for _, t := range m.tenants {
		if len(t.ledger) != t.billed {
			m.fault("%s: %d rows in the ledger, a recount finds %d", t.id, len(t.ledger), t.billed)
		}
	}
}

// sums compares the counters with a recount of the contacts.
func (m *model) sums(b *board, p *domain.Progress) {
	states := make(map[domain.ContactState]int)
	attempted := 0
	for _, who := range b.people {
		states[who.state]++
		if who.attempts > 0 {
			attempted++
		}
	}
	check := func(what string, got, want int) {
		if got != want {
			m.fault("%s: %s: %d in the counters, a recount finds %d", b.row.ID, what, got, want)
		}
	}
	check("total", p.Total, len(b.people))
	check("in progress", p.InProgress, states[domain.ContactOpen])
	check("open attempts", len(b.open), states[domain.ContactOpen])
	check("attempted", p.Attempted, attempted)
	check("attempts", p.Attempts, b.attempts)
	check("skipped", p.Skipped.Total(), b.skipped)
	check("total = final + remaining + in progress", p.FinalContacts()+p.Remaining()+p.InProgress, p.Total)
	left := states[domain.ContactPending] + states[domain.ContactRetryWait]
	cancelled := p.Outcomes[domain.OutcomeCancelled]
	if b.row.Status.Final() {
		check("left behind", p.Expired+cancelled-states[domain.ContactCancelled], left)
		check("remaining", p.Remaining(), 0)
	} else {
		check("remaining", p.Remaining(), left)
		check("waits", p.RetryWaiting, states[domain.ContactRetryWait])
	}
	for s := domain.ContactCompleted; s <= domain.ContactFailed; s++ {
		check(s.String(), p.Outcomes[domain.Outcome(s.String())], states[s])
	}
}

// change is a commit taken apart.
type change struct {
	row      *domain.Campaign
	progress *domain.Progress
	pages    []*domain.ContactPage
	opened   map[int]*domain.Attempt
	closed   map[string]bool
	calls    map[string]*domain.Call
	results  map[int]*domain.ContactResult
	ledger   []*domain.LedgerRow
	added    *domain.ContactChunk
	told     map[string]event.CampaignCallData // campaign.call.completed by call
	begun    map[string]int                    // call.started and call.ended by call
	over     map[string]int
}

func takeApart(c commit.Change) change {
	x := change{
		opened: make(map[int]*domain.Attempt), closed: make(map[string]bool), calls: make(map[string]*domain.Call),
		results: make(map[int]*domain.ContactResult), told: make(map[string]event.CampaignCallData),
		begun: make(map[string]int), over: make(map[string]int),
	}
	for _, r := range c.Puts {
		switch r := r.(type) {
		case *domain.Campaign:
			x.row = r
		case *domain.Progress:
			x.progress = r
		case *domain.ContactPage:
			x.pages = append(x.pages, r)
		case *domain.Attempt:
			x.opened[r.Ordinal] = r
		case *domain.Call:
			x.calls[r.ID] = r
		case *domain.ContactResult:
			x.results[r.Ordinal] = r
		case *domain.LedgerRow:
			x.ledger = append(x.ledger, r)
		case *domain.ContactChunk:
			x.added = r
		}
	}
	for _, k := range c.Deletes {
		if k.Kind == "attempt" {
			x.closed[k.ID] = true
		}
	}
	for _, e := range c.Events {
		if e.Type == event.CallStarted {
			x.begun[e.Subject]++
		}
		if e.Type == event.CallEnded {
			x.over[e.Subject]++
		}
		if d, ok := e.Data.(event.CampaignCallData); ok {
			x.told[d.CallID] = d
		}
	}
	return x
}
