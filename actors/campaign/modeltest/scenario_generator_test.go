package modeltest_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/callboard/callboard/domain"
)

// scenario is the complete random input of a run: contacts, campaign rules, requests and faults.
type scenario struct {
	seed   uint64
	start  time.Duration // time of day at which the first process starts
	slow   time.Duration // longest duration of a commit
	spaces []tenantPlan
	steps  []step
}

// tenantPlan describes one workspace of a scenario.
type tenantPlan struct {
	id               string
	lines, perMinute int
	campaigns        []campaignPlan
}

type campaignPlan struct {
	row    domain.Campaign
	people []domain.Contact
}

// stepKind is the kind of a step: a request, a change or a fault.
type stepKind uint8

const (
	begin stepKind = iota
	pause
	resume
	cancel
	look
	patchPacing
	patchRetry
	patchEnd
	add
	forbid             // a number is added to a do-not-call list
	crash              // kill -9 now
	crashAt            // kill -9 before or after one of the next commits
	clockBack          // kill -9, and afterwards the clock is an hour back
	lose               // one of the next commits fails and writes nothing
	loseReply          // one of the next commits is durable but reported as failed
	refuse             // one of the next commits is reported as a conflict
	outage             // the store is unavailable
	delay              // commits are slow
	panicAtMessage     // an actor panics at a message
	noTrunk            // the trunks grant no slots
	requestTwice       // two requests at the same time
	kinds          int = iota
)

func (k stepKind) String() string {
	return [...]string{
		"begin", "pause", "resume", "cancel", "look", "patch pacing", "patch retry", "patch end", "add", "forbid", "crash", "crash at",
		"clock back", "lose", "unhear", "refuse", "outage", "delay", "trap", "no trunk", "twice",
	}[k]
}

// step is one request, change or fault of a scenario. It happens at a given time after the start.
type step struct {
	at       time.Duration
	kind     stepKind
	space    int
	campaign int
	n, m     int
	lasts    time.Duration
}

func (s step) String() string {
	return fmt.Sprintf("%v %v space=%d campaign=%d n=%d m=%d lasts=%v", s.at, s.kind, s.space, s.campaign, s.n, s.m, s.lasts)
}

// panicMessages returns the message types at which a scenario may make an actor panic.
func panicMessages() []string {
	return []string{
		"campaign.Start", "lines.Permit", "trunk.Slot", "campaign.batchCommitted", "campaign.contactsRead", "campaign.snapshotLoaded", "campaign.scriptRead",
		"campaign.sendDue", "campaign.wakeUpDue", "call.Ended", "campaign.RowChanged", "lines.RequestPermits", "lines.BindPermit", "lines.wakeUp", "lines.ReturnPermit",
	}
}

func drawScenario(seed uint64) scenario {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	s := scenario{
		seed: seed, start: time.Duration(r.IntN(24*60)) * time.Minute,
		slow: []time.Duration{0, 3 * time.Millisecond, 30 * time.Millisecond, 400 * time.Millisecond}[r.IntN(4)],
	}
	night := r.IntN(80) == 0
	if night { // no calls are allowed on the next day
		s.start = 24*time.Hour - time.Duration(1+r.IntN(5))*time.Minute
	}
	spaces := 1
	if r.IntN(5) == 0 {
		spaces = 2
	}
	for i := range spaces {
		sp := tenantPlan{id: fmt.Sprintf("ws_01J0000000000000000000000%d", i), lines: 1 + r.IntN(12)}
		if r.IntN(2) == 0 {
			sp.perMinute = []int{12, 40, 120}[r.IntN(3)]
		}
		for j := range 1 + r.IntN(3)*r.IntN(2) {
			sp.campaigns = append(sp.campaigns, drawCampaign(r, &s, sp.id, i, j, night))
		}
		s.spaces = append(s.spaces, sp)
	}
	for i, sp := range s.spaces {
		for j := range sp.campaigns {
			s.steps = append(s.steps, step{at: time.Duration(r.IntN(3000)) * time.Millisecond, kind: begin, space: i, campaign: j})
		}
	}
	for range r.IntN(14) {
		s.steps = append(s.steps, drawStep(r, &s))
	}
	return s
}

func drawStep(r *rand.Rand, s *scenario) step {
	span := []int{20, 120, 600}[r.IntN(3)]
	st := step{
		at: time.Duration(1+r.IntN(span*1000)) * time.Millisecond, kind: stepKind(r.IntN(kinds)), space: r.IntN(len(s.spaces)),
		n: r.IntN(1 << 16), m: r.IntN(1 << 16), lasts: time.Duration(1+r.IntN(40)) * time.Second,
	}
	st.campaign = r.IntN(len(s.spaces[st.space].campaigns))
	if st.kind == cancel && r.IntN(3) > 0 {
		st.kind = crashAt
	}
	return st
}

func drawCampaign(r *rand.Rand, s *scenario, ws string, i, j int, night bool) campaignPlan {
	c := domain.Campaign{
		Meta: domain.Meta{ID: fmt.Sprintf("campaign_01J00000000000000000000%d%d0", i, j), Object: "campaign", WorkspaceID: ws, Environment: domain.Live},
		Name: "Reminder", Status: domain.CampaignDraft, AgentID: "agent_01J00000000000000000000000", AutoComplete: true,
		Pacing:         domain.Pacing{CallsPerMinute: []int{7, 30, 60, 150, 600}[r.IntN(5)], MaxConcurrent: 1 + r.IntN(9)},
		CallerID:       domain.CallerID{Number: "+12025550100"},
		DefaultCountry: "US",
	}
	c.Schedule.Timezone = "UTC"
	if r.IntN(10) < 7 {
		c.Retry = drawRetry(r)
	}
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	from := midnight.Add(s.start)
	if r.IntN(8) == 0 {
		at := from.Add(time.Duration(r.IntN(200)) * time.Second)
		c.Schedule.Start = &at
	}
	if r.IntN(8) == 0 {
		at := from.Add(time.Duration(60+r.IntN(900)) * time.Second)
		if c.Schedule.Start == nil || at.After(*c.Schedule.Start) {
			c.Schedule.End = &at
		}
	}
	local := false
	switch {
	case night:
		c.Schedule.ExcludedDates = []string{"2000-01-02"}
	case r.IntN(2) == 0: // closed for some minutes across midnight
		local = r.IntN(3) == 0
		closes := from.Add(time.Duration(1+r.IntN(6)) * time.Minute).Truncate(time.Minute)
		opens := closes.Add(time.Duration(1+r.IntN(15)) * time.Minute)
		c.Compliance.CallingHours = domain.CallingHours{Start: opens.Format("15:04"), End: closes.Format("15:04"), Timezone: "UTC"}
		if local {
			c.Compliance.CallingHours.Timezone = "local"
		}
	}
	p := campaignPlan{row: c}
	for k := range 1 + r.IntN(30) {
		p.people = append(p.people, drawContact(r, j, k, local, from))
	}
	return p
}

func drawRetry(r *rand.Rand) domain.Retry {
	retry := domain.Retry{Enabled: true, MaxAttempts: 1 + r.IntN(4), IntervalHours: []float64{0.003, 0.02, 0.06}[r.IntN(3)]}
	for _, word := range []string{"no_answer", "busy", "voicemail", "failed", "rejected", "interrupted"} {
		if r.IntN(3) > 0 {
			retry.RetryOn = append(retry.RetryOn, word)
		}
	}
	return retry
}

// drawContact draws the contact k of a campaign. If local is set, the contact gets a random time zone. A few contacts get an
// invalid number.
func drawContact(r *rand.Rand, campaign, k int, local bool, _ time.Time) domain.Contact {
	who := domain.Contact{Phone: fmt.Sprintf("+1202555%d%03d", campaign+1, k)}
	if local {
		who.Timezone = []string{"UTC", "Etc/UTC", "Africa/Abidjan", "Europe/London", "Atlantic/Reykjavik", "Europe/Paris", "Asia/Kolkata"}[r.IntN(7)]
	}
	if r.IntN(60) == 0 {
		who.Phone = "+1" // an invalid number
	}
	return who
}
