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

// model is the reference: a plain sequential program that contains the rules of the service. It checks every durable commit,
// call and request, and records violations.
type model struct {
	remoteSide *remoteSide
	tenants    map[string]*tenant
	byID       map[string]*campaignModel
	boot       string
	broken     []string
}

type tenant struct {
	tenantPlan
	log       []logged // by event offset
	forbidden map[string]time.Time
	ledger    map[string]bool // by attempt ID
	billed    int
}

type logged struct {
	id, subject string
	kind        event.Type
}

// campaignModel is the expected state of one campaign.
type campaignModel struct {
	tenant   *tenant
	row      domain.Campaign
	progress domain.Progress
	contacts []contactModel
	open     map[string]domain.Attempt
	statuses []timedValue[domain.CampaignStatus]
	pacings  []timedValue[domain.Pacing]
	requests map[stepKind]time.Time
	ends     []callEnd // of the last minutes
	attempts int       // counted attempts
	skipped  int
}

type timedValue[T any] struct {
	from time.Time
	what T
}

type callEnd struct {
	at  time.Time
	bad bool
}

type contactModel struct {
	domain.Contact
	state     domain.ContactState
	attempts  int
	notBefore time.Time // no call is allowed earlier
}

// graceTime is how long the service may still act on a state that has changed. No delay in the scenarios is longer.
const graceTime = 25 * time.Second

func newModel(s scenario, far *remoteSide) *model {
	m := &model{remoteSide: far, tenants: make(map[string]*tenant), byID: make(map[string]*campaignModel)}
	for _, sp := range s.spaces {
		t := &tenant{tenantPlan: sp, forbidden: make(map[string]time.Time), ledger: make(map[string]bool)}
		m.tenants[sp.id] = t
		for _, c := range sp.campaigns {
			b := &campaignModel{tenant: t, row: c.row, open: make(map[string]domain.Attempt), requests: make(map[stepKind]time.Time)}
			b.progress.Total = len(c.people)
			for _, who := range c.people {
				b.contacts = append(b.contacts, contactModel{Contact: who})
			}
			b.recordStatus(time.Time{})
			m.byID[c.row.ID] = b
		}
	}
	return m
}

// recordStatus records the campaign's current status and pacing with the time from which they hold.
func (b *campaignModel) recordStatus(now time.Time) {
	if n := len(b.statuses); n == 0 || b.statuses[n-1].what != b.row.Status {
		b.statuses = append(b.statuses, timedValue[domain.CampaignStatus]{now, b.row.Status})
	}
	if n := len(b.pacings); n == 0 || b.pacings[n-1].what != b.row.Pacing {
		b.pacings = append(b.pacings, timedValue[domain.Pacing]{now, b.row.Pacing})
	}
}

// valuesSince returns all values that were valid at some time after since.
func valuesSince[T any](all []timedValue[T], since time.Time) []T {
	var out []T
	for i, w := range all {
		if i+1 == len(all) || !all[i+1].from.Before(since) {
			out = append(out, w.what)
		}
	}
	return out
}

func (m *model) addFault(format string, args ...any) {
	if len(m.broken) < 8 {
		m.broken = append(m.broken, fmt.Sprintf(format, args...))
	}
}

// checkCall checks that the rules of the campaign allowed an INVITE that reached the remote side.
func (m *model) checkCall(r *simulatedCall) {
	b := m.byID[r.campaign]
	who := &b.contacts[r.ordinal]
	at, name := r.at, fmt.Sprintf("%s contact %d attempt %d", r.campaign[len(r.campaign)-3:], r.ordinal, r.number)
	a, open := b.open[r.attempt]
	switch {
	case !open:
		m.addFault("%s: rung without an attempt that is durable and open", name)
	case a.CallID != r.call:
		m.addFault("%s: rung by another call than the one that is durable", name)
	case r.number != who.attempts || r.phone != who.Phone || r.space != b.tenant.id:
		m.addFault("%s: attempt %d of %s is open, rung was %d of %s", name, who.attempts, who.Phone, r.number, r.phone)
	}
	for _, before := range m.remoteSide.rings {
		if before.campaign != r.campaign || before.ordinal != r.ordinal {
			continue
		}
		if before.ended.IsZero() && before.boot == r.boot {
			m.addFault("%s: rung while a call to the same contact is live", name)
		}
		if before.attempt == r.attempt && !before.row.uncounted {
			m.addFault("%s: rung twice for one attempt", name)
		}
	}
	if at.Before(who.notBefore) {
		m.addFault("%s: rung %v before its retry is due", name, who.notBefore.Sub(at))
	}
	if b.row.Status != domain.CampaignRunning && b.statuses[len(b.statuses)-1].from.Before(at) {
		m.addFault("%s: rung while the campaign is %s", name, b.row.Status)
	}
	if why := forbiddenAt(b.row, who.Contact, at); why != "" {
		m.addFault("%s: rung at %s: %s", name, at.Format(time.TimeOnly), why)
	}
	if since, listed := b.tenant.forbidden[r.phone]; listed && at.Sub(since) > time.Second {
		m.addFault("%s: rung %v after the number was listed", name, at.Sub(since))
	}
	m.checkLimits(b, r, name)
}

// checkLimits checks that a new call keeps the pacing and concurrency limits. The call is not in the list of calls yet.
func (m *model) checkLimits(b *campaignModel, r *simulatedCall, name string) {
	mine := func(o *simulatedCall) bool { return o.campaign == r.campaign }
	ours := func(o *simulatedCall) bool { return o.space == r.space }
	pacing := domain.Pacing{}
	for _, p := range valuesSince(b.pacings, r.at.Add(-time.Minute-graceTime)) {
		pacing.CallsPerMinute = max(pacing.CallsPerMinute, p.CallsPerMinute)
	}
	for _, p := range valuesSince(b.pacings, r.at.Add(-graceTime)) {
		pacing.MaxConcurrent = max(pacing.MaxConcurrent, p.MaxConcurrent)
	}
	if n := 1 + m.remoteSide.callsSince(r.at.Add(-time.Minute), mine); n > pacing.CallsPerMinute {
		m.addFault("%s: the %dth call within a minute at a pace of %d", name, n, pacing.CallsPerMinute)
	}
	gap := time.Minute / time.Duration(pacing.CallsPerMinute)
	for _, o := range slices.Backward(m.remoteSide.rings) {
		if mine(o) {
			if r.at.Sub(o.at) < gap {
				m.addFault("%s: %v after the call before at a pace of %d in a minute", name, r.at.Sub(o.at), pacing.CallsPerMinute)
			}
			break
		}
	}
	if n := 1 + m.remoteSide.liveCalls(mine); n > pacing.MaxConcurrent {
		m.addFault("%s: %d live calls of a campaign that may have %d", name, n, pacing.MaxConcurrent)
	}
	if n := 1 + m.remoteSide.liveCalls(ours); n > b.tenant.lines {
		m.addFault("%s: %d live calls of a workspace that has %d lines", name, n, b.tenant.lines)
	}
	if n := 1 + m.remoteSide.callsSince(r.at.Add(-time.Minute), ours); b.tenant.perMinute > 0 && n > b.tenant.perMinute {
		m.addFault("%s: the %dth call of a workspace within a minute that may have %d", name, n, b.tenant.perMinute)
	}
}

// forbiddenAt returns the calendar rule that forbids a call at a time, or "". It uses the simplest possible computation, to
// be an independent check.
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

// checkReply checks that the reply to a request fits a status that the campaign had since the request.
func (m *model) checkReply(b *campaignModel, k stepKind, since time.Time, got domain.CampaignStatus, err error) {
	seen := valuesSince(b.statuses, since)
	if err != nil {
		m.checkRefusal(b, k, seen, err)
		return
	}
	want := map[stepKind][]domain.CampaignStatus{
		begin: {domain.CampaignRunning, domain.CampaignScheduled}, resume: {domain.CampaignRunning, domain.CampaignScheduled},
		pause: {domain.CampaignPaused}, cancel: {domain.CampaignCancelled},
	}[k]
	if want != nil && !slices.Contains(want, got) {
		m.addFault("%v was answered with %s", k, got)
	}
	if !slices.Contains(seen, got) {
		m.addFault("%v was answered with %s, which the campaign was not since it was asked: %v", k, got, seen)
	}
}

func (m *model) checkRefusal(b *campaignModel, k stepKind, seen []domain.CampaignStatus, err error) {
	switch domain.CodeOf(err) { //nolint:exhaustive // other codes are violations
	case domain.CodeInvalidState:
		allowed := map[stepKind]string{
			begin: "draft scheduled running", resume: "paused scheduled running", pause: "scheduled running paused",
			cancel: "draft scheduled running paused cancelled",
		}[k]
		if !slices.ContainsFunc(seen, func(s domain.CampaignStatus) bool { return !strings.Contains(allowed, string(s)) }) {
			m.addFault("%v was refused while the campaign was %v", k, seen)
		}
	case domain.CodeNoContacts:
		if len(b.contacts) > 0 {
			m.addFault("%v: no contacts, though there are %d", k, len(b.contacts))
		}
	case domain.CodeUnavailable, "": // a fault, or a process that was killed
	default:
		m.addFault("%v was refused: %v", k, err)
	}
}

// checkEnd checks the final state of all contacts and counters after all campaigns have ended.
func (m *model) checkEnd() {
	for _, b := range m.byID {
		left := 0
		for _, who := range b.contacts {
			if !who.state.Final() {
				left++
			}
		}
		switch {
		case !b.row.Status.Final():
			m.addFault("%s is %s at the end: %d forgotten", b.row.ID, b.row.Status, left)
		case b.row.CompletionReason == "exhausted" && left > 0:
			m.addFault("%s is exhausted, and %d contacts are not final", b.row.ID, left)
		}
		if len(b.open) > 0 {
			m.addFault("%s is over, and %d attempts are open", b.row.ID, len(b.open))
		}
	}
	for _, t := range m.tenants {
		if len(t.ledger) != t.billed {
			m.addFault("%s: %d rows in the ledger, a recount finds %d", t.id, len(t.ledger), t.billed)
		}
	}
}

// checkCounters compares the stored counters of a campaign with a recount of its contacts.
func (m *model) checkCounters(b *campaignModel, p *domain.Progress) {
	states := make(map[domain.ContactState]int)
	attempted := 0
	for _, who := range b.contacts {
		states[who.state]++
		if who.attempts > 0 {
			attempted++
		}
	}
	check := func(what string, got, want int) {
		if got != want {
			m.addFault("%s: %s: %d in the counters, a recount finds %d", b.row.ID, what, got, want)
		}
	}
	check("total", p.Total, len(b.contacts))
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

// change holds the records and events of one commit by their type.
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
	reported map[string]event.CampaignCallData // campaign.call.completed, by call ID
	begun    map[string]int                    // call.started and call.ended, by call ID
	over     map[string]int
}

func parseChange(c commit.Change) change {
	x := change{
		opened: make(map[int]*domain.Attempt), closed: make(map[string]bool), calls: make(map[string]*domain.Call),
		results: make(map[int]*domain.ContactResult), reported: make(map[string]event.CampaignCallData),
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
			x.reported[d.CallID] = d
		}
	}
	return x
}
